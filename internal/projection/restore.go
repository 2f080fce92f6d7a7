package projection

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"time"

	"company/internal/company"
	"company/internal/folder"
	"company/internal/runfiles"
)

// Record is what the ledger names, which outlasts kills and power cuts.
type Record interface {
	// GetBlob is a value of at most limit bytes; ENotFound: there is none.
	GetBlob(ctx context.Context, hash company.Hash, limit int64) ([]byte, error)
	// ReadTask calls fn for the events of a task from a sequence number on.
	ReadTask(ctx context.Context, task company.TaskID, from uint64, fn func(company.Event) error) error
}

const (
	// awaitFor bounds how long others wait for files of runs: a disk may stall.
	awaitFor = 5 * time.Second
	// cutWithin is how long before the last event of an earlier process a run may have ended
	// whose files a power cut has cut: the kernel writes them within a minute.
	cutWithin = time.Hour
	// maxRunFile bounds a file of a run that is made again, in bytes.
	maxRunFile = 256 << 20
)

// awaitRunFiles waits, within a bound, for the files that runs have put. It does its work when
// ctx is over. A file that is not written then is made again from the record at the next start.
func (p *Projector) awaitRunFiles(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), awaitFor)
	defer cancel()
	if err := p.files.Await(ctx); err != nil {
		p.log.WarnContext(ctx, "files of runs are not written yet", "err", err)
	}
}

// HasRunFile says whether a file of a run is there. One that is being written is awaited,
// and one that a process was killed before writing is made again.
func (p *Projector) HasRunFile(ctx context.Context, id company.RunID, name string) bool {
	file := string(id) + "/" + name
	if p.hasRunFile(file) {
		return true
	}
	if name != runfiles.ResultFile && name != runfiles.TranscriptFile || !p.IsConnected() {
		return false
	}
	s := p.decider.View()
	t := s.Tasks[id.Task()]
	if t == nil || t.Runs[id] == nil || !t.Runs[id].Ended || wasCleaned(s, t) {
		return false
	}
	if p.awaitRunFiles(ctx); !p.hasRunFile(file) && p.restoreRun(ctx, t.Runs[id], false) {
		p.restoreVerdicts(ctx, t, []*company.Run{t.Runs[id]})
		p.awaitRunFiles(ctx)
	}
	return p.hasRunFile(file)
}

// restoreRunFiles makes those files of ended runs again which an earlier process has left
// behind: a kill takes those that were to be written, and a power cut empties or cuts those
// that had not reached the disk. Tasks stay in the state for longer than that, so those that are
// archived have their files. It does its work once.
func (p *Projector) restoreRunFiles(ctx context.Context) {
	s := p.begun
	p.begun = nil
	if s == nil {
		return
	}
	for _, t := range s.Tasks {
		if wasCleaned(s, t) {
			continue
		}
		var doubtful []*company.Run
		for _, r := range t.Runs {
			if ctx.Err() != nil {
				return
			}
			recent := s.Time.Sub(r.EndedAt) < cutWithin
			// A verdict may come long after its run: the task bears the time of its last event.
			if p.restoreRun(ctx, r, recent) || r.Ended && s.Time.Sub(t.Updated) < cutWithin {
				doubtful = append(doubtful, r)
			}
		}
		p.restoreVerdicts(ctx, t, doubtful)
	}
}

// wasCleaned says that a cleanup has removed the files of a task's runs: they stay away.
func wasCleaned(s *company.State, t *company.Task) bool {
	return t.Status.Ended() && t.Ended.Before(s.Office.Cleaned)
}

// markPending has the files of a task written with what the state knows of it.
func (p *Projector) markPending(t *company.Task) {
	p.mu.Lock()
	if p.pending[t.ID] == nil { // the pending state is newer
		p.pending[t.ID] = t
	}
	p.mu.Unlock()
	p.wakeUp()
}

// restoreRun puts the files of an ended run again which are missing or empty, or, where the
// run is recent, cut. It says whether it has put any.
func (p *Projector) restoreRun(ctx context.Context, r *company.Run, recent bool) (put bool) {
	if !r.Ended || r.Result == "" {
		return false
	}
	result, transcript := string(r.ID)+"/"+runfiles.ResultFile, string(r.ID)+"/"+runfiles.TranscriptFile
	if !recent && !p.isAbsent(result) && !p.isAbsent(transcript) {
		return false
	}
	p.restoring.Lock()
	defer p.restoring.Unlock()
	p.awaitRunFiles(ctx) // of a run that is being made again elsewhere
	text, err := p.record.GetBlob(ctx, r.Result, maxRunFile)
	var res runfiles.ExecutionResult
	if err == nil {
		err = json.Unmarshal(text, &res)
	}
	if err == nil && (p.isAbsent(result) || recent && !p.isResultWhole(r.ID)) {
		p.putAgain(r.ID, runfiles.ResultFile, text)
		put = true
	}
	if err == nil && res.Transcript != "" && (p.isAbsent(transcript) || recent && !p.isFileWhole(transcript, res.Transcript)) {
		if text, err = p.record.GetBlob(ctx, res.Transcript, maxRunFile); err == nil {
			p.putAgain(r.ID, runfiles.TranscriptFile, text)
			put = true
		}
	}
	if err != nil && ctx.Err() == nil {
		p.log.WarnContext(ctx, "files of a run are not made again", "run_id", r.ID, "err", err)
	}
	if put {
		p.awaitRunFiles(ctx)
	}
	return put
}

// isAbsent says that a file is not there, or that nothing is in it: no file of a run is
// empty that was written to its end.
func (p *Projector) isAbsent(name string) bool {
	info, err := p.office.RunsFolder.Lstat(name)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// isResultWhole says whether the result of a run is there to its end. It has other bytes
// than the blob once its verdict is in it. What cannot be read, as a folder in its place, has
// its reason in the ledger.
func (p *Projector) isResultWhole(id company.RunID) bool {
	text, err := p.office.RunsFolder.ReadFile(string(id)+"/"+runfiles.ResultFile, maxRunFile)
	var res runfiles.ExecutionResult
	return err != nil || json.Unmarshal(text, &res) == nil && res.RunID == id
}

// isFileWhole says whether a file has the bytes of a hash, or cannot be read.
func (p *Projector) isFileWhole(name string, hash company.Hash) bool {
	f, err := p.office.RunsFolder.Open(name)
	if err != nil {
		return true
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return err != nil || hex.EncodeToString(sum.Sum(nil)) == string(hash)
}

// putAgain has a file of a run written, and removes what a killed process had begun to
// write of it. The caller holds restoring, so that no other process or goroutine is at it.
func (p *Projector) putAgain(id company.RunID, name string, text []byte) {
	entries, err := p.office.RunsFolder.List(string(id))
	if err != nil {
		entries = nil // the run has no folder yet, or the writer reports its error
	}
	for _, e := range entries {
		if !folder.IsUnfinished(e.Name(), name) {
			continue
		}
		if err := p.office.RunsFolder.Remove(string(id) + "/" + e.Name()); err != nil {
			p.log.Warn("an unfinished file of a run is not removed", "run_id", id, "file", e.Name(), "err", err)
		}
	}
	p.files.Put(id, name, text)
}
