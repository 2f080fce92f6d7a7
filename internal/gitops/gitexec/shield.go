package gitexec

import (
	"os/exec"
	"runtime"
	"syscall"
)

// SeparateGroup gives a program that is not started yet its own process group. The group is killed when the program's
// context ends. A terminal's interrupt then reaches only us; otherwise the interrupted program would look like a
// failed one.
func SeparateGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// startShielded starts a process that SIGHUP, SIGINT and SIGTERM do not end, nor its children; SIGKILL does. A
// terminal signals our whole group, and a new process belongs to that until it has its own group. A service manager
// signals every process that we have started. A git that ended this way would look like a failed one while we still
// save the work, and its run would be lost.
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
