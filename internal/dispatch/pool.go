// Package dispatch brings runs to workers. A run comes through here in four
// steps:
//
//  1. The ledger says that the run is on offer. That makes it due that its item
//     lies on the queue: KeepQueued sees to it (offers.go).
//  2. A worker is free: Run leases an item for it and claims the run
//     (leases.go).
//  3. The claim makes it due that the run is worked on: Work, which the loop
//     starts for that, takes the lease over from the claim and has the worker do
//     the run (handover.go).
//  4. The run is let go, with or without an outcome: the item is acknowledged,
//     and the worker is free.
//
// It promises that a run is worked on only under a claim that the ledger has,
// and that the work ends when its lease is lost. Truth is in the ledger: the
// queue may be wiped, or hold what is long over. It does not know how a run is
// done.
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

// leaseTTL is how long an item stays a worker's without a sign of life.
const leaseTTL = 30 * time.Second

// Worker does a claimed run, to its end.
type Worker interface {
	Do(ctx context.Context, a company.Assignment) error
}

// Config is what a pool is made of.
type Config struct {
	Queue       bus.Queue
	Coordinator company.Coordinator
	Worker      Worker
	Workers     int // how many there are at first
	Logger      *slog.Logger
}

// Pool is the workers of one process. They pull; nothing here listens (BUS-5).
type Pool struct {
	Config

	ttl      time.Duration // of a lease
	putEvery time.Duration // how often an item is put again that is to lie on the queue

	mu      sync.Mutex
	size    int                        // how many workers there are
	leasing int                        // of them, those for which an item is being leased
	held    map[company.RunID]*heldRun // one for each worker that is busy
	changed chan struct{}              // closed and replaced when a worker may have become free
}

// NewPool makes a pool, and checks that nothing is missing that it needs.
func NewPool(c Config) (*Pool, error) {
	return &Pool{
		Config: c, ttl: leaseTTL, putEvery: putEvery,
		size: c.Workers, held: map[company.RunID]*heldRun{}, changed: make(chan struct{}),
	}, company.CheckParts(c)
}

// Status is what a pool is doing (WRK-8).
type Status struct {
	Total  int `json:"total"`
	Active int `json:"active"`
	Idle   int `json:"idle"`
	Queued int `json:"pending_tasks"`
}

// Status counts workers and what waits for them.
func (p *Pool) Status(ctx context.Context) (Status, error) {
	waiting, _, err := p.Queue.Depth(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	return Status{Total: p.size, Active: len(p.held), Idle: max(0, p.size-len(p.held)), Queued: waiting}, err
}

// SetMax changes how many work at a time. Those that work go on.
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

// awaitFree waits for an idle worker, and sets it aside until endLeasing.
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

// endLeasing gives back the worker of awaitFree, which is idle, or busy with a run that is held.
func (p *Pool) endLeasing() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leasing--
	p.notifyChange()
}

// freeName is the lowest name that no busy worker has: w1, w2, … The caller
// holds mu.
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
