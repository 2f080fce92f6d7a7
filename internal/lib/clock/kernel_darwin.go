package clock

import "golang.org/x/sys/unix"

// bootClock is the kernel's clock that continues while the machine sleeps, which on macOS is the monotonic one.
const bootClock = unix.CLOCK_MONOTONIC
