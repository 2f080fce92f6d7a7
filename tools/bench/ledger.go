package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"company/internal/bus"
	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/ledger"
)

// benchLedger measures appends, synced and by compare-and-set.
func benchLedger(ctx context.Context, w *benchEnv) (lines []Line, err error) {
	b, l, err := w.openLedger(ctx, "ledger")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	file, err := os.Create(filepath.Join(w.dir, "bare"))
	if err != nil {
		return nil, err
	}
	defer file.Close()

	// A command of common size: an event of some 700 bytes.
	event := company.Event{Actor: company.Company, Kind: "office.stopped"}
	if event.Data, err = json.Marshal(map[string]string{"why": strings.Repeat("x", 500)}); err != nil {
		return nil, err
	}
	n := 0
	const subject = "run.t9-01.1" // a journal of its own
	last, err := b.Log().Append(ctx, subject, []byte("x"), 0, "first")
	if err != nil {
		return nil, err
	}
	payload := make([]byte, 1000)
	got, err := takeSamples(ctx, w.sampleCount(500, 5),
		timeFunc(func() error {
			n++
			_, err := l.Append(ctx, ledger.Command{ID: fmt.Sprintf("c%d", n)}, time.Now().UTC(), []company.Event{event})
			return err
		}),
		timeFunc(func() error {
			if _, err := file.Write(payload); err != nil {
				return err
			}
			return file.Sync()
		}),
		timeFunc(func() (err error) {
			last, err = b.Log().Append(ctx, subject, payload, last, fmt.Sprintf("m%d", n))
			return err
		}),
	)
	if err != nil {
		return nil, err
	}
	append1 := compareLine("append, one writer", "write+fsync", got[0], got[1])
	append1.Unit = "1/s"
	append1.Ours, append1.Bare = 1000/append1.Ours, 1000/append1.Bare
	append1.Ratio = append1.Ours / append1.Bare
	bare := compareLine("append to the bus alone", "write+fsync", got[2], got[1])
	bare.Unit = "1/s"
	bare.Ours, bare.Bare = 1000/bare.Ours, 1000/bare.Bare
	bare.Ratio = bare.Ours / bare.Bare
	bare.Note = "what of the append is the embedded NATS"
	lines = append(lines, append1.withTarget("≥ 0.3", append1.Ratio >= 0.3), bare)

	group, err := w.measureJournals(ctx, l)
	if err != nil {
		return nil, err
	}
	commits, err := w.measureCommits(ctx)
	if err != nil {
		return nil, err
	}
	return append(lines, group.withTarget("≥ 1000/s", group.Ours >= 1000), commits), nil
}

// measureJournals is how many records a second 16 runs write to their journals at
// once, each synced when its Append returns.
func (w *benchEnv) measureJournals(ctx context.Context, l *ledger.Ledger) (Line, error) {
	const writers = 16
	var count atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, writers)
	var opened []*ledger.Journal
	for i := range writers {
		j, err := l.OpenJournal(ctx, company.NewRunID("t1", company.NewSubtaskID("t1", i+1), company.Worker, 1), 1)
		if err != nil {
			return Line{}, err
		}
		opened = append(opened, j)
	}
	began := time.Now()
	end := began.Add(time.Duration(w.sampleCount(3000, 100)) * time.Millisecond)
	for i, j := range opened {
		wg.Go(func() {
			for time.Now().Before(end) && errs[i] == nil {
				_, errs[i] = j.Append(ctx, "bench", strings.Repeat("x", 500))
				count.Add(1)
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	return Line{
		What: fmt.Sprintf("journals, %d writers at once", writers), Unit: "1/s", Ours: float64(count.Load()) / took.Seconds(),
		Samples: int(count.Load()), Note: "each run writes its own journal, and each record is synced by itself",
	}, errors.Join(errs...)
}

// openLedger opens a fresh ledger on a bus of its own.
func (w *benchEnv) openLedger(ctx context.Context, name string) (bus.Bus, *ledger.Ledger, error) {
	b, err := nats.Open(ctx, nats.Options{Dir: filepath.Join(w.dir, name), Logger: w.Logger})
	if err != nil {
		return nil, nil, err
	}
	l, err := ledger.Open(ctx, b, ledger.Options{Logger: w.Logger})
	if err != nil {
		return nil, nil, errors.Join(err, b.Close())
	}
	return b, l, nil
}
