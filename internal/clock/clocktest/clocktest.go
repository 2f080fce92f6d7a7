// Package clocktest has the clocks of a machine for tests, which pass, step and
// sleep as a test says. It owns nothing else, and promises that nothing moves by
// itself.
package clocktest

import (
	"sync"
	"time"

	"company/internal/clock"
)

// Machine has clocks that a test moves. Its methods may be called by many
// goroutines.
type Machine struct {
	mu              sync.Mutex
	wall            time.Time
	monotonic, boot time.Duration
	running         bool // the monotonic clock is the real one's
	origin          clock.Sources
	real            time.Duration // of the real monotonic clock, at the last look
}

// At makes a machine whose wall clock stands at a time.
func At(wall time.Time) *Machine {
	return &Machine{wall: wall, monotonic: time.Hour, boot: 2 * time.Hour}
}

// Running makes a machine whose clocks also go on with the real time.
func Running(wall time.Time) *Machine {
	m := At(wall)
	m.running, m.origin = true, clock.Machine()
	m.real = m.origin.Monotonic()
	return m
}

// Sources are the machine's clocks.
func (m *Machine) Sources() clock.Sources {
	return clock.Sources{
		Wall:      func() time.Time { defer m.look()(); return m.wall },
		Monotonic: func() time.Duration { defer m.look()(); return m.monotonic },
		Boot:      func() time.Duration { defer m.look()(); return m.boot },
	}
}

// look locks the machine, lets the real time go by, and gives what unlocks it.
func (m *Machine) look() (unlock func()) {
	m.mu.Lock()
	if m.running {
		at := m.origin.Monotonic()
		m.pass(at - m.real)
		m.real = at
	}
	return m.mu.Unlock
}

func (m *Machine) pass(d time.Duration) {
	m.wall = m.wall.Add(d)
	m.monotonic += d
	m.boot += d
}

// Pass lets time go by.
func (m *Machine) Pass(d time.Duration) {
	defer m.look()()
	m.pass(d)
}

// Step sets the wall clock, by so much.
func (m *Machine) Step(by time.Duration) {
	defer m.look()()
	m.wall = m.wall.Add(by)
}

// Sleep is a suspend of the machine.
func (m *Machine) Sleep(d time.Duration) {
	defer m.look()()
	m.wall = m.wall.Add(d)
	m.boot += d
}
