package nats

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"company/internal/bus"

	natsclient "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	queuePrefix  = "queue."
	queuePattern = "queue.>"
	maxItemID    = 150 // bytes
)

// Queue is a work queue in which every item is one subject that holds one
// record: the item and its state. Each move of an item (leased, extended, done,
// dead) is a compare-and-set on that record, and a lease's fence is the
// stream's sequence of the record that made it.
//
// This is not a JetStream consumer, whose delivery state is written behind
// (a kill -9 would give the same fence twice) and where a late ack by an old
// holder acks the new holder's delivery. Here both are settled by the same
// synced compare-and-set that the ledger stands on.
//
// One process holds the directory, so the view of all items below is complete:
// loaded at start, then moved along with each record written.
type Queue struct {
	bus    *Bus
	stream jetstream.Stream
	memory time.Duration // how long a done item is remembered

	mu      sync.Mutex
	items   map[string]*entry // by item id
	waiting []*entry          // by age, those that never were leased or were given back
	leased  map[string]*entry
	done    []*entry      // by time of their end, to forget them
	newest  time.Time     // of all items that were put: the order of work does not depend on a clock that is set
	changed chan struct{} // closed when something may have become free
}

var _ bus.Queue = (*Queue)(nil)

// state of an item.
type state string

const (
	waiting state = "waiting" // put, or given back; may be leased from NotBefore on
	leased  state = "leased"  // held until Until
	dead    state = "dead"    // buried, kept for people
	done    state = "done"    // acknowledged; kept for a while so that a repeated Put changes nothing
)

// record is the stored form of an item.
type record struct {
	ID         string        `json:"id"`
	State      state         `json:"state"`
	Put        time.Time     `json:"put"`
	Deliveries int           `json:"deliveries,omitempty"`
	NotBefore  time.Time     `json:"not_before,omitzero"`
	TTL        time.Duration `json:"ttl_ns,omitempty"`
	Until      time.Time     `json:"until,omitzero"`
	Body       []byte        `json:"body,omitempty"`
}

// entry is the view of an item. All fields are guarded by Queue.mu.
type entry struct {
	record
	rev  uint64    // the stream's sequence of the record
	free time.Time // from when it may be leased, by this process's monotonic clock
	busy bool      // a write is under way
}

func openQueue(ctx context.Context, b *Bus, memory time.Duration) (*Queue, error) {
	stream, err := b.ensureStream(ctx, jetstream.StreamConfig{
		Name: "QUEUE", Subjects: []string{queuePattern}, MaxMsgsPerSubject: 1, AllowMsgTTL: true,
	})
	if err != nil {
		return nil, err
	}
	q := &Queue{
		bus: b, stream: stream, memory: memory,
		items: map[string]*entry{}, leased: map[string]*entry{}, changed: make(chan struct{}),
	}
	last, err := b.lastMessage(ctx, stream, queuePattern)
	if errors.Is(err, bus.ErrNotFound) {
		return q, nil
	}
	if err != nil {
		return nil, err
	}
	err = b.scanMessages(ctx, stream, queuePattern, 0, last.Seq, func(m bus.Message) error {
		var rec record
		if err := json.Unmarshal(m.Data, &rec); err != nil {
			return fmt.Errorf("queue record %d: %w", m.Seq, err)
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		q.set(rec, m.Seq)
		return nil
	})
	return q, err
}

// set moves the view along. The caller holds mu.
func (q *Queue) set(rec record, rev uint64) {
	e := q.items[rec.ID]
	if e == nil {
		e = &entry{}
		q.items[rec.ID] = e
	} else {
		q.removeFromLists(e)
	}
	now := time.Now()
	if rec.Put.After(q.newest) {
		q.newest = rec.Put
	}
	e.record, e.rev, e.free = rec, rev, now
	switch rec.State {
	case waiting:
		// Delays are counted from when this process saw them, and are never
		// longer than asked for: a clock that jumps by a day neither ends nor
		// prolongs a lease.
		e.free = now.Add(min(max(0, rec.NotBefore.Sub(now)), rec.TTL))
		at, _ := slices.BinarySearchFunc(q.waiting, e, compareAge)
		q.waiting = slices.Insert(q.waiting, at, e)
	case leased:
		e.free = now.Add(min(max(0, rec.Until.Sub(now)), rec.TTL))
		q.leased[rec.ID] = e
	case done:
		q.done = append(q.done, e)
	}
	q.notifyWaiters()
}

// forgetItem forgets an item that the stream does not have. The caller holds mu.
func (q *Queue) forgetItem(id string) {
	if e := q.items[id]; e != nil {
		q.removeFromLists(e)
		delete(q.items, id)
	}
}

func (q *Queue) removeFromLists(e *entry) {
	switch e.State {
	case waiting:
		if at, ok := slices.BinarySearchFunc(q.waiting, e, compareAge); ok {
			q.waiting = slices.Delete(q.waiting, at, at+1)
		}
	case leased:
		delete(q.leased, e.ID)
	case done:
		if at := slices.Index(q.done, e); at >= 0 {
			q.done = slices.Delete(q.done, at, at+1)
		}
	}
}

func (q *Queue) notifyWaiters() {
	close(q.changed)
	q.changed = make(chan struct{})
}

func compareAge(a, b *entry) int {
	if c := a.Put.Compare(b.Put); c != 0 {
		return c
	}
	return strings.Compare(a.ID, b.ID)
}

// Put implements bus.Queue.
func (q *Queue) Put(ctx context.Context, item bus.Item) error {
	if item.ID == "" || len(item.ID) > maxItemID {
		return fmt.Errorf("put: an item's id has 1 to %d bytes: %w", maxItemID, bus.ErrNotAllowed)
	}
	if len(item.Body) > bus.MaxRecord {
		return fmt.Errorf("put %s: %w", item.ID, bus.ErrTooLarge)
	}
	if err := q.bus.checkAlive(ctx); err != nil {
		return err
	}
	q.mu.Lock()
	q.forgetDone()
	known := q.items[item.ID] != nil
	put := time.Now().UTC().Round(0)
	if !put.After(q.newest) {
		put = q.newest.Add(1)
	}
	q.newest = put
	q.mu.Unlock()
	if known {
		return nil
	}
	rec := record{ID: item.ID, State: waiting, Put: put, Body: item.Body}
	_, err := q.write(ctx, rec, 0)
	if errors.Is(err, bus.ErrConflict) {
		return nil // put before, by a concurrent caller, or just forgotten here
	}
	return err
}

// forgetDone drops done items whose records the server has dropped by now. The
// caller holds mu.
func (q *Queue) forgetDone() {
	limit := time.Now().Add(-q.memory)
	for len(q.done) > 0 && q.done[0].free.Before(limit) {
		q.forgetItem(q.done[0].ID)
	}
}

// write stores a record over the one with sequence expect and moves the view
// along. After a failure the view is read anew from the stream.
func (q *Queue) write(ctx context.Context, rec record, expect uint64) (uint64, error) {
	data, err := json.Marshal(rec)
	if err != nil {
		return 0, fmt.Errorf("queue item %s: %w", rec.ID, err)
	}
	var opts []jetstream.PublishOpt
	if rec.State == done {
		opts = append(opts, jetstream.WithMsgTTL(q.memory))
	}
	// A caller that goes away must not leave a write with unknown outcome: it
	// takes a millisecond, and the view would not know of it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishTimeout)
	defer cancel()
	seq, err := q.bus.publishMessage(ctx, &natsclient.Msg{Subject: subjectOf(rec.ID), Data: data}, expect, opts...)
	if err != nil {
		return 0, errors.Join(fmt.Errorf("queue item %s: %w", rec.ID, err), q.refreshItem(ctx, rec.ID))
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.set(rec, seq)
	return seq, nil
}

func (q *Queue) refreshItem(ctx context.Context, id string) error {
	m, err := q.bus.lastMessage(ctx, q.stream, subjectOf(id))
	var rec record
	if err == nil {
		err = json.Unmarshal(m.Data, &rec)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case errors.Is(err, bus.ErrNotFound):
		q.forgetItem(id)
	case err != nil:
		return err
	default:
		q.set(rec, m.Seq)
	}
	return nil
}

// subjectOf makes one token of any id.
func subjectOf(id string) string {
	return queuePrefix + base64.RawURLEncoding.EncodeToString([]byte(id))
}

// Depth implements bus.Queue. Items whose lease has expired wait.
func (q *Queue) Depth(ctx context.Context) (waiting, leased int, err error) {
	if err := q.bus.checkAlive(ctx); err != nil {
		return 0, 0, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting = len(q.waiting)
	now := time.Now()
	for _, e := range q.leased {
		if e.free.After(now) {
			leased++
		} else {
			waiting++
		}
	}
	return waiting, leased, nil
}

// Dead implements bus.Queue.
func (q *Queue) Dead(ctx context.Context) ([]bus.Item, error) {
	if err := q.bus.checkAlive(ctx); err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	var buried []*entry
	for _, e := range q.items {
		if e.State == dead {
			buried = append(buried, e)
		}
	}
	slices.SortFunc(buried, func(a, b *entry) int {
		if a.rev < b.rev {
			return -1
		}
		return 1
	})
	items := make([]bus.Item, len(buried))
	for i, e := range buried {
		items[i] = bus.Item{ID: e.ID, Body: slices.Clone(e.Body)}
	}
	return items, nil
}
