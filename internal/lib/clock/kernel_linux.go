package clock

import "golang.org/x/sys/unix"

// bootClock is the kernel's clock that continues while the machine sleeps.
const bootClock = unix.CLOCK_BOOTTIME
