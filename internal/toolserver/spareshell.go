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

// A bash takes longer to start than most commands take to run. So one is started
// ahead, while the model thinks: it waits for its command on a pipe, runs that
// command and ends. It is a fresh shell of one command, like any other.

// waitForCommand is what a spare shell runs. The command is the text up to the
// first NUL on descriptor 3; a pipe that ends without one ends the shell.
const waitForCommand = `IFS= read -r -d '' -u 3 __company_command || exit 0; exec 3<&-; SECONDS=0; eval "$__company_command"`

// maxSpareCommand is the longest command that a spare shell gets, in bytes: bash
// reads a pipe byte by byte.
const maxSpareCommand = 4 << 10

// place is where a command runs.
type place struct {
	dir string
	env []string
}

// withoutDates is the place of the next command: the time of a commit belongs to
// one call.
func (p place) withoutDates() place {
	p.env = slices.DeleteFunc(slices.Clone(p.env), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_AUTHOR_DATE=") || strings.HasPrefix(kv, "GIT_COMMITTER_DATE=")
	})
	return p
}

// spareShell is a started bash that waits for its command.
type spareShell struct {
	place
	program        string
	inode          os.FileInfo // of the folder that it stands in
	cmd            *exec.Cmd
	marker         string
	command        *os.File // takes the command
	stdout, stderr *capture
	exited         chan struct{} // closed when it has ended
	err            error         // of its end; set before exited is closed
}

// spareShells keeps one spare shell for the place of the last command.
type spareShells struct {
	children *children

	mu     sync.Mutex
	want   place // the zero value: none
	ready  *spareShell
	closed bool
	jobs   sync.WaitGroup
}

// wantAt says where the next command will probably run.
func (r *spareShells) wantAt(p place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.want = p.withoutDates()
	if r.ready != nil && !slices.Equal(r.ready.env, r.want.env) {
		r.dropReady()
	}
}

// takeShell gives the spare shell for a command, if there is one that fits.
func (r *spareShells) takeShell(at place, script string) *spareShell {
	if len(script) > maxSpareCommand || strings.ContainsAny(script, "\x01\x7f") { // bytes that bash's read has uses of its own for
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
			r.dropReady() // it fits no command to come either
		}
		return nil
	}
	r.ready = nil
	return sh
}

// fitsPlace reports whether a command at a place would find the same in a shell that
// is started now.
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

// giveCommand hands the command over. An error means that the shell has ended before.
func (sh *spareShell) giveCommand(script string) error {
	_, err := sh.command.WriteString(script + "\x00")
	return errors.Join(err, sh.command.Close())
}

// isMissing reports whether a shell should be started for the next command.
func (r *spareShells) isMissing() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.closed && r.want.dir != "" && r.ready == nil
}

// startNext starts the shell for the next command, beside everything else. What
// fails leaves none: the command starts its own.
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
			r.want = place{} // until a command has run again
		}
	})
}

// startShell starts a spare shell.
func (r *spareShells) startShell(at place) (*spareShell, error) {
	if lookupVar(at.env, "BASH_ENV") != "" {
		return nil, errors.New("bash reads a file at its start, which a command may have changed")
	}
	sh := &spareShell{place: at, marker: randomName(), stdout: &capture{}, stderr: &capture{}, exited: make(chan struct{})}
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
	sh.cmd = shellCommand(sh.program, []string{"bash", "--noprofile", "--norc", "-c", waitForCommand}, at, sh.marker, sh.stdout, sh.stderr)
	sh.cmd.ExtraFiles = []*os.File{commandR}
	// Not by start, which makes room for a process at any price.
	if err := r.children.startNow(sh.cmd); err != nil {
		return nil, errors.Join(err, commandW.Close())
	}
	r.jobs.Go(func() {
		sh.err = r.children.wait(sh.cmd)
		close(sh.exited)
	})
	return sh, nil
}

// dropShell ends the spare shell; the next one is started anew.
func (r *spareShells) dropShell() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropReady()
}

// dropReady is dropShell with the lock held.
func (r *spareShells) dropReady() {
	if r.ready != nil {
		r.ready.endShell()
		r.ready = nil
	}
}

// endShell kills a shell that gets no command. Its goroutine reaps it.
func (sh *spareShell) endShell() {
	_ = sh.command.Close()
	select {
	case <-sh.exited: // its number may be another's by now
	default:
		_ = syscall.Kill(-sh.cmd.Process.Pid, syscall.SIGKILL)
	}
}

// shellPID is the spare shell's process, 0 where there is none. It is no process of
// the agent's.
func (r *spareShells) shellPID() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ready == nil {
		return 0
	}
	return r.ready.cmd.Process.Pid
}

// close ends the spare shell for good, and waits.
func (r *spareShells) close() {
	r.mu.Lock()
	r.closed = true
	r.dropReady()
	r.mu.Unlock()
	r.jobs.Wait()
}
