package projection

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"company/internal/company"
)

// The ledger records when a readable file cannot be written, and when it is written again. The writer may run during a
// decision (as the log does), so the error is only queued here, and the projector records it later.

// NoteOfficeFile queues a report that a file of the office was written or failed. A nil err means that it was written.
func (p *Projector) NoteOfficeFile(file string, err error) { p.noteFile("", "", file, err) }

func (p *Projector) noteTaskFile(t company.TaskID, file string, err error) {
	p.noteFile(t, "", file, err)
}

// NoteRunFile does the same for a file of a run.
func (p *Projector) NoteRunFile(run company.RunID, name string, err error) {
	p.noteFile(run.Task(), run, run.FilePath(name), err)
}

// noteWritten reports the outcome of writing a file of a run, and logs a failure.
func (p *Projector) noteWritten(run company.RunID, name string, err error) {
	if err != nil && p.log != nil {
		p.log.Warn("a file of a run is not written", "run_id", run, "file", name, "err", err)
	}
	p.NoteRunFile(run, name, err)
}

// reportTimeout limits how long a report waits for the ledger. Reports are sent during shutdown, too.
const reportTimeout = 10 * time.Second

// maxReports limits the pending reports of success. Ten times as many failures may be pending.
const maxReports = 1000

func (p *Projector) noteFile(task company.TaskID, run company.RunID, file string, err error) {
	p.mu.Lock()
	// Failures take precedence over successes.
	if len(p.reports) < maxReports || err != nil && len(p.reports) < 10*maxReports {
		p.reports = append(p.reports, company.RecordFileWrite{Task: task, Run: run, File: file, Why: whyUnwritten(err),
			Full: isFull(err)})
	}
	p.mu.Unlock()
	if err != nil {
		p.wakeUp()
	}
}

// sendReports records the queued reports. It works even if ctx is done.
func (p *Projector) sendReports(ctx context.Context) {
	p.mu.Lock()
	news := p.reports
	p.reports = nil
	p.mu.Unlock()
	for _, fileWrite := range news {
		if fileWrite.Why == "" && !isKnownUnwritten(p.decider.View(), fileWrite) {
			continue // the normal case: written, and no failure is known
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTimeout)
		_, err := p.decider.Do(ctx, company.Company, fileWrite)
		cancel()
		if err != nil {
			p.log.Error("what became of a file is not in the ledger", "task_id", fileWrite.Task, "run_id", fileWrite.Run, "file",
				fileWrite.File, "why",
				fileWrite.Why, "err", err)
		}
	}
}

// isKnownUnwritten reports whether the state lists the file as not written.
func isKnownUnwritten(state *company.State, fileWrite company.RecordFileWrite) bool {
	list := state.Office.Unwritten
	if t := state.Tasks[fileWrite.Task]; t != nil {
		list = t.Unwritten
	}
	for _, u := range list {
		if u.File == fileWrite.File {
			return true
		}
	}
	return false
}

// isFull reports whether a disk is full or the user's quota is exceeded.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// whyUnwritten returns the reason of a file error without the names of the call and the file.
func whyUnwritten(err error) string {
	var path *fs.PathError
	var link *os.LinkError // of a rename
	var ours *company.Error
	switch {
	case err == nil:
		return ""
	case isFull(err):
		return "no space left on the disk"
	case errors.As(err, &ours) && ours.Why != "":
		return ours.Why
	case errors.As(err, &path):
		return path.Err.Error()
	case errors.As(err, &link):
		return link.Err.Error()
	}
	return err.Error()
}
