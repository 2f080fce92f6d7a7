package task

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"company/internal/cli/command"
	"company/internal/client"
	"company/internal/company"
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

// logPath is where its log is.
func (b *detachedProcess) logPath() string { return b.logs.Join(b.log) }

// submitDetached gives the submission to the company that is open, or starts
// one in a session of its own, and returns when the task has its id. text is its
// instruction.
func submitDetached(ctx context.Context, env *command.Environment, paths office.Paths, o submitOptions, cmd company.Command, text string) error {
	off, err := env.OpenOffice(ctx, paths)
	if err != nil {
		return err
	}
	defer off.Close()
	lock, held, err := office.TryLock(paths)
	if err != nil {
		return err
	}
	var bg *detachedProcess
	if lock != nil {
		if err := lock.Release(); err != nil {
			return err
		}
		if bg, err = startDetached(env, off, o, text); err != nil {
			return err
		}
	}
	late := company.E(company.EHeld, "no company took the task in time").Fix("company status")
	if bg != nil {
		late = late.Fix("see " + bg.logPath())
	}
	ctx, cancel := context.WithTimeoutCause(ctx, detachTimeout, late)
	defer cancel()
	for {
		conn, err := client.Dial(ctx, held)
		if err != nil {
			return err
		}
		if conn != nil {
			done, err := conn.Do(ctx, o.commandID, cmd)
			conn.Close()
			if task := cmp.Or(done.Task, company.TaskID(o.plan)); err == nil && task != "" {
				return printDetached(env, task, bg)
			}
			if err != nil && company.CodeOf(err) != company.EHeld {
				return err
			}
		}
		if bg != nil {
			select {
			case <-bg.ended:
				return bg.startError()
			default:
			}
		}
		if err := retry.Sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
		// Only look at the holder: the child takes the lock.
		if l, h, err := office.TryLock(paths); err != nil {
			return err
		} else if l == nil {
			held = h
		} else if err := l.Release(); err != nil {
			return err
		}
	}
}

// startDetached starts this program again in a session of its own. It reads
// the instruction from a file that has no name any more: an argument may be no
// longer than 128 KiB, and everybody could read it.
func startDetached(env *command.Environment, off *office.Office, o submitOptions, text string) (*detachedProcess, error) {
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
	if _, err := in.WriteString(text); err != nil {
		return nil, fail(err)
	}
	if _, err := in.Seek(0, 0); err != nil {
		return nil, fail(err)
	}
	c := exec.Command(self, resubmitArgs(env, o)...)
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

// resubmitArgs are the arguments of the same submission, followed by itself.
func resubmitArgs(env *command.Environment, o submitOptions) []string {
	args := []string{"submit", "--no-input", "--command-id", o.commandID}
	if o.plan == "" {
		args = append(args, "--file", "-")
	}
	add := func(flag, v string) {
		if v != "" {
			args = append(args, flag, v)
		}
	}
	add("--office", env.OfficeDir)
	add("--repo", env.RepoDir)
	add("--project", o.project)
	add("--base", o.base)
	add("--follows", o.follows)
	add("--plan", o.plan)
	add("--priority", o.priority)
	add("--deadline", o.deadline)
	for _, tag := range o.tags {
		add("--tag", tag)
	}
	add("--confirmed-issue", o.confirmed)
	if o.dryRun {
		args = append(args, "--dry-run")
	}
	if env.Yes {
		args = append(args, "--yes")
	}
	for _, kv := range env.ConfigFlags {
		add("--set", kv)
	}
	return args
}

// startError is the error of a company that ended before it took the task: its
// own, as its log has it.
func (b *detachedProcess) startError() error {
	e := company.E(company.EInternal, "the detached company ended at once").Fix("see " + b.logPath())
	text, err := b.logs.ReadFile(b.log, 0)
	if err != nil {
		return e
	}
	_, last, ok := strings.Cut(string(text), "error[")
	if !ok {
		return e
	}
	return e.Because(strings.TrimSpace("error[" + last))
}

func printDetached(env *command.Environment, id company.TaskID, bg *detachedProcess) error {
	if env.Output == "json" {
		v := map[string]any{"schema_version": 1, "task": id}
		if bg != nil {
			v["log"] = bg.logPath()
		}
		return env.PrintJSON(env.Out, v)
	}
	where := ""
	if bg != nil {
		where = "; log: " + bg.logPath()
	}
	_, err := fmt.Fprintf(env.Out, "%s is under way%s\nwatch it: company feed --follow %s\n", id, where, id)
	return err
}
