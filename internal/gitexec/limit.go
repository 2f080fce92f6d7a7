package gitexec

import (
	"errors"
	"fmt"
	"os/exec"

	"golang.org/x/sys/unix"
)

// limits bound a Limited process and all that it starts: no core, 60 s of processor
// time, 4 GiB of address space, files up to 1 GiB.
var limits = []struct {
	resource int
	most     uint64
}{
	{unix.RLIMIT_CORE, 0},
	{unix.RLIMIT_CPU, 60},
	{unix.RLIMIT_AS, 4 << 30},
	{unix.RLIMIT_FSIZE, 1 << 30},
}

// Start starts a process that Process has built. Go cannot set limits between fork
// and exec, and a shell that sets them costs a process. So a Limited one gets its
// limits right after its start: before its input, and before it has done anything
// that they bound. What it starts inherits them, so a Limited git must start nothing
// before it has read its input. One that cannot be limited is killed, which is an error.
func (c Command) Start(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil || !c.Limited {
		return err
	}
	if err := limitProcess(cmd.Process.Pid); err != nil && !errors.Is(err, unix.ESRCH) { // ESRCH: it has ended
		return errors.Join(fmt.Errorf("limit git: %w", err), cmd.Cancel(), cmd.Wait())
	}
	return nil
}

// limitProcess bounds a process that has not been waited for. A bound that is lower
// already stays.
func limitProcess(pid int) error {
	for _, l := range limits {
		var now unix.Rlimit
		if err := unix.Prlimit(pid, l.resource, nil, &now); err != nil {
			return err
		}
		most := min(l.most, now.Max)
		if err := unix.Prlimit(pid, l.resource, &unix.Rlimit{Cur: most, Max: most}, nil); err != nil {
			return err
		}
	}
	return nil
}
