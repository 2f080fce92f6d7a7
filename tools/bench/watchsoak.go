package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"company/internal/lib/clock"
	"company/internal/lib/retry"
)

// simulatedMachine has clocks that move when the bench moves them.
type simulatedMachine struct {
	mu     sync.Mutex
	begun  time.Time
	passed time.Duration
}

// passTime lets time go by.
func (m *simulatedMachine) passTime(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.passed += d
}

func (m *simulatedMachine) sinceBegin() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.passed
}

// clockSources are its clocks.
func (m *simulatedMachine) clockSources() clock.Sources {
	return clock.Sources{Wall: func() time.Time { return m.begun.Add(m.sinceBegin()) }, Monotonic: m.sinceBegin,
		Boot: m.sinceBegin}
}

// soakPace is what happens in an office within a minute: about what eight workers do, of
// whom each has a subtask merged in six minutes.
const (
	soakSteps     = 12 // commands, with one event or more
	soakTools     = 60 // calls of tools, which the feed shows and the ledger does not have
	soakListeners = 20 // at any time
	soakLeave     = 4  // of them that leave, and come again
	soakLooks     = 6  // requests of pages
	soakPast      = 200
)

// measureSoak has an office work for a day by a simulated clock, while listeners come and go.
func measureSoak(ctx context.Context, w *benchEnv) (lines []Line, err error) {
	m := &simulatedMachine{begun: time.Now(), passed: time.Hour}
	size := watchSize{tasks: 8, waves: 2, width: 3, workers: 8}
	o, err := w.openWatched(ctx, "soak", size, m.clockSources())
	if err != nil {
		return nil, err
	}
	var a audience
	defer func() {
		a.close()
		err = errors.Join(err, o.close())
	}()
	hours, minutes, before := w.sampleCount(24, 2), w.sampleCount(60, 3), w.sampleCount(4, 0)
	w.Progress(fmt.Sprintf("%d hours of an office pass, with %d listeners that come and go", hours, soakListeners))
	began, items := o.state.Seq, 0
	var heap []float64 // in MB, after the first hour, in the middle and in the end
	for hour := -before; hour < hours; hour++ {
		for range minutes {
			if a, err = o.rotateListeners(ctx, a, &items); err != nil {
				return nil, err
			}
			if err := o.liveMinute(ctx, m); err != nil {
				return nil, err
			}
			if _, err := a.awaitEvent(o.state.Seq); err != nil {
				return nil, err
			}
		}
		if hour != 0 && hour+1 != hours/2 && hour+1 != hours {
			continue
		}
		if err := retry.Sleep(ctx, time.Duration(w.sampleCount(15, 0))*time.Second); err != nil {
			// the bus has its caches for ten seconds of the real clock
			return nil, err
		}
		heap = append(heap, heapInUse())
	}
	last := len(heap) - 1
	held := Line{What: fmt.Sprintf("heap after %d hours", hours), Unit: "MB", Ours: heap[last], Against: "after the first",
		Bare: heap[0], Ratio: heap[last] / heap[0], Samples: len(heap),
		Note: fmt.Sprintf("%d events and %d tasks; %d items to listeners; %.1f MB in the middle; %d hours were before, in "+
			"which the archives that are kept at hand came together", o.state.Seq-began, o.state.LastTask-size.tasks, items,
			heap[last/2], before)}
	return []Line{held.withTarget("flat (≤ 1.1)", held.Ratio <= 1.1)}, nil
}

// liveMinute is a minute of an office.
func (o *watchedOffice) liveMinute(ctx context.Context, m *simulatedMachine) error {
	for range soakSteps {
		m.passTime(time.Minute / soakSteps)
		if err := o.doOne(); err != nil {
			return err
		}
		for range soakTools / soakSteps {
			o.useTool()
		}
	}
	for range soakLooks / 2 {
		for _, path := range []string{"overview", "tasks/" + string(o.state.Open[o.random.IntN(len(o.state.Open))])} {
			resp, err := o.sendRequest(ctx, path)
			if err != nil {
				return err
			}
			if err := drainBody(resp); err != nil {
				return err
			}
		}
	}
	return nil
}

// rotateListeners has some leave, and others come that begin in the past, as pages do.
// items counts what those had that left.
func (o *watchedOffice) rotateListeners(ctx context.Context, a audience, items *int) (audience, error) {
	leave := min(soakLeave, len(a))
	for _, l := range a[:leave] {
		l.close()
		*items += l.items
	}
	a = append(audience{}, a[leave:]...)
	for len(a) < soakListeners {
		l, err := o.followEvents(ctx, max(1, o.state.Seq-min(soakPast, o.state.Seq)+1))
		if err != nil {
			return a, err
		}
		a = append(a, l)
	}
	return a, nil
}

// heapInUse is what the process holds on its heap, in MB.
func heapInUse() float64 {
	runtime.GC()
	runtime.GC() // what finalizers let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / 1e6
}
