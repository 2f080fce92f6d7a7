package gitexec

import (
	"os/exec"
	"runtime"
	"syscall"
)

// SeparateGroup makes a program that Start has not begun the head of a process group, which
// is killed when the program's context ends. A terminal then interrupts us alone: a program
// that it ended, too, would look like one that failed.
func SeparateGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// startShielded starts a process that SIGHUP, SIGINT and SIGTERM do not end, nor its
// children; SIGKILL does. A terminal signals our whole group, and a new process belongs to
// it until it has made its own. A service manager signals every process that we have
// started. A git that ended so would look like one that failed, while we still put the work
// away: its run would be lost.
func startShielded(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	restore, err := blockSignals()
	if err != nil {
		return err
	}
	defer restore()
	return cmd.Start()
}
