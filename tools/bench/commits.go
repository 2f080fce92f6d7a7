package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"company/internal/bus"
	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/engine/orchestrator"
	"company/internal/ledger"
)

const (
	commitWriters = 16
	slowSync      = 2 * time.Millisecond // of a disk as many have it
)

// slowBus is a bus whose appends take longer, as with a disk that syncs slowly.
type slowBus struct{ bus.Bus }

func (b slowBus) Log() bus.Log { return slowLog{b.Bus.Log()} }

type slowLog struct{ bus.Log }

func (l slowLog) Append(ctx context.Context, subject string, data []byte, expect uint64, id string) (uint64, error) {
	time.Sleep(slowSync)
	return l.Log.Append(ctx, subject, data, expect, id)
}

// measureCommits is how many commands a second an office decides for 16 writers at
// once, beside one writer, on a disk that syncs slowly.
func (w *benchEnv) measureCommits(ctx context.Context) (line Line, err error) {
	real, err := nats.Open(ctx, nats.Options{Dir: filepath.Join(w.dir, "commits"), Logger: w.Logger})
	if err != nil {
		return Line{}, err
	}
	defer func() { err = errors.Join(err, real.Close()) }()
	l, err := ledger.Open(ctx, slowBus{real}, ledger.Options{Logger: w.Logger})
	if err != nil {
		return Line{}, err
	}
	o, err := orchestrator.Open(ctx, orchestrator.Config{Ledger: l, Office: "bench", Version: "bench", Logger: w.Logger})
	if err != nil {
		return Line{}, err
	}
	if err := o.Start(ctx, 1); err != nil {
		return Line{}, err
	}
	const rounds = 5
	var many, one commitRate
	for range rounds {
		for rate, writers := range map[*commitRate]int{&many: commitWriters, &one: 1} {
			if err := rate.measureCommits(ctx, o, writers, time.Duration(w.sampleCount(400, 40))*time.Millisecond); err != nil {
				return Line{}, err
			}
		}
	}
	line = Line{
		What: fmt.Sprintf("commits, %d writers", commitWriters), Unit: "1/s", Ours: many.perSecond(), Against: "one writer",
		Bare:    one.perSecond(),
		Samples: int(many.commits), Note: "decided, stored and answered, on a bus whose appends take 2 ms longer",
	}
	line.Ratio = line.Ours / line.Bare
	return line.withTarget("≥ 8", line.Ratio >= 8), nil
}

// commitRate counts commands and the time that they took.
type commitRate struct {
	commits int64
	took    time.Duration
}

func (r *commitRate) perSecond() float64 { return float64(r.commits) / r.took.Seconds() }

// measureCommits has so many writers hire and let go, each as fast as it is answered.
func (r *commitRate) measureCommits(
	ctx context.Context, o *orchestrator.Orchestrator, writers int, last time.Duration,
) error {
	var wg sync.WaitGroup
	var done atomic.Int64
	errs := make([]error, writers)
	began := time.Now()
	for i := range writers {
		wg.Go(func() {
			for by := 1; errs[i] == nil && (by < 0 || time.Since(began) < last); by = -by {
				_, errs[i] = o.Do(ctx, company.President, company.ScaleWorkers{By: by})
				done.Add(1)
			}
		})
	}
	wg.Wait()
	r.took += time.Since(began)
	r.commits += done.Load()
	return errors.Join(errs...)
}
