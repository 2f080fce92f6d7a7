// Package detach gives a submission to a company that goes on without its terminal: to the
// one that is at work, else to one that it starts in a session of its own. GoOn starts one for
// a task that could go on.
//
// It owns the process that it starts: its arguments are the caller's, its instruction comes
// from a file without a name, its output goes to a log of the office. It promises that the
// caller has the task's id, or the error with which that process ended. It follows nothing.
package detach

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"company/internal/client"
	"company/internal/company"
	"company/internal/entrance"
	"company/internal/folder"
	"company/internal/office"
	"company/internal/retry"
)

// detachTimeout is how long a detached process has to take the task.
const detachTimeout = 60 * time.Second

// detachedProcess is the company that detach started, apart from the terminal.
type detachedProcess struct {
	logs  *folder.Folder
	log   string        // name in logs
	ended chan struct{} // closed when the process has ended
}

// logPath is where its log is; of no process: empty.
func (b *detachedProcess) logPath() string {
	if b == nil {
		return ""
	}
	return b.logs.Join(b.log)
}

// Submission is what a detached company is to take.
type Submission struct {
	Args        []string               // of this program, for a process that submits the same
	Instruction string                 // on its stdin
	Files       []company.AttachedFile // that belong to it: with them stdin is a parcel
	Command     company.Command        // for a company that is at work already
	ID          string                 // of the command, which makes a repeat harmless
	Task        company.TaskID         // that it is about, where there is one already
}

// Taken is a submission that a company has taken.
type Taken struct {
	Task company.TaskID
	Log  string // the file with what the process prints that was started for it; empty: none was
}

// Submit gives the submission to the company that is open, or starts one in a session of
// its own, and returns when the task has its id. Where none took it in time that is EHeld.
func Submit(ctx context.Context, ent *entrance.Entrance, paths office.Paths, s Submission) (Taken, error) {
	var taken Taken
	bg, err := reachCompany(ctx, ent, paths, s, "no company took the task in time", func(ctx context.Context, conn *client.Office) (bool, error) {
		done, err := conn.Do(ctx, s.ID, s.Command)
		if company.CodeOf(err) == company.EHeld {
			return false, nil // it ends, or begins
		}
		taken.Task = cmp.Or(done.Task, s.Task)
		return taken.Task != "", err
	})
	taken.Log = bg.logPath()
	if err == nil && taken.Task == "" {
		err = bg.startError()
	}
	if err != nil {
		return Taken{}, err
	}
	return taken, nil
}

// reachCompany calls take with the company that has the office, until it is done. It starts
// one with s where none is at work, and gives that process. It returns, too, when that process
// has ended. Where take was not done in time that is EHeld, which begins with late.
func reachCompany(ctx context.Context, ent *entrance.Entrance, paths office.Paths, s Submission, late string, take func(context.Context, *client.Office) (done bool, err error)) (bg *detachedProcess, err error) {
	off, err := ent.OpenOffice(ctx, paths)
	if err != nil {
		return nil, err
	}
	defer off.Close()
	limit, cancel := context.WithTimeout(ctx, detachTimeout)
	defer cancel()
	for {
		// A command that reads the office has the lock for a moment, and no socket.
		lock, held, err := office.TryLock(paths)
		if err != nil {
			return bg, err
		}
		if lock != nil {
			if err := lock.Release(); err != nil {
				return bg, err
			}
			if bg == nil {
				if bg, err = startDetached(off, s); err != nil {
					return nil, err
				}
			}
		} else if conn, err := client.Dial(limit, held); err != nil {
			return bg, orLate(ctx, limit, late, bg, err)
		} else if conn != nil {
			done, err := take(limit, conn)
			conn.Close()
			if err != nil || done {
				return bg, orLate(ctx, limit, late, bg, err)
			}
		}
		if bg != nil {
			select {
			case <-bg.ended:
				return bg, nil
			default:
			}
		}
		if err := retry.Sleep(limit, 50*time.Millisecond); err != nil {
			return bg, orLate(ctx, limit, late, bg, err)
		}
	}
}

// orLate is EHeld instead of an error that comes from the end of the time limit.
func orLate(ctx, limit context.Context, late string, bg *detachedProcess, err error) error {
	if err == nil || ctx.Err() != nil || limit.Err() == nil {
		return err
	}
	e := company.E(company.EHeld, late).Fix("company status")
	if bg != nil {
		e = e.Fix("see " + bg.logPath())
	}
	return e
}

// startDetached starts this program again in a session of its own. It reads
// the instruction from a file that has no name any more: an argument may be no
// longer than 128 KiB, and everybody could read it.
func startDetached(off *office.Office, s Submission) (*detachedProcess, error) {
	fail := func(err error) error {
		return company.E(company.EInternal, "the company could not be started again").Wrap(err).Fix("submit it without --detach")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fail(err)
	}
	name := "detached-" + time.Now().UTC().Format("20060102T150405.000") + ".log"
	bg := &detachedProcess{logs: off.LogsFolder, log: name, ended: make(chan struct{})}
	log, err := off.LogsFolder.Append(name)
	if err != nil {
		return nil, fail(err)
	}
	defer log.Close()
	in, inName, err := off.StateFolder.CreateTemp("instruction-")
	if err != nil {
		return nil, fail(err)
	}
	defer in.Close()
	if err := off.StateFolder.Remove(inName); err != nil {
		return nil, fail(err)
	}
	if err := s.writeInstruction(in); err != nil {
		return nil, fail(err)
	}
	if _, err := in.Seek(0, 0); err != nil {
		return nil, fail(err)
	}
	c := exec.Command(self, s.Args...)
	c.Stdin, c.Stdout, c.Stderr = in, log, log
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		return nil, fail(err)
	}
	go func() { // it ends with the child, or with this process
		_ = c.Wait() // how it ended is in its log
		close(bg.ended)
	}()
	return bg, nil
}

// startError is the error of a company that ended before it took the task: its
// own, as its log has it.
func (b *detachedProcess) startError() error {
	e := company.E(company.EInternal, "the detached company ended at once").Fix("see " + b.logPath())
	if printed := b.printedError(); printed != "" {
		return e.Because(printed)
	}
	return e
}

// printedError is the last error that the process printed; empty: none.
func (b *detachedProcess) printedError() string {
	text, err := b.logs.ReadFile(b.log, 0)
	if err != nil {
		return ""
	}
	_, last, ok := strings.Cut(string(text), "error[")
	if !ok {
		return ""
	}
	return strings.TrimSpace("error[" + last)
}
