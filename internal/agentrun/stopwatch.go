package agentrun

import (
	"errors"
	"sync"
	"time"

	"company/internal/agent"
)

// ErrRunTimeout is the cause of a run's context when the run has used up its time.
var ErrRunTimeout = errors.New("agentrun: the run timed out")

// stopwatch measures the time that a run works itself. It pauses while the run waits for a model's answer, or
// for an allowance before a request.
type stopwatch struct {
	mu    sync.Mutex
	left  time.Duration
	since time.Time // when it was started, zero while it is paused
	timer *time.Timer
}

// newStopwatch returns a running stopwatch that calls over after limit.
func newStopwatch(limit time.Duration, over func()) *stopwatch {
	return &stopwatch{left: limit, since: time.Now(), timer: time.AfterFunc(limit, over)}
}

// onEvent pauses the stopwatch from a request until the model's answer.
func (w *stopwatch) onEvent(k agent.EventKind) {
	switch k {
	case agent.TurnStarted, agent.Waiting, agent.Switched, agent.CutOff:
		w.pauseTimer()
	case agent.Printed: // the program may wait for its model meanwhile
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

// Waits calls wait, which waits for a person's answer, and pauses the run's stopwatch meanwhile.
func (s *Session) Waits(wait func()) {
	s.watch.pauseTimer()
	defer s.watch.run()
	wait()
}
