// Package clock provides the time of an office, which its events carry, which retries and deadlines use, and which
// people are shown.
//
// Office time starts at the wall clock, which people and time servers set, and advances with the boot clock, which
// cannot be set and continues while the machine sleeps. So a step of the wall clock neither ends nor delays a wait, and
// office time never goes backwards. It meets a wall clock that was set when the office is opened the next time.
//
// The package also parses the texts in which people write moments (--since, --deadline).
//
// It stores no data: a process that continues an office calls NotBefore with the time of its last event. It does not
// wait: timers are monotonic already.
package clock

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Sources are the clocks of a machine. The zero value means this machine's clocks.
type Sources struct {
	Wall func() time.Time     // the clock that people set
	Boot func() time.Duration // since an arbitrary moment; continues during a sleep
}

// Machine returns the clocks of this machine.
func Machine() Sources { return Sources{Wall: time.Now, Boot: readBoot} }

func readBoot() time.Duration {
	var at unix.Timespec
	if err := unix.ClockGettime(bootClock, &at); err != nil {
		panic(fmt.Sprintf("clock: the kernel has no boot clock: %v", err)) // there since Linux 2.6.39
	}
	return time.Duration(at.Nano())
}

// Within reports whether a time of the wall clock, such as that of a file, is within the last d. A time in the future
// is not: the clock was set back since, and the age is unknown.
func Within(d time.Duration, at time.Time) bool {
	age := time.Since(at)
	return 0 <= age && age < d
}

// Clock is the clock of one office. Its methods are safe for concurrent use.
type Clock struct {
	from Sources

	mu   sync.Mutex
	now  time.Time     // office time at the last reading
	boot time.Duration // at the last reading
}

// New returns a clock that starts at the wall clock's time.
func New(from Sources) *Clock {
	if from.Wall == nil {
		from = Machine()
	}
	return &Clock{from: from, now: plainUTC(from.Wall()), boot: from.Boot()}
}

// plainUTC returns a time in UTC without its monotonic reading.
func plainUTC(t time.Time) time.Time { return t.Round(0).UTC() }

// NotBefore moves the clock forward to a time that the office has already reached, such as that of its last event. It
// never moves it back.
func (c *Clock) NotBefore(seen time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.advanceNow(); seen.After(c.now) {
		c.now = plainUTC(seen)
	}
}

// Now returns the office's time in UTC. It never decreases.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advanceNow()
	return c.now
}

// Ahead returns how far the office's time is ahead of the wall clock. It is negative if it is behind.
func (c *Clock) Ahead() time.Duration { return c.Now().Sub(plainUTC(c.from.Wall())) }

// advanceNow updates the clock to the current moment. The caller holds mu.
func (c *Clock) advanceNow() {
	boot := max(c.boot, c.from.Boot())
	c.now = c.now.Add(boot - c.boot)
	c.boot = boot
}
