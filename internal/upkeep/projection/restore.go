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

	"company/internal/agentrun/runfiles"
	"company/internal/company"
	"company/internal/lib/safedir"
)

// Record reads blobs and events of the ledger, which survives kills and power cuts.
type Record interface {
	// GetBlob returns a blob of at most limit bytes. The error is ENotFound if there is no such blob.
	GetBlob(ctx context.Context, hash company.Hash, limit int64) ([]byte, error)
	// ReadTask calls fn for the events of a task, starting at a sequence number.
	ReadTask(ctx context.Context, task company.TaskID, from uint64, fn func(company.Event) error) error
}

const (
	// awaitFor limits how long others wait for files of runs, because a disk may stall.
	awaitFor = 5 * time.Second
	// cutWithin limits which runs are checked for files that a power cut truncated: those that ended at most this long
	// before the last event of the earlier process. The kernel writes files within a minute.
	cutWithin = time.Hour
	// maxRunFile limits the size of a restored file of a run, in bytes.
	maxRunFile = 256 << 20
)

// awaitRunFiles waits for the queued files of runs, at most awaitFor. It also waits if ctx is done. A file that is not
// written by then is restored from the record at the next start.
func (p *Projector) awaitRunFiles(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), awaitFor)
	defer cancel()
	if err := p.files.Await(ctx); err != nil {
		p.log.WarnContext(ctx, "files of runs are not written yet", "err", err)
	}
}

// HasRunFile reports whether a file of a run exists. It waits for a file that is being written, and restores a file
// that was lost when a process was killed.
func (p *Projector) HasRunFile(ctx context.Context, id company.RunID, name string) bool {
	file := string(id) + "/" + name
	if p.hasRunFile(file) {
		return true
	}
	if name != runfiles.ResultFile && name != runfiles.TranscriptFile || !p.IsConnected() {
		return false
	}
	state := p.decider.View()
	task := state.Tasks[id.Task()]
	if task == nil || task.Runs[id] == nil || !task.Runs[id].Ended || wasCleaned(state, task) {
		return false
	}
	if p.awaitRunFiles(ctx); !p.hasRunFile(file) && p.restoreRun(ctx, task.Runs[id], false) {
		p.restoreVerdicts(ctx, task, []*company.Run{task.Runs[id]})
		p.awaitRunFiles(ctx)
	}
	return p.hasRunFile(file)
}

// restoreRunFiles restores the files of ended runs that an earlier process lost. A kill loses files that were not
// written yet. A power cut empties or truncates files that had not reached the disk. Archived tasks need no check,
// because tasks stay in the state for longer than that. Only the first call does any work.
func (p *Projector) restoreRunFiles(ctx context.Context) {
	state := p.begun
	p.begun = nil
	if state == nil {
		return
	}
	for _, task := range state.Tasks {
		if wasCleaned(state, task) {
			continue
		}
		var doubtful []*company.Run
		for _, run := range task.Runs {
			if ctx.Err() != nil {
				return
			}
			recent := state.Time.Sub(run.EndedAt) < cutWithin
			// A verdict may come long after its run, so the time of the task's last event counts.
			if p.restoreRun(ctx, run, recent) || run.Ended && state.Time.Sub(task.Updated) < cutWithin {
				doubtful = append(doubtful, run)
			}
		}
		p.restoreVerdicts(ctx, task, doubtful)
	}
}

// wasCleaned reports whether a cleanup removed the files of a task's runs. They are not restored.
func wasCleaned(s *company.State, t *company.Task) bool {
	return t.Status.Ended() && t.Ended.Before(s.Office.Cleaned)
}

// markPending queues the files of a task to be written with its current state.
func (p *Projector) markPending(task *company.Task) {
	p.mu.Lock()
	if p.pending[task.ID] == nil { // the pending state is newer
		p.pending[task.ID] = task
	}
	p.mu.Unlock()
	p.wakeUp()
}

// restoreRun restores the files of an ended run that are missing or empty. If the run is recent it also restores
// truncated ones. It reports whether it wrote any.
func (p *Projector) restoreRun(ctx context.Context, run *company.Run, recent bool) (put bool) {
	if !run.Ended || run.Result == "" {
		return false
	}
	result, transcript := string(run.ID)+"/"+runfiles.ResultFile, string(run.ID)+"/"+runfiles.TranscriptFile
	if !recent && !p.isAbsent(result) && !p.isAbsent(transcript) {
		return false
	}
	p.restoring.Lock()
	defer p.restoring.Unlock()
	p.awaitRunFiles(ctx) // it may be restoring the same run elsewhere
	text, err := p.record.GetBlob(ctx, run.Result, maxRunFile)
	var res runfiles.ExecutionResult
	if err == nil {
		err = json.Unmarshal(text, &res)
	}
	if err == nil && (p.isAbsent(result) || recent && !p.isResultWhole(run.ID)) {
		p.putAgain(run.ID, runfiles.ResultFile, text)
		put = true
	}
	if err == nil && res.Transcript != "" &&
		(p.isAbsent(transcript) || recent && !p.isFileWhole(transcript, res.Transcript)) {
		if text, err = p.record.GetBlob(ctx, res.Transcript, maxRunFile); err == nil {
			p.putAgain(run.ID, runfiles.TranscriptFile, text)
			put = true
		}
	}
	if err != nil && ctx.Err() == nil {
		p.log.WarnContext(ctx, "files of a run are not made again", "run_id", run.ID, "err", err)
	}
	if put {
		p.awaitRunFiles(ctx)
	}
	return put
}

// isAbsent reports whether a file is missing or empty. A complete file of a run is never empty.
func (p *Projector) isAbsent(name string) bool {
	info, err := p.office.RunsFolder.Lstat(name)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// isResultWhole reports whether the result of a run is complete. It cannot compare hashes, because the bytes differ
// from the blob's once the verdict is added. A result that cannot be read counts as complete, for example when a
// folder is in its place.
func (p *Projector) isResultWhole(id company.RunID) bool {
	text, err := p.office.RunsFolder.ReadFile(string(id)+"/"+runfiles.ResultFile, maxRunFile)
	var res runfiles.ExecutionResult
	return err != nil || json.Unmarshal(text, &res) == nil && res.RunID == id
}

// isFileWhole reports whether a file has the given hash. A file that cannot be read counts as complete.
func (p *Projector) isFileWhole(name string, hash company.Hash) bool {
	file, err := p.office.RunsFolder.Open(name)
	if err != nil {
		return true
	}
	defer file.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return err != nil || hex.EncodeToString(sum.Sum(nil)) == string(hash)
}

// putAgain queues a file of a run to be written, and removes the partial files that a killed process left. The caller
// holds restoring, so that no one else writes the file.
func (p *Projector) putAgain(id company.RunID, name string, text []byte) {
	entries, err := p.office.RunsFolder.List(string(id))
	if err != nil {
		entries = nil // the run has no folder yet, or the writer reports its error
	}
	for _, entry := range entries {
		if !safedir.IsUnfinished(entry.Name(), name) {
			continue
		}
		if err := p.office.RunsFolder.Remove(string(id) + "/" + entry.Name()); err != nil {
			p.log.Warn("an unfinished file of a run is not removed", "run_id", id, "file", entry.Name(), "err", err)
		}
	}
	p.files.Put(id, name, text)
}
