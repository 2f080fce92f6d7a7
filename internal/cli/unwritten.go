package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"company/internal/company"
)

// Files that people read are told of in the ledger when they cannot be written,
// and once more when they are. Whoever writes one may be in the middle of a
// decision (the log is), so it is noted here and brought in by the projector.

func (p *projector) officeFile(file string, err error) { p.file("", "", file, err) }

func (p *projector) taskFile(t company.TaskID, file string, err error) { p.file(t, "", file, err) }

func (p *projector) runFile(run company.RunID, name string, err error) {
	p.file(run.Task(), run, runFile(run, name), err)
}

// runFile names a file of a run as the ledger does.
func runFile(run company.RunID, name string) string { return "runs/" + string(run) + "/" + name }

// mostNews bounds what is noted and not yet brought in.
const mostNews = 1000

func (p *projector) file(task company.TaskID, run company.RunID, file string, err error) {
	p.mu.Lock()
	if len(p.news) < mostNews {
		p.news = append(p.news, company.NoteFile{Task: task, Run: run, File: file, Why: whyUnwritten(err)})
	}
	p.mu.Unlock()
	if err != nil {
		p.poke()
	}
}

// book brings in what has become of files. It does its work when ctx is over.
func (p *projector) book(ctx context.Context) {
	p.mu.Lock()
	news := p.news
	p.news = nil
	p.mu.Unlock()
	for _, n := range news {
		if n.Why == "" && !lacks(p.h.View(), n) {
			continue // as it should be, like nearly all
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bookWithin)
		_, err := p.h.orch.Do(ctx, company.Company, n)
		cancel()
		if err != nil {
			p.h.log.Error("what became of a file is not in the ledger", "file", n.File, "why", n.Why, "err", err)
		}
	}
}

// lacks says whether a file is known not to be there.
func lacks(s *company.State, n company.NoteFile) bool {
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

// whyUnwritten is what an operating system's error means for a file, without the
// names of what was tried.
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
