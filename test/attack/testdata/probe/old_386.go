package main

import "golang.org/x/sys/unix"

// oldCalls makes 32-bit calls, which have numbers of their own (36). It must
// not get this far inside a container.
func oldCalls() {
	_, _, errno := unix.Syscall(unix.SYS_SOCKETCALL, 1, 0, 0)
	tell("socketcall", error(errno))
}

func sockets() {}
func calls()   {}
