// Package clock provides the time of an office, which its events carry, which retries and deadlines use, and which
// people are shown.
//
// It combines three clocks of the machine: the wall clock, which people and time servers set; the monotonic clock,
// which cannot be set and stops while the machine sleeps; and the boot clock, which continues then. Office time never
// goes backwards, and advances with the monotonic clock. It approaches the wall clock by at most a sixtieth of the
// passing time, which is 1 s per minute. After a sleep it jumps by the length of the sleep. So a step of the wall
// clock neither ends nor delays a wait.
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

// slew limits how fast office time approaches the wall clock: by 1/slew of the time that passes.
const slew = 60

// Sources are the clocks of a machine. The zero value means this machine's clocks.
type Sources struct {
	Wall      func() time.Time     // the clock that people set
	Monotonic func() time.Duration // since an arbitrary moment; stops during a sleep
	Boot      func() time.Duration // since an arbitrary moment; continues during a sleep
}

// Machine returns the clocks of this machine.
func Machine() Sources {
	return Sources{Wall: time.Now, Monotonic: clockReader(monotonicClock), Boot: clockReader(bootClock)}
}

func clockReader(id int32) func() time.Duration {
	return func() time.Duration {
		var at unix.Timespec
		if err := unix.ClockGettime(id, &at); err != nil {
			panic(fmt.Sprintf("clock: the kernel has no clock %d: %v", id, err)) // there since Linux 2.6.39
		}
		return time.Duration(at.Nano())
	}
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

	mu        sync.Mutex
	now       time.Time     // office time at the last reading
	monotonic time.Duration // at the last reading
	slept     time.Duration // largest lead of the boot clock over the monotonic clock
}

// New returns a clock that starts at the wall clock's time.
func New(from Sources) *Clock {
	if from.Wall == nil {
		from = Machine()
	}
	boot, monotonic := from.Boot(), from.Monotonic()
	return &Clock{from: from, now: plainUTC(from.Wall()), monotonic: monotonic, slept: boot - monotonic}
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
func (c *Clock) Ahead() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	wall := c.advanceNow()
	return c.now.Sub(wall)
}

// advanceNow updates the clock to the current moment, and returns the wall clock's time. The caller holds mu.
func (c *Clock) advanceNow() (wall time.Time) {
	boot := c.from.Boot()
	monotonic := c.from.Monotonic() // read after the boot clock, so that time between the readings does not count as sleep
	wall = plainUTC(c.from.Wall())

	ran := max(0, monotonic-c.monotonic)
	slept := max(0, boot-monotonic-c.slept)
	c.monotonic += ran
	c.slept += slept
	c.now = c.now.Add(ran + slept)
	most := ran / slew
	c.now = c.now.Add(min(max(wall.Sub(c.now), -most), most))
	return wall
}
