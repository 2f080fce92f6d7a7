package terminalio

import (
	"golang.org/x/sys/unix"
)

// flushInput drops unread input of a terminal.
func flushInput(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
