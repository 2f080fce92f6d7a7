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

// The ledger records when a file for people cannot be written, and when it is
// written again. The writer may be in the middle of a decision (the log is), so
// the error is noted here and the projector records it.

// NoteOfficeFile notes that a file of the office is not written, or is again.
func (p *Projector) NoteOfficeFile(file string, err error) { p.noteFile("", "", file, err) }

func (p *Projector) noteTaskFile(t company.TaskID, file string, err error) {
	p.noteFile(t, "", file, err)
}

// NoteRunFile notes the same of a file of a run.
func (p *Projector) NoteRunFile(run company.RunID, name string, err error) {
	p.noteFile(run.Task(), run, run.FilePath(name), err)
}

// noteWritten notes what became of a file that a run has put.
func (p *Projector) noteWritten(run company.RunID, name string, err error) {
	if err != nil && p.log != nil {
		p.log.Warn("a file of a run is not written", "run_id", run, "file", name, "err", err)
	}
	p.NoteRunFile(run, name, err)
}

// reportTimeout bounds how long a report waits for the ledger. It is made while an
// office goes away, too.
const reportTimeout = 10 * time.Second

// maxReports bounds the reports that wait to be recorded. Ten times as many errors may wait.
const maxReports = 1000

func (p *Projector) noteFile(task company.TaskID, run company.RunID, file string, err error) {
	p.mu.Lock()
	// What went well yields to what did not.
	if len(p.reports) < maxReports || err != nil && len(p.reports) < 10*maxReports {
		p.reports = append(p.reports, company.RecordFileWrite{Task: task, Run: run, File: file, Why: whyUnwritten(err)})
	}
	p.mu.Unlock()
	if err != nil {
		p.wakeUp()
	}
}

// sendReports brings in what has become of files. It does its work when ctx is over.
func (p *Projector) sendReports(ctx context.Context) {
	p.mu.Lock()
	news := p.reports
	p.reports = nil
	p.mu.Unlock()
	for _, n := range news {
		if n.Why == "" && !isKnownUnwritten(p.decider.View(), n) {
			continue // as it should be, like nearly all
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTimeout)
		_, err := p.decider.Do(ctx, company.Company, n)
		cancel()
		if err != nil {
			p.log.Error("what became of a file is not in the ledger", "task_id", n.Task, "run_id", n.Run, "file", n.File, "why", n.Why, "err", err)
		}
	}
}

// isKnownUnwritten says whether a file is known not to be there.
func isKnownUnwritten(s *company.State, n company.RecordFileWrite) bool {
	list := s.Office.Unwritten
	if t := s.Tasks[n.Task]; t != nil {
		list = t.Unwritten
	}
	for _, u := range list {
		if u.File == n.File {
			return true
		}
	}
	return false
}

// whyUnwritten explains an operating system's error for a file, without the
// names of the call.
func whyUnwritten(err error) string {
	var path *fs.PathError
	var link *os.LinkError // of a rename
	var ours *company.Error
	switch {
	case err == nil:
		return ""
	case errors.Is(err, syscall.ENOSPC):
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
