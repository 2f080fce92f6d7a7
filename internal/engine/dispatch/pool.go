// Package dispatch assigns runs to workers. A run passes four steps:
//
//  1. The ledger says that the run is on offer. While it is, KeepQueued keeps
//     its item on the queue (offers.go).
//  2. A worker is free: Run leases an item for it and claims the run
//     (leases.go).
//  3. The claim makes the work effect due. The loop starts Work, which takes
//     over the lease and has the worker do the run (handover.go).
//  4. The run is released, with or without an outcome: the item is acknowledged,
//     and the worker is free.
//
// A run is worked on only under a claim in the ledger, and the work ends when its lease is lost. The ledger is
// authoritative: the queue may be wiped, or hold outdated items. The package does not know how a run is done.
package dispatch

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"company/internal/bus"
	"company/internal/company"
)

// Worker works on a claimed run until it ends.
type Worker interface {
	Do(ctx context.Context, a company.Assignment) error
}

// Config holds the dependencies of a pool.
type Config struct {
	Queue       bus.Queue
	Coordinator company.Coordinator
	Worker      Worker
	Workers     int // initial number of workers
	Logger      *slog.Logger
}

// Pool manages the workers of one process. Workers pull their runs and open no listening port (BUS-5).
type Pool struct {
	Config

	extendEvery time.Duration // interval at which leases are extended
	putEvery    time.Duration // interval at which an offered item is put on the queue again

	mu      sync.Mutex
	size    int                        // how many workers there are
	leasing int                        // number of workers for which an item is being leased
	held    map[company.RunID]*heldRun // one for each busy worker
	changed chan struct{}              // closed and replaced when a worker may have become free
}

// NewPool returns a pool. It fails if a required part of the config is missing.
func NewPool(config Config) (*Pool, error) {
	return &Pool{
		Config: config, extendEvery: bus.LeaseTTL / 3, putEvery: putEvery,
		size: config.Workers, held: map[company.RunID]*heldRun{}, changed: make(chan struct{}),
	}, company.CheckParts(config)
}

// Status describes the activity of a pool (WRK-8).
type Status struct {
	Total  int `json:"total"`
	Active int `json:"active"`
	Idle   int `json:"idle"`
	Queued int `json:"pending_tasks"`
}

// Status counts the workers and the queued runs.
func (p *Pool) Status(ctx context.Context) (Status, error) {
	waiting, _, err := p.Queue.Depth(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	return Status{Total: p.size, Active: len(p.held), Idle: max(0, p.size-len(p.held)), Queued: waiting}, err
}

// SetMax changes how many workers run at a time. Busy workers finish their runs.
func (p *Pool) SetMax(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.size = n
	p.notifyChange()
}

func (p *Pool) notifyChange() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// awaitFree waits for an idle worker and reserves it until endLeasing.
func (p *Pool) awaitFree(ctx context.Context) error {
	for ctx.Err() == nil {
		p.mu.Lock()
		free, changed := len(p.held)+p.leasing < p.size, p.changed
		if free {
			p.leasing++
		}
		p.mu.Unlock()
		if free {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
	return ctx.Err()
}

// endLeasing releases the reservation of awaitFree. The worker is then idle, or busy with a held run.
func (p *Pool) endLeasing() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leasing--
	p.notifyChange()
}

// freeName returns the lowest name that no busy worker has: w1, w2, … The caller holds mu.
func (p *Pool) freeName() string {
	for n := 1; ; n++ {
		name := fmt.Sprintf("w%d", n)
		taken := false
		for _, h := range p.held {
			taken = taken || h.worker == name
		}
		if !taken {
			return name
		}
	}
}
