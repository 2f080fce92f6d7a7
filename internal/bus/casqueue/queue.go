package casqueue

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
)

const (
	// SubjectPrefix is the prefix of the subject of every item's record.
	SubjectPrefix = "queue."

	maxItemID    = 150 // bytes
	writeTimeout = 60 * time.Second
)

// Store keeps the newest record of each subject.
type Store interface {
	// WriteItem stores data as the subject's record, synced. It requires that the current record has
	// the sequence expect, or that there is no record and expect is 0. It returns the new sequence,
	// which is higher than all earlier ones of the store. If keep is above 0, the store drops the
	// record and its subject after that time. ErrConflict means that there is another record.
	WriteItem(ctx context.Context, subject string, data []byte, expect uint64, keep time.Duration) (uint64, error)
	// LastItem returns the subject's record, or ErrNotFound.
	LastItem(ctx context.Context, subject string) (bus.Message, error)
	// CheckAlive returns an error if no operation may start now.
	CheckAlive(ctx context.Context) error
	// WithClosing returns a context that also ends, with ErrClosed, when the store closes.
	WithClosing(ctx context.Context) (context.Context, func())
}

// Queue is the view of a store's items. It implements bus.Queue. Its methods are safe for concurrent
// use.
type Queue struct {
	store  Store
	memory time.Duration // how long a finished item is remembered

	mu      sync.Mutex
	items   map[string]*entry // by item id; finished items are only in the store
	waiting []*entry          // sorted by age; never leased, or returned
	leased  map[string]*entry
	putting map[string]chan struct{} // closed when the put of that id has finished
	// newest put time of all items; keeps the order of items if the clock is set back
	newest  time.Time
	changed chan struct{} // closed when an item may have become free
}

var _ bus.Queue = (*Queue)(nil)

// state of an item.
type state string

const (
	waiting state = "waiting" // put or returned; may be leased from NotBefore on
	leased  state = "leased"  // held until Until
	dead    state = "dead"    // buried, kept for people
	done    state = "done"    // acknowledged; kept for a while so that a repeated Put has no effect
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

// entry is the view of one item. Queue.mu guards all fields.
type entry struct {
	record
	rev  uint64    // the sequence of the record
	free time.Time // when it may be leased, by this process's monotonic clock
	busy bool      // a write is in progress
}

// New returns an empty view of a store. Finished items are remembered for the duration memory.
func New(store Store, memory time.Duration) *Queue {
	return &Queue{store: store, memory: memory, items: map[string]*entry{}, leased: map[string]*entry{},
		putting: map[string]chan struct{}{}, changed: make(chan struct{})}
}

// Load adds a stored record to the view. Call it for every record in the order of their sequences,
// before the queue is used.
func (q *Queue) Load(message bus.Message) error {
	var rec record
	if err := json.Unmarshal(message.Data, &rec); err != nil {
		return fmt.Errorf("queue record %d: %w", message.Seq, err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.set(rec, message.Seq)
	return nil
}

// set updates the view with a record. The caller holds mu.
func (q *Queue) set(rec record, rev uint64) {
	item := q.items[rec.ID]
	if item == nil {
		item = &entry{}
		q.items[rec.ID] = item
	} else {
		q.removeFromLists(item)
	}
	now := time.Now()
	if rec.Put.After(q.newest) {
		q.newest = rec.Put
	}
	if rec.State == done {
		delete(q.items, rec.ID)
	}
	item.record = rec
	item.rev = rev
	item.free = now
	switch rec.State {
	case waiting:
		// Delays start when this process sees them and are never longer than
		// requested, so a clock that jumps by a day neither ends nor extends a
		// lease.
		item.free = now.Add(min(max(0, rec.NotBefore.Sub(now)), rec.TTL))
		index, _ := slices.BinarySearchFunc(q.waiting, item, compareAge)
		q.waiting = slices.Insert(q.waiting, index, item)
	case leased:
		item.free = now.Add(min(max(0, rec.Until.Sub(now)), rec.TTL))
		q.leased[rec.ID] = item
	}
	q.notifyWaiters()
}

// forgetItem removes an item that is not in the store from the view. The caller holds mu.
func (q *Queue) forgetItem(id string) {
	if e := q.items[id]; e != nil {
		q.removeFromLists(e)
		delete(q.items, id)
	}
}

func (q *Queue) removeFromLists(item *entry) {
	switch item.State {
	case waiting:
		if index, ok := slices.BinarySearchFunc(q.waiting, item, compareAge); ok {
			q.waiting = slices.Delete(q.waiting, index, index+1)
		}
	case leased:
		delete(q.leased, item.ID)
	}
}

func (q *Queue) notifyWaiters() {
	close(q.changed)
	q.changed = make(chan struct{})
}

func compareAge(item, b *entry) int {
	if c := item.Put.Compare(b.Put); c != 0 {
		return c
	}
	return strings.Compare(item.ID, b.ID)
}

// Put implements bus.Queue.
func (q *Queue) Put(ctx context.Context, item bus.Item) error {
	if item.ID == "" || len(item.ID) > maxItemID {
		return fmt.Errorf("put: an item's id must have 1 to %d bytes: %w", maxItemID, bus.ErrNotAllowed)
	}
	if len(item.Body) > bus.MaxRecord {
		return fmt.Errorf("put %s: %w", item.ID, bus.ErrTooLarge)
	}
	if err := q.store.CheckAlive(ctx); err != nil {
		return err
	}
	put, isKnown, err := q.beginPut(ctx, item.ID)
	if isKnown || err != nil {
		return err
	}
	defer q.endPut(item.ID)
	rec := record{ID: item.ID, State: waiting, Put: put, Body: item.Body}
	_, err = q.write(ctx, rec, 0)
	if errors.Is(err, bus.ErrConflict) {
		return nil // put before, and done since
	}
	return err
}

// beginPut waits until no other call puts the item, and then reports whether the item is known. If it
// is not, beginPut blocks other puts of the item until endPut.
func (q *Queue) beginPut(ctx context.Context, id string) (put time.Time, isKnown bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.putting[id] != nil {
		other := q.putting[id]
		q.mu.Unlock()
		err := waitChange(ctx, 0, other)
		q.mu.Lock()
		if err != nil {
			return put, false, err
		}
	}
	if q.items[id] != nil {
		return put, true, nil
	}
	put = time.Now().UTC().Round(0)
	if !put.After(q.newest) {
		put = q.newest.Add(1)
	}
	q.newest = put
	q.putting[id] = make(chan struct{})
	return put, false, nil
}

func (q *Queue) endPut(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	close(q.putting[id])
	delete(q.putting, id)
}

// write stores a record over the one with sequence expect and updates the view. After an error it
// reloads the item from the store. The caller must be the only writer of the item: it has marked the
// item busy or is putting it. So no newer record can arrive before the view is updated.
func (q *Queue) write(ctx context.Context, rec record, expect uint64) (uint64, error) {
	data, err := json.Marshal(rec)
	if err != nil {
		return 0, fmt.Errorf("queue item %s: %w", rec.ID, err)
	}
	var keep time.Duration
	if rec.State == done {
		keep = q.memory
	}
	// Ignore the caller's cancellation. It would leave a write with an unknown
	// outcome and an outdated view, and the write takes only a millisecond.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	seq, err := q.store.WriteItem(ctx, subjectOf(rec.ID), data, expect, keep)
	if err != nil {
		return 0, errors.Join(fmt.Errorf("queue item %s: %w", rec.ID, err), q.refreshItem(ctx, rec.ID))
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.set(rec, seq)
	return seq, nil
}

func (q *Queue) refreshItem(ctx context.Context, id string) error {
	message, err := q.store.LastItem(ctx, subjectOf(id))
	var rec record
	if err == nil {
		err = json.Unmarshal(message.Data, &rec)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case errors.Is(err, bus.ErrNotFound):
		q.forgetItem(id)
	case err != nil:
		return err
	default:
		q.set(rec, message.Seq)
	}
	return nil
}

// subjectOf encodes any id as one token of a subject.
func subjectOf(id string) string {
	return SubjectPrefix + base64.RawURLEncoding.EncodeToString([]byte(id))
}

// Depth implements bus.Queue. Items with an expired lease count as waiting.
func (q *Queue) Depth(ctx context.Context) (waiting, leased int, err error) {
	if err := q.store.CheckAlive(ctx); err != nil {
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
	if err := q.store.CheckAlive(ctx); err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	var buried []*entry
	for _, item := range q.items {
		if item.State == dead {
			buried = append(buried, item)
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
