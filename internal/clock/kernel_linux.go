package clock

import "golang.org/x/sys/unix"

// The kernel's clocks: one stands still while the machine sleeps, the other goes on.
const (
	monotonicClock = unix.CLOCK_MONOTONIC
	bootClock      = unix.CLOCK_BOOTTIME
)
