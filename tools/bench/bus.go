package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"company/internal/bus"
	"company/internal/bus/file"
	"company/internal/bus/nats"
)

const (
	// A record of the bench is as large as a command of common size.
	busRecordSize = 700
	// fullRecords lie in the store whose start is measured.
	fullRecords = 5000
)

// busDriverNames are the drivers of the bus.
var busDriverNames = []string{"file", "nats"}

// openBusDriver opens a bus of a driver in a folder of its own.
func openBusDriver(ctx context.Context, driver, dir string, log *slog.Logger) (bus.Bus, error) {
	if driver == "file" {
		return file.Open(ctx, file.Options{Dir: dir, Logger: log})
	}
	return nats.Open(ctx, nats.Options{Dir: dir, Logger: log})
}

// benchBus measures the file driver of the bus beside the embedded NATS, which is
// the default: what one appends, what it starts with, and what it takes.
func benchBus(ctx context.Context, w *benchEnv) (lines []Line, err error) {
	var stores []*busStore
	for _, name := range busDriverNames {
		stores = append(
			stores, &busStore{name: name, open: func(ctx context.Context, dir string) (bus.Bus, error) {
				return openBusDriver(ctx, name, dir, w.Logger)
			}})
	}
	for _, s := range stores {
		s.dir = filepath.Join(w.dir, "bus-"+s.name)
		if s.bus, err = s.open(ctx, s.dir); err != nil {
			return nil, err
		}
	}
	defer func() {
		for _, s := range stores {
			err = errors.Join(err, s.close())
		}
	}()
	got, err := takeSamples(ctx, w.sampleCount(500, 5), stores[0].timeAppend(ctx), stores[1].timeAppend(ctx))
	if err != nil {
		return nil, err
	}
	lines = append(lines, rateOf(compareLine("appends, one writer", "nats", got[0], got[1])))

	rates := make([]float64, len(stores))
	span := time.Duration(w.sampleCount(3000, 100)) * time.Millisecond
	for i, s := range stores {
		if rates[i], err = s.measureWriters(ctx, 16, span); err != nil {
			return nil, err
		}
	}
	lines = append(
		lines, Line{What: "appends, 16 writers at once", Unit: "1/s", Against: "nats", Ours: rates[0], Bare: rates[1],
			Ratio: rates[0] / rates[1], Samples: 1})

	fill := w.sampleCount(fullRecords, 50)
	sizes := make([]float64, len(stores))
	for i, s := range stores {
		if sizes[i], err = s.addRecords(ctx, fill); err != nil {
			return nil, err
		}
	}
	lines = append(
		lines, Line{What: fmt.Sprintf("on disk, %d records of %d bytes", fill, busRecordSize), Unit: "MB", Against: "nats",
			Ours: sizes[0] / 1e6, Bare: sizes[1] / 1e6, Ratio: sizes[0] / sizes[1], Samples: 1})
	got, err = takeSamples(ctx, w.sampleCount(20, 2), stores[0].timeStart(ctx), stores[1].timeStart(ctx))
	if err != nil {
		return nil, err
	}
	return append(lines, compareLine(fmt.Sprintf("open and close, %d records", fill), "nats", got[0], got[1])), nil
}

// rateOf turns times of one operation into how many there are in a second.
func rateOf(l Line) Line {
	l.Unit = "1/s"
	l.Ours, l.Bare = 1000/l.Ours, 1000/l.Bare
	l.Ratio = l.Ours / l.Bare
	return l
}

// busStore is a store of a driver under measurement.
type busStore struct {
	name string
	dir  string
	open func(ctx context.Context, dir string) (bus.Bus, error)
	bus  bus.Bus
	last uint64 // of the ledger
	n    int
}

func (s *busStore) close() error {
	if s.bus == nil {
		return nil
	}
	err := s.bus.Close()
	s.bus = nil
	return err
}

func (s *busStore) appendRecord(ctx context.Context) (err error) {
	s.n++
	s.last, err = s.bus.Log().Append(
		ctx, bus.Ledger, []byte(strings.Repeat("x", busRecordSize)), s.last, fmt.Sprint("bench-", s.n))
	return err
}

func (s *busStore) timeAppend(ctx context.Context) func() (time.Duration, error) {
	return timeFunc(func() error { return s.appendRecord(ctx) })
}

// measureWriters is how many records a second so many writers append at once, each to
// a journal of its own.
func (s *busStore) measureWriters(ctx context.Context, writers int, span time.Duration) (perSecond float64, err error) {
	var count atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, writers)
	data := []byte(strings.Repeat("x", busRecordSize))
	began := time.Now()
	for i := range writers {
		wg.Go(func() {
			var last uint64
			for n := 0; time.Since(began) < span && errs[i] == nil; n++ {
				last, errs[i] = s.bus.Log().Append(ctx, fmt.Sprint("run.bench.", i), data, last, fmt.Sprintf("%d/%d", i, n))
				count.Add(1)
			}
		})
	}
	wg.Wait()
	return float64(count.Load()) / time.Since(began).Seconds(), errors.Join(errs...)
}

// addRecords makes the store anew with so many records, and returns the bytes of its files.
func (s *busStore) addRecords(ctx context.Context, records int) (bytes float64, err error) {
	if err := errors.Join(s.close(), os.RemoveAll(s.dir)); err != nil {
		return 0, err
	}
	s.last = 0
	if s.bus, err = s.open(ctx, s.dir); err != nil {
		return 0, err
	}
	for range records {
		if err := s.appendRecord(ctx); err != nil {
			return 0, err
		}
	}
	if err := s.close(); err != nil {
		return 0, err
	}
	size, err := sizeOfFiles(s.dir)
	return float64(size), err
}

// sizeOfFiles is the bytes of the files below a folder.
func sizeOfFiles(dir string) (bytes int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	return bytes, err
}

func (s *busStore) timeStart(ctx context.Context) func() (time.Duration, error) {
	return timeFunc(func() error {
		b, err := s.open(ctx, s.dir)
		if err != nil {
			return err
		}
		return b.Close()
	})
}
