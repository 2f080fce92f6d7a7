package clock

import "golang.org/x/sys/unix"

// The kernel's clocks. The first stops while the machine sleeps, the second continues. On macOS the monotonic clock is
// the one that continues.
const (
	monotonicClock = unix.CLOCK_UPTIME_RAW
	bootClock      = unix.CLOCK_MONOTONIC
)
