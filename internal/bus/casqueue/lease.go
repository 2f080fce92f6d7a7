package casqueue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"company/internal/bus"
)

// Lease gives one holder the exclusive use of an item. It implements bus.Lease. It considers itself
// expired once its time to live has passed by the local clock, counted from before it was written.
// Compare-and-set decides in all other cases.
type Lease struct {
	queue *Queue
	item  bus.Item
	fence uint64
	count int // deliveries
	ttl   time.Duration

	mu  sync.Mutex // held during each change of the state
	rec record
	rev uint64
	end time.Time
}

var _ bus.Lease = (*Lease)(nil)

// Lease implements bus.Queue.
func (q *Queue) Lease(ctx context.Context, ttl time.Duration) (bus.Lease, error) {
	if ttl <= 0 {
		return nil, fmt.Errorf("lease: invalid time to live %v: %w", ttl, bus.ErrNotAllowed)
	}
	ctx, cancel := q.store.WithClosing(ctx)
	defer cancel()
	for {
		if err := q.store.CheckAlive(ctx); err != nil {
			return nil, err
		}
		entry, wait, changed := q.pickOldest()
		if entry == nil {
			if err := waitChange(ctx, wait, changed); err != nil {
				return nil, err
			}
			continue
		}
		lease, err := q.writeLease(ctx, entry, ttl)
		if errors.Is(err, bus.ErrConflict) {
			continue // the view was outdated and has been reloaded
		}
		if err != nil {
			return nil, err
		}
		return lease, nil
	}
}

// pickOldest chooses the oldest free item and marks it busy. If there is none, it returns how long to
// wait (0 means until a change).
func (q *Queue) pickOldest() (best *entry, wait time.Duration, changed <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	isFree := func(item *entry) bool {
		if d := item.free.Sub(now); d > 0 {
			if wait == 0 || d < wait {
				wait = d
			}
			return false
		}
		if !item.busy && (best == nil || compareAge(item, best) < 0) {
			best = item
		}
		return !item.busy
	}
	for _, e := range q.leased { // as many as there are workers
		isFree(e)
	}
	for _, e := range q.waiting {
		if isFree(e) {
			break // sorted by age: the rest is younger
		}
	}
	if best != nil {
		best.busy = true
	}
	return best, wait, q.changed
}

func waitChange(ctx context.Context, wait time.Duration, changed <-chan struct{}) error {
	var timeout <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timeout:
	case <-changed:
	}
	return nil
}

// writeLease writes the lease of a picked item.
func (q *Queue) writeLease(ctx context.Context, item *entry, ttl time.Duration) (*Lease, error) {
	defer q.releaseEntry(item)
	start := time.Now()
	q.mu.Lock()
	rec, rev := item.record, item.rev
	q.mu.Unlock()
	rec.State = leased
	rec.TTL = ttl
	rec.Until = start.Add(ttl).UTC()
	rec.NotBefore = time.Time{}
	rec.Deliveries++
	seq, err := q.write(ctx, rec, rev)
	if err != nil {
		return nil, err
	}
	return &Lease{
		queue: q, item: bus.Item{ID: rec.ID, Body: slices.Clone(rec.Body)}, fence: seq, count: rec.Deliveries, ttl: ttl,
		rec: rec, rev: seq, end: start.Add(ttl),
	}, nil
}

func (q *Queue) releaseEntry(item *entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	item.busy = false
	q.notifyWaiters()
}

// Item implements bus.Lease.
func (l *Lease) Item() bus.Item { return l.item }

// Fence implements bus.Lease.
func (l *Lease) Fence() uint64 { return l.fence }

// Deliveries implements bus.Lease.
func (l *Lease) Deliveries() int { return l.count }

// Extend implements bus.Lease.
func (l *Lease) Extend(ctx context.Context) error {
	return l.writeNext(ctx, func(now time.Time, rec *record) { rec.Until = now.Add(l.ttl).UTC() })
}

// Ack implements bus.Lease.
func (l *Lease) Ack(ctx context.Context) error {
	return l.writeNext(ctx, func(_ time.Time, rec *record) { rec.State, rec.Body = done, nil })
}

// Nack implements bus.Lease.
func (l *Lease) Nack(ctx context.Context, delay time.Duration) error {
	return l.writeNext(ctx, func(now time.Time, rec *record) {
		delay = max(0, delay)
		rec.State = waiting
		rec.TTL = delay
		rec.Until = time.Time{}
		rec.NotBefore = now.Add(delay).UTC()
	})
}

// Bury implements bus.Lease.
func (l *Lease) Bury(ctx context.Context) error {
	return l.writeNext(ctx, func(_ time.Time, rec *record) { rec.State = dead })
}

// writeNext writes the item's next record if the lease is still valid.
func (l *Lease) writeNext(ctx context.Context, change func(now time.Time, rec *record)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue := l.queue
	if err := queue.store.CheckAlive(ctx); err != nil {
		return err
	}
	start := time.Now()
	queue.mu.Lock()
	entry := queue.items[l.item.ID]
	if entry == nil || entry.rev != l.rev || entry.busy || !start.Before(l.end) {
		queue.mu.Unlock()
		return fmt.Errorf("queue item %s: %w", l.item.ID, bus.ErrLeaseLost)
	}
	entry.busy = true
	queue.mu.Unlock()
	defer queue.releaseEntry(entry)

	next := l.rec
	change(start, &next)
	seq, err := queue.write(ctx, next, l.rev)
	if errors.Is(err, bus.ErrConflict) {
		return fmt.Errorf("queue item %s: %w", l.item.ID, bus.ErrLeaseLost)
	}
	if err != nil {
		return err
	}
	l.rec, l.rev = next, seq
	l.end = time.Time{} // the lease has ended
	if next.State == leased {
		l.end = start.Add(l.ttl)
	}
	return nil
}
