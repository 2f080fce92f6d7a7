package toolserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// Starting bash takes longer than most commands run. So one is started in advance, while the model generates its
// reply. It reads one command from a pipe, runs it and exits. As with any other shell, each command gets a fresh one.

// waitForCommand is the script of a spare shell. The command is the text up to the first NUL on descriptor 3. If the
// pipe ends without a NUL, the shell exits.
const waitForCommand = `IFS= read -r -d '' -u 3 __company_command || exit 0; exec 3<&-; SECONDS=0; eval "$__company_command"`

// maxSpareCommand is the maximum length of a command for a spare shell in bytes. It is low because bash reads a pipe
// byte by byte.
const maxSpareCommand = 4 << 10

// place is the folder and the environment of a command.
type place struct {
	dir string
	env []string
}

// withoutDates returns the place without the variables for commit dates, which belong to a single call.
func (p place) withoutDates() place {
	p.env = slices.DeleteFunc(slices.Clone(p.env), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_AUTHOR_DATE=") || strings.HasPrefix(kv, "GIT_COMMITTER_DATE=")
	})
	return p
}

// spareShell is a started bash that waits for a command.
type spareShell struct {
	place
	program        string
	inode          os.FileInfo // of its working directory
	cmd            *exec.Cmd
	marker         string
	command        *os.File // takes the command
	stdout, stderr *capture
	exited         chan struct{} // closed when it has exited
	err            error         // exit error; set before exited is closed
}

// spareShells keeps one spare shell for the place of the last command.
type spareShells struct {
	children *children

	mu     sync.Mutex
	want   place // the zero value means that no shell is wanted
	ready  *spareShell
	closed bool
	jobs   sync.WaitGroup
}

// wantAt sets the place where the next command will probably run.
func (r *spareShells) wantAt(p place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.want = p.withoutDates()
	if r.ready != nil && !slices.Equal(r.ready.env, r.want.env) {
		r.dropReady()
	}
}

// takeShell returns the spare shell for a command, or nil if it does not fit.
func (r *spareShells) takeShell(at place, script string) *spareShell {
	if len(script) > maxSpareCommand || strings.ContainsAny(script, "\x01\x7f") {
		// bash's read gives these bytes a special meaning
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	sh := r.ready
	switch {
	case sh == nil || sh.dir != at.dir:
		return nil
	case !sh.fitsPlace(at):
		if !sh.fitsPlace(at.withoutDates()) {
			r.dropReady() // it does not fit later commands either
		}
		return nil
	}
	r.ready = nil
	return sh
}

// fitsPlace reports whether the shell is equivalent to one that would be started now at a place.
func (sh *spareShell) fitsPlace(at place) bool {
	if !slices.Equal(sh.env, at.env) {
		return false
	}
	inode, err := os.Stat(at.dir)
	if err != nil || !os.SameFile(inode, sh.inode) {
		return false
	}
	program, err := findProgram("bash", at.env)
	return err == nil && program == sh.program && isRunnable(sh.cmd.Process.Pid)
}

// giveCommand sends the command to the shell. An error means that the shell has already exited.
func (sh *spareShell) giveCommand(script string) error {
	_, err := sh.command.WriteString(script + "\x00")
	return errors.Join(err, sh.command.Close())
}

// isMissing reports whether a spare shell should be started.
func (r *spareShells) isMissing() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.closed && r.want.dir != "" && r.ready == nil
}

// startNext starts the next spare shell in the background. If that fails there is no spare shell, and the next command
// starts its own.
func (r *spareShells) startNext() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.jobs.Go(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.closed || r.ready != nil {
			return
		}
		var err error
		if r.ready, err = r.startShell(r.want); err != nil {
			r.want = place{} // no spare shell until another command has run
		}
	})
}

// startShell starts a spare shell.
func (r *spareShells) startShell(at place) (*spareShell, error) {
	if lookupVar(at.env, "BASH_ENV") != "" {
		return nil, errors.New("bash reads a file at its start, which a command may have changed")
	}
	sh := &spareShell{
		place: at, marker: randomName(), stdout: newCapture(), stderr: newCapture(), exited: make(chan struct{}),
	}
	var err error
	if sh.program, err = findProgram("bash", at.env); err != nil {
		return nil, err
	}
	if sh.inode, err = os.Stat(at.dir); err != nil {
		return nil, err
	}
	commandR, commandW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make the pipe of a command: %w", err)
	}
	defer commandR.Close()
	sh.command = commandW
	sh.cmd = shellCommand(sh.program, []string{"bash", "--noprofile", "--norc", "-c", waitForCommand}, at, sh.marker,
		sh.stdout, sh.stderr)
	sh.cmd.ExtraFiles = []*os.File{commandR}
	// start would kill other processes to make room, so use startNow.
	if err := r.children.startNow(sh.cmd); err != nil {
		return nil, errors.Join(err, commandW.Close())
	}
	r.jobs.Go(func() {
		sh.err = r.children.wait(sh.cmd)
		close(sh.exited)
	})
	return sh, nil
}

// dropShell ends the spare shell, so that a new one is started.
func (r *spareShells) dropShell() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropReady()
}

// dropReady is like dropShell. The caller holds mu.
func (r *spareShells) dropReady() {
	if r.ready != nil {
		r.ready.endShell()
		r.ready = nil
	}
}

// endShell kills a shell that got no command. Its goroutine reaps it.
func (sh *spareShell) endShell() {
	_ = sh.command.Close()
	select {
	case <-sh.exited: // its pid may have been reused
	default:
		_ = syscall.Kill(-sh.cmd.Process.Pid, syscall.SIGKILL)
	}
}

// shellPID returns the pid of the spare shell, or 0 if there is none. The shell does not count as a process of the
// agent.
func (r *spareShells) shellPID() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ready == nil {
		return 0
	}
	return r.ready.cmd.Process.Pid
}

// close ends the spare shell, prevents new ones and waits for its goroutines.
func (r *spareShells) close() {
	r.mu.Lock()
	r.closed = true
	r.dropReady()
	r.mu.Unlock()
	r.jobs.Wait()
}
