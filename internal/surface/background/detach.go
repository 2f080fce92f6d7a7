// Package background hands a submission to a company that outlives this terminal. It uses the
// running company, or starts one in a session of its own. GoOn starts a company for an unfinished
// task.
//
// The package owns the process that it starts. The caller chooses the arguments, the instruction
// comes from an unlinked file, and the output goes to a log of the office. The caller gets the
// task's id, or the error with which the process ended. The package does not follow the task.
package background

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"company/internal/api/client"
	"company/internal/company"
	"company/internal/lib/retry"
	"company/internal/lib/safedir"
	"company/internal/office"
	"company/internal/surface/officeaccess"
)

// detachTimeout limits how long a detached process may take to accept the task.
const detachTimeout = 60 * time.Second

// detachedProcess is a company that runs detached from the terminal.
type detachedProcess struct {
	logs  *safedir.Folder
	log   string        // name in logs
	ended chan struct{} // closed when the process has ended
}

// logPath returns the path of the process's log, or "" for a nil process.
func (b *detachedProcess) logPath() string {
	if b == nil {
		return ""
	}
	return b.logs.Join(b.log)
}

// Submission holds the input for a detached company.
type Submission struct {
	Args        []string               // arguments of this program for a process that makes the same submission
	Instruction string                 // written to stdin of the process
	Files       []company.AttachedFile // attached files; with any, stdin holds a parcel
	Command     company.Command        // sent to a company that is running already
	ID          string                 // id of the command; makes repeats harmless
	Task        company.TaskID         // task that the command is about, if it exists already
}

// Taken describes a submission that a company has accepted.
type Taken struct {
	Task company.TaskID
	Log  string // path of the log of the process started for it, empty if no process was started
}

// Submit sends the submission to the running company, or starts one in a session of its own. It
// returns once the task has an id, or EHeld if no company accepted the task in time.
func Submit(ctx context.Context, ent *officeaccess.Entrance, paths office.Paths, submission Submission) (Taken, error) {
	var taken Taken
	bg, err := reachCompany(ctx, ent, paths, submission, "the background process did not take the task in time",
		func(ctx context.Context, conn *client.Office) (bool, error) {
			done, err := conn.Do(ctx, submission.ID, submission.Command)
			if company.CodeOf(err) == company.EHeld {
				return false, nil // the company is starting or ending
			}
			taken.Task = cmp.Or(done.Task, submission.Task)
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

// reachCompany calls take with the company that holds the office until take is done. If no company
// is running, it starts one with submission and returns that process as bg. It also returns when
// that process ends. On timeout it returns EHeld with late as the message.
func reachCompany(
	ctx context.Context, ent *officeaccess.Entrance, paths office.Paths, submission Submission, late string,
	take func(context.Context, *client.Office) (done bool, err error),
) (bg *detachedProcess, err error) {
	off, err := ent.OpenOffice(ctx, paths)
	if err != nil {
		return nil, err
	}
	defer off.Close()
	limit, cancel := context.WithTimeout(ctx, detachTimeout)
	defer cancel()
	for {
		// A command that reads the office holds the lock briefly and has no socket.
		lock, held, err := office.TryLock(paths)
		if err != nil {
			return bg, err
		}
		if lock != nil {
			if err := lock.Release(); err != nil {
				return bg, err
			}
			if bg == nil {
				if bg, err = startDetached(off, submission); err != nil {
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

// orLate replaces an error caused by the time limit with EHeld and the message late.
func orLate(ctx, limit context.Context, late string, bg *detachedProcess, err error) error {
	if err == nil || ctx.Err() != nil || limit.Err() == nil {
		return err
	}
	fault := company.E(company.EHeld, late).Fix("company status")
	if bg != nil {
		fault = fault.Fix("see " + bg.logPath())
	}
	return fault
}

// startDetached starts this program in a session of its own. The process reads the instruction
// from an unlinked file: an argument is limited to 128 KiB, and every user could read it.
func startDetached(off *office.Office, submission Submission) (*detachedProcess, error) {
	fail := func(err error) error {
		return company.E(company.EInternal, "the company could not be restarted").Wrap(err).
			Fix("submit it without --detach")
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
	file, inName, err := off.StateFolder.CreateTemp("instruction-")
	if err != nil {
		return nil, fail(err)
	}
	defer file.Close()
	if err := off.StateFolder.Remove(inName); err != nil {
		return nil, fail(err)
	}
	if err := submission.writeInstruction(file); err != nil {
		return nil, fail(err)
	}
	if _, err := file.Seek(0, 0); err != nil {
		return nil, fail(err)
	}
	cmd := exec.Command(self, submission.Args...)
	cmd.Stdin = file
	cmd.Stdout = log
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fail(err)
	}
	go func() { // ends with the child or with this process
		_ = cmd.Wait() // the log has the exit cause
		close(bg.ended)
	}()
	return bg, nil
}

// startError returns the error for a company that ended before it accepted the task. It includes
// the error in the company's log, if any.
func (b *detachedProcess) startError() error {
	fault := company.E(company.EInternal, "the background process exited immediately").Fix("see " + b.logPath())
	if printed := b.printedError(); printed != "" {
		return fault.Because(printed)
	}
	return fault
}

// printedError returns the last error in the process's log, or "" if there is no error.
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
