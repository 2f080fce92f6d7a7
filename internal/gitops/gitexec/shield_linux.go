package gitexec

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// blockSignals blocks the terminal's signals in the calling thread until restore. A process that the thread starts
// inherits the blocked signals.
func blockSignals() (restore func(), err error) {
	var before, blocked unix.Sigset_t
	for _, s := range []unix.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGTERM} {
		blocked.Val[0] |= 1 << (s - 1)
	}
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &blocked, &before); err != nil {
		return nil, fmt.Errorf("block signals: %w", err)
	}
	return func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil) }, nil // it only fails for an invalid argument
}
