package clock

import "golang.org/x/sys/unix"

// The kernel's clocks: one stands still while the machine sleeps, the other goes on.
// On macOS it is the monotonic one that goes on.
const (
	monotonicClock = unix.CLOCK_UPTIME_RAW
	bootClock      = unix.CLOCK_MONOTONIC
)
