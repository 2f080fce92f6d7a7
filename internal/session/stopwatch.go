package session

import (
	"errors"
	"sync"
	"time"

	"company/internal/agent"
)

// ErrRunTimeout is the cause with which a run's context ends when the run has
// used up its time.
var ErrRunTimeout = errors.New("session: the run is out of time")

// stopwatch measures the time that a run is at work itself. While it waits for
// a model's answer, or for money before it asks, the watch stands still.
type stopwatch struct {
	mu    sync.Mutex
	left  time.Duration
	since time.Time // when it began to run; zero: it stands still
	timer *time.Timer
}

// newStopwatch makes one that runs, and calls over when limit has passed.
func newStopwatch(limit time.Duration, over func()) *stopwatch {
	return &stopwatch{left: limit, since: time.Now(), timer: time.AfterFunc(limit, over)}
}

// onEvent lets the watch stand still from a question to the model's answer.
func (w *stopwatch) onEvent(k agent.EventKind) {
	switch k {
	case agent.TurnStarted, agent.Waiting, agent.Switched, agent.CutOff:
		w.pauseTimer()
	default:
		w.run()
	}
}

func (w *stopwatch) pauseTimer() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.since.IsZero() {
		return
	}
	w.timer.Stop()
	w.left -= time.Since(w.since)
	w.since = time.Time{}
}

func (w *stopwatch) run() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.since.IsZero() {
		w.since = time.Now()
		w.timer.Reset(max(0, w.left))
	}
}

// Waits calls wait, for a person's answer, and stops the run's watch meanwhile.
func (s *Session) Waits(wait func()) {
	s.watch.pauseTimer()
	defer s.watch.run()
	wait()
}
