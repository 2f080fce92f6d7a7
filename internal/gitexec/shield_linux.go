package gitexec

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// blockSignals blocks the signals of a terminal in the calling thread, until restore. A
// process that the thread starts inherits what is blocked.
func blockSignals() (restore func(), err error) {
	var before, blocked unix.Sigset_t
	for _, s := range []unix.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGTERM} {
		blocked.Val[0] |= 1 << (s - 1)
	}
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &blocked, &before); err != nil {
		return nil, fmt.Errorf("block signals: %w", err)
	}
	return func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil) }, nil // it fails for a wrong argument alone
}
