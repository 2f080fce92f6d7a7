package clock

import "golang.org/x/sys/unix"

// The kernel's clocks. The first stops while the machine sleeps, the second continues.
const (
	monotonicClock = unix.CLOCK_MONOTONIC
	bootClock      = unix.CLOCK_BOOTTIME
)
