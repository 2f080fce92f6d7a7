package command

import "golang.org/x/sys/unix"

// flushInput drops what was typed at a terminal and not read yet.
func flushInput(fd int) error { return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, unix.TCIFLUSH) }
