package main

import (
	"context"
	"io"
	"sync/atomic"

	"company/internal/bus"
)

// countingBus counts the records and blobs of a bus.
type countingBus struct {
	bus.Bus
	commits atomic.Int64 // records of the ledger
	records atomic.Int64 // of journals
	blobs   atomic.Int64
}

// Log is the counted log.
func (c *countingBus) Log() bus.Log { return countingLog{c.Bus.Log(), c} }

// Blobs is the counted blobs.
func (c *countingBus) Blobs() bus.Blobs { return countingBlobs{c.Bus.Blobs(), c} }

type countingLog struct {
	bus.Log
	counts *countingBus
}

// Append counts a record.
func (l countingLog) Append(
	ctx context.Context, subject string, data []byte, expect uint64, id string,
) (uint64, error) {
	if subject == bus.Ledger {
		l.counts.commits.Add(1)
	} else {
		l.counts.records.Add(1)
	}
	return l.Log.Append(ctx, subject, data, expect, id)
}

type countingBlobs struct {
	bus.Blobs
	counts *countingBus
}

// Put counts a blob.
func (b countingBlobs) Put(ctx context.Context, r io.Reader) (string, int64, error) {
	b.counts.blobs.Add(1)
	return b.Blobs.Put(ctx, r)
}
