// Package clocktest provides the clocks of a machine for tests. They pass, step and sleep only as a test requests,
// except after Running.
package clocktest

import (
	"sync"
	"time"

	"company/internal/lib/clock"
)

// Machine has clocks that a test controls. Its methods are safe for concurrent use.
type Machine struct {
	mu      sync.Mutex
	wall    time.Time
	boot    time.Duration
	running bool      // the clocks also follow the real monotonic clock
	real    time.Time // at the last reading
}

// At returns a machine whose wall clock stands at a time.
func At(wall time.Time) *Machine {
	return &Machine{wall: wall, boot: 2 * time.Hour}
}

// Running returns a machine whose clocks also advance with real time.
func Running(wall time.Time) *Machine {
	machine := At(wall)
	machine.running, machine.real = true, time.Now()
	return machine
}

// Sources returns the machine's clocks.
func (m *Machine) Sources() clock.Sources {
	return clock.Sources{
		Wall: func() time.Time { defer m.look()(); return m.wall },
		Boot: func() time.Duration { defer m.look()(); return m.boot },
	}
}

// look locks the machine and applies the real time that has passed. It returns the function that unlocks it.
func (m *Machine) look() (unlock func()) {
	m.mu.Lock()
	if m.running {
		at := time.Now()
		m.pass(at.Sub(m.real))
		m.real = at
	}
	return m.mu.Unlock
}

func (m *Machine) pass(d time.Duration) {
	m.wall = m.wall.Add(d)
	m.boot += d
}

// Pass advances all clocks.
func (m *Machine) Pass(d time.Duration) {
	defer m.look()()
	m.pass(d)
}

// Step moves the wall clock by a duration.
func (m *Machine) Step(by time.Duration) {
	defer m.look()()
	m.wall = m.wall.Add(by)
}

// Sleep simulates a suspend of the machine.
func (m *Machine) Sleep(d time.Duration) {
	defer m.look()()
	m.wall = m.wall.Add(d)
	m.boot += d
}
