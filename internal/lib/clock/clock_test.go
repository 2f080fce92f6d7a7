package clock_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"company/internal/lib/clock"
	"company/internal/lib/clock/clocktest"
)

var birth = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// TestFollowsTheWallClock: where nobody sets the wall clock, office time is the
// wall clock's.
func TestFollowsTheWallClock(t *testing.T) {
	m := clocktest.At(birth)
	c := clock.New(m.Sources())
	for range 1000 {
		m.Pass(1700 * time.Millisecond)
		if got := c.Ahead(); got != 0 {
			t.Fatalf("ahead by %s", got)
		}
	}
	if got, want := c.Now(), birth.Add(1700*time.Second); !got.Equal(want) || got.Location() != time.UTC {
		t.Errorf("it is %s, want %s", got, want)
	}
}

// TestStep: a step of the wall clock changes nothing, in both directions, until the office is opened again. Then the
// office has it, as far as its last event allows.
func TestStep(t *testing.T) {
	for _, by := range []time.Duration{day, -day, 90 * time.Second, -90 * time.Second} {
		t.Run(by.String(), func(t *testing.T) {
			m := clocktest.At(birth)
			c := clock.New(m.Sources())
			m.Step(by)
			if got := c.Now(); !got.Equal(birth) {
				t.Fatalf("stepped to %s", got)
			}
			m.Pass(time.Hour)
			if got, want := c.Now(), birth.Add(time.Hour); !got.Equal(want) || c.Ahead() != -by {
				t.Errorf("after an hour it is %s, want %s; ahead by %s", got, want, c.Ahead())
			}
			last := c.Now()
			m.Pass(time.Hour)
			c = clock.New(m.Sources())
			c.NotBefore(last)
			if got, want := c.Ahead(), max(0, -by-time.Hour); got != want {
				t.Errorf("opened again, it is ahead by %s, want %s", got, want)
			}
		})
	}
}

// TestSleep: a sleep of the machine is time that has passed, whether or not the
// wall clock was set in it.
func TestSleep(t *testing.T) {
	m := clocktest.At(birth)
	c := clock.New(m.Sources())
	m.Sleep(9 * time.Hour)
	if got, want := c.Now(), birth.Add(9*time.Hour); !got.Equal(want) {
		t.Errorf("after a sleep it is %s, want %s", got, want)
	}
	m.Sleep(time.Hour)
	m.Step(day)
	if got, want := c.Now(), birth.Add(10*time.Hour); !got.Equal(want) {
		t.Errorf("after a sleep with a step it is %s, want %s", got, want)
	}
	if got := c.Now(); !got.Equal(birth.Add(10 * time.Hour)) {
		t.Errorf("a sleep counted twice: %s", got)
	}
}

// TestProperties: whatever happens to the wall clock, and however often the
// office is opened again, its time never goes back, and between two looks of one
// clock it advances by what has passed and was slept.
func TestProperties(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 11))
			upTo := func(d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d))) }
			m := clocktest.At(birth)
			c := clock.New(m.Sources())
			last := c.Now()
			var passed, slept time.Duration
			for range 500 {
				switch r.IntN(8) {
				case 0:
					m.Step(upTo(4*day) - 2*day)
				case 1:
					d := upTo(10 * time.Hour)
					m.Sleep(d)
					slept += d
				case 2: // the office is opened again, after a while
					m.Pass(upTo(time.Hour))
					c = clock.New(m.Sources())
					c.NotBefore(last)
					if got := c.Now(); got.Before(last) {
						t.Fatalf("a restart went back by %s", last.Sub(got))
					}
					last, passed, slept = c.Now(), 0, 0
				default:
					d := []time.Duration{1, time.Microsecond, time.Second, 10 * time.Minute}[r.IntN(4)]
					d = upTo(d) + 1
					m.Pass(d)
					passed += d
				}
				if r.IntN(3) > 0 {
					continue // not looked at
				}
				now := c.Now()
				if now.Sub(last) != passed+slept {
					t.Fatalf("advanced by %s while %s passed and %s was slept", now.Sub(last), passed, slept)
				}
				last, passed, slept = now, 0, 0
			}
		})
	}
}

// TestFloor: an office that goes on with a ledger from the future of a wall
// clock that was set back waits for nothing: it goes on from there.
func TestFloor(t *testing.T) {
	m := clocktest.At(birth)
	c := clock.New(m.Sources())
	c.NotBefore(birth.Add(day))
	m.Pass(time.Minute)
	if got, want := c.Now(), birth.Add(day+time.Minute); !got.Equal(want) {
		t.Errorf("it is %s, want %s", got, want)
	}
	c.NotBefore(birth)
	if got, want := c.Ahead(), day; got != want {
		t.Errorf("ahead by %s, want %s", got, want)
	}
}

// TestManyAtOnce: those that look at the same time agree on an order.
func TestManyAtOnce(t *testing.T) {
	m := clocktest.Running(birth)
	c := clock.New(m.Sources())
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			last := c.Now()
			for i := range 500 {
				m.Step(time.Duration(n-4) * time.Hour)
				if i%100 == 0 {
					m.Sleep(time.Minute)
				}
				now := c.Now()
				if now.Before(last) {
					t.Errorf("back by %s", last.Sub(now))
				}
				last = now
			}
		})
	}
	wg.Wait()
}

// TestMachine: the real clocks are what they are said to be.
func TestMachine(t *testing.T) {
	from := clock.Machine()
	before := from.Boot()
	c := clock.New(from)
	if d := time.Until(c.Now()).Abs(); d > time.Minute {
		t.Errorf("the office's time is off by %s", d)
	}
	if boot := from.Boot(); boot < before {
		t.Errorf("boot %s, then %s", before, boot)
	}
}
