// Package clock keeps the time of an office: the time that its events carry,
// that retries and deadlines are compared with, and that people are shown.
//
// It owns the relation between three clocks of the machine: the wall clock,
// which people and time servers set; the monotonic clock, which cannot be set
// and which stands still while the machine sleeps; and the boot clock, which
// goes on then. It promises that office time never goes backwards and advances
// with the monotonic clock. Towards the wall clock it moves by at most a
// sixtieth of the time that passes, which is 1 s per minute; over a sleep it
// jumps by the length of the sleep. So a step of the wall clock ends no wait,
// and stalls none.
//
// It also reads the texts in which people name moments (--since, --deadline).
//
// It does not store anything: a process that goes on with an office calls
// NotBefore with the time of its last event. It does not know the use of the
// time, and it does not wait: timers are monotonic already.
package clock

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// slew is the part of the time that passes by which office time may come closer
// to the wall clock: one in so many.
const slew = 60

// Sources are the clocks of a machine; the zero value: of this one.
type Sources struct {
	Wall      func() time.Time     // what people set
	Monotonic func() time.Duration // since some moment; stands still in a sleep
	Boot      func() time.Duration // since some moment; goes on in a sleep
}

// Machine gives the clocks of this machine.
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

// Within says whether a moment of the wall clock, such as the time of a file,
// lies within the last d. One that lies ahead does not: the clock was set back
// since, and its age is unknown.
func Within(d time.Duration, at time.Time) bool {
	age := time.Since(at)
	return 0 <= age && age < d
}

// Clock is the time of one office. Its methods may be called by many goroutines.
type Clock struct {
	from Sources

	mu        sync.Mutex
	now       time.Time     // office time at the last look
	monotonic time.Duration // at the last look
	slept     time.Duration // the most that the boot clock was ahead of the monotonic one
}

// New starts a clock at the wall clock's time.
func New(from Sources) *Clock {
	if from.Wall == nil {
		from = Machine()
	}
	boot, monotonic := from.Boot(), from.Monotonic()
	return &Clock{from: from, now: plainUTC(from.Wall()), monotonic: monotonic, slept: boot - monotonic}
}

// plainUTC is a time in UTC without a monotonic reading of its own.
func plainUTC(t time.Time) time.Time { return t.Round(0).UTC() }

// NotBefore moves the clock forward to a time that the office has seen already,
// such as that of its last event. It never moves it back.
func (c *Clock) NotBefore(seen time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.advanceNow(); seen.After(c.now) {
		c.now = plainUTC(seen)
	}
}

// Now is the office's time, in UTC. It is never before what it was earlier.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advanceNow()
	return c.now
}

// Ahead is how far the office's time is ahead of the wall clock; negative:
// behind it.
func (c *Clock) Ahead() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	wall := c.advanceNow()
	return c.now.Sub(wall)
}

// advanceNow brings the clock up to this moment and gives the wall clock's time.
// The caller holds mu.
func (c *Clock) advanceNow() (wall time.Time) {
	boot := c.from.Boot()
	monotonic := c.from.Monotonic() // after the boot clock: what lies between the two looks is no sleep
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
