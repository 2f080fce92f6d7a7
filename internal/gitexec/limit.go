package gitexec

import (
	"errors"
	"fmt"
	"os/exec"

	"golang.org/x/sys/unix"
)

// Start starts a process that Process has built. Go cannot set limits between fork
// and exec, and a shell that sets them costs a process. So a Limited one gets its
// limits right after its start: before its input, and before it has done anything
// that they bound. What it starts inherits them, so a Limited git must start nothing
// before it has read its input. One that cannot be limited is killed, which is an error.
func (c Command) Start(cmd *exec.Cmd) error {
	if err := startShielded(cmd); err != nil || !c.Limited {
		return err
	}
	if err := limitProcess(cmd.Process.Pid); err != nil && !errors.Is(err, unix.ESRCH) { // ESRCH: it has ended
		return errors.Join(fmt.Errorf("limit git: %w", err), cmd.Cancel(), cmd.Wait())
	}
	return nil
}
