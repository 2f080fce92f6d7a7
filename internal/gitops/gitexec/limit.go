package gitexec

import (
	"errors"
	"fmt"
	"os/exec"

	"golang.org/x/sys/unix"

	"company/internal/lib/blocklist"
)

// Start starts a process that Process has built. Go cannot set limits between fork and exec, and a shell that sets
// them would cost a process. So a Limited process gets its limits right after its start, before its input and before
// it does any work that they bound. Its children inherit the limits, so a Limited git must not start a process before
// it has read its input. If limits cannot be set, the process is killed and Start returns an error.
//
// It starts no command of the blocklist: the company has no use for one.
func (c Command) Start(cmd *exec.Cmd) error {
	if blocked, ok := blocklist.FindCommand("git", c.Args); ok {
		return fmt.Errorf("%s: %s", blocklist.DestructiveCommand, blocked.Command)
	}
	if err := startShielded(cmd); err != nil || !c.Limited {
		return err
	}
	if err := limitProcess(cmd.Process.Pid); err != nil && !errors.Is(err, unix.ESRCH) { // ESRCH: it has ended
		return errors.Join(fmt.Errorf("limit git: %w", err), cmd.Cancel(), cmd.Wait())
	}
	return nil
}
