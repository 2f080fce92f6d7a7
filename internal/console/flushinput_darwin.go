package console

import (
	"golang.org/x/sys/unix"
)

// flushInput drops input of a terminal that is not read yet.
func flushInput(fd int) error { return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, unix.TCIFLUSH) }
