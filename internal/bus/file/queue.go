package file

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"company/internal/bus"
)

// Queue keeps each item in a file until it is settled. Leases are only in memory. It implements
// bus.Queue.
type Queue struct {
	bus *Bus
	ttl time.Duration

	mu      sync.Mutex
	items   map[string]*item // by id
	changed chan struct{}    // closed when an item may have become free
}

// item is an item of the queue. Queue.mu guards what changes.
type item struct {
	bus.Item
	seq   uint64    // of its record
	free  time.Time // when it may be leased
	lease *Lease    // the newest one; nil after it was returned
}

// Lease gives one holder the exclusive use of an item. It implements bus.Lease.
type Lease struct {
	queue *Queue
	item  *item
}

var (
	_ bus.Queue = (*Queue)(nil)
	_ bus.Lease = (*Lease)(nil)
)

func newQueue(b *Bus, ttl time.Duration) *Queue {
	return &Queue{bus: b, ttl: ttl, items: map[string]*item{}, changed: make(chan struct{})}
}

// loadItems adds the items that the files hold.
func (q *Queue) loadItems(ctx context.Context) error {
	for subject := range q.bus.subjects {
		if !strings.HasPrefix(subject, bus.ItemPrefix) {
			continue
		}
		id, err := bus.ItemID(subject)
		if err != nil {
			return fmt.Errorf("open the queue: %w", err)
		}
		_, err = q.bus.readFrom(ctx, subject, 0, 0, func(m bus.Message) error {
			q.items[id] = &item{Item: bus.Item{ID: id, Body: m.Data}, seq: m.Seq}
			return nil
		})
		if err != nil {
			return fmt.Errorf("open the queue: %w", err)
		}
	}
	return nil
}

// Put implements bus.Queue.
func (q *Queue) Put(ctx context.Context, put bus.Item) error {
	if err := bus.CheckItem(put); err != nil {
		return err
	}
	subject := bus.ItemSubject(put.ID)
	_, err := q.bus.write(ctx, subject, func() (uint64, error) {
		seq, err := q.bus.appendRecord(subject, put.Body, 0, "")
		if errors.Is(err, bus.ErrConflict) {
			return 0, nil // it is in the queue
		}
		if err != nil {
			return 0, err
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		q.items[put.ID] = &item{Item: bus.Item{ID: put.ID, Body: slices.Clone(put.Body)}, seq: seq}
		q.notifyWaiters()
		return seq, nil
	})
	if err != nil {
		return fmt.Errorf("put %s: %w", put.ID, err)
	}
	return nil
}

// Lease implements bus.Queue.
func (q *Queue) Lease(ctx context.Context) (bus.Lease, error) {
	ctx, cancel := q.bus.withClosing(ctx)
	defer cancel()
	for {
		if err := q.bus.checkAlive(ctx); err != nil {
			return nil, err
		}
		lease, wait, changed := q.leaseOldest()
		if lease != nil {
			return lease, nil
		}
		if err := waitChange(ctx, wait, changed); err != nil {
			return nil, err
		}
	}
}

// leaseOldest leases the oldest free item. If there is none, it returns how long to wait (0 means until
// a change).
func (q *Queue) leaseOldest() (lease *Lease, wait time.Duration, changed <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var oldest *item
	for _, it := range q.items {
		if left := time.Until(it.free); left > 0 {
			if wait == 0 || left < wait {
				wait = left
			}
		} else if oldest == nil || it.seq < oldest.seq {
			oldest = it
		}
	}
	if oldest == nil {
		return nil, wait, q.changed
	}
	lease = &Lease{q, oldest}
	oldest.lease, oldest.free = lease, time.Now().Add(q.ttl)
	return lease, 0, nil
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

// notifyWaiters wakes callers of Lease. The caller holds mu.
func (q *Queue) notifyWaiters() {
	close(q.changed)
	q.changed = make(chan struct{})
}

// Depth implements bus.Queue.
func (q *Queue) Depth(ctx context.Context) (waiting, leased int, err error) {
	if err := q.bus.checkAlive(ctx); err != nil {
		return 0, 0, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, it := range q.items {
		if time.Until(it.free) > 0 {
			leased++
		}
	}
	return len(q.items) - leased, leased, nil
}

// Item implements bus.Lease.
func (l *Lease) Item() bus.Item { return bus.Item{ID: l.item.ID, Body: slices.Clone(l.item.Body)} }

// Extend implements bus.Lease.
func (l *Lease) Extend(ctx context.Context) error {
	return l.changeItem(ctx, func() { l.item.free = time.Now().Add(l.queue.ttl) })
}

// Nack implements bus.Lease.
func (l *Lease) Nack(ctx context.Context, delay time.Duration) error {
	return l.changeItem(ctx, func() { l.item.lease, l.item.free = nil, time.Now().Add(delay) })
}

// Ack implements bus.Lease.
func (l *Lease) Ack(ctx context.Context) error {
	q, subject := l.queue, bus.ItemSubject(l.item.ID)
	_, err := q.bus.write(ctx, subject, func() (uint64, error) {
		if err := l.changeItem(ctx, func() { delete(q.items, l.item.ID) }); err != nil {
			return 0, err
		}
		err := q.bus.removeSubject(subject)
		if err != nil {
			q.mu.Lock()
			defer q.mu.Unlock()
			q.items[l.item.ID] = l.item
		}
		return 0, err
	})
	return err
}

// changeItem changes the item if the lease still holds it.
func (l *Lease) changeItem(ctx context.Context, change func()) error {
	q := l.queue
	if err := q.bus.checkAlive(ctx); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.items[l.item.ID] != l.item || l.item.lease != l || time.Until(l.item.free) <= 0 {
		return fmt.Errorf("queue item %s: %w", l.item.ID, bus.ErrLeaseLost)
	}
	change()
	q.notifyWaiters()
	return nil
}
