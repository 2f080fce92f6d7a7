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
	// SubjectPrefix begins the subject of every item's record.
	SubjectPrefix = "queue."

	maxItemID    = 150 // bytes
	writeTimeout = 60 * time.Second
)

// Store keeps the newest record of each subject.
type Store interface {
	// WriteItem stores data as the subject's record, synced, if the sequence of
	// the one that is there is expect (0: there is none), and returns the new
	// sequence, which is higher than all that the store gave before. With keep
	// above 0 the store forgets the record, and with it the subject, after that
	// time. ErrConflict: there is another record.
	WriteItem(ctx context.Context, subject string, data []byte, expect uint64, keep time.Duration) (uint64, error)
	// LastItem is the subject's record; ErrNotFound when it has none.
	LastItem(ctx context.Context, subject string) (bus.Message, error)
	// CheckAlive tells why no operation may start now.
	CheckAlive(ctx context.Context) error
	// WithClosing is ctx that ends with ErrClosed when the store closes.
	WithClosing(ctx context.Context) (context.Context, func())
}

// Queue is the items of a store. It implements bus.Queue. Its methods may be
// called by many goroutines.
type Queue struct {
	store  Store
	memory time.Duration // how long a done item is remembered

	mu      sync.Mutex
	items   map[string]*entry // by item id, without those that are done: the store alone knows these
	waiting []*entry          // by age, those that never were leased or were given back
	leased  map[string]*entry
	putting map[string]chan struct{} // closed when the put of that id has its answer
	newest  time.Time                // of all items that were put: the order of work does not depend on a clock that is set
	changed chan struct{}            // closed when something may have become free
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
	rev  uint64    // the sequence of the record
	free time.Time // from when it may be leased, by this process's monotonic clock
	busy bool      // a write is under way
}

// New is an empty view of a store in which a done item is remembered for memory.
func New(store Store, memory time.Duration) *Queue {
	return &Queue{store: store, memory: memory, items: map[string]*entry{}, leased: map[string]*entry{},
		putting: map[string]chan struct{}{}, changed: make(chan struct{})}
}

// Load adds a record that the store holds to the view. It is called for each of
// them, in the order of their sequences, before the queue is used.
func (q *Queue) Load(m bus.Message) error {
	var rec record
	if err := json.Unmarshal(m.Data, &rec); err != nil {
		return fmt.Errorf("queue record %d: %w", m.Seq, err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.set(rec, m.Seq)
	return nil
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
	if rec.State == done {
		delete(q.items, rec.ID)
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
	}
	q.notifyWaiters()
}

// forgetItem forgets an item that the store does not have. The caller holds mu.
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

// beginPut waits until no other call puts the item, and reports whether the item is known
// then. If it is not, no other call puts it before endPut.
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

// write stores a record over the one with sequence expect and moves the view
// along. After a failure the view is read anew from the store. The caller is the
// only writer of the item: it has marked the item busy, or puts it. So the record
// is still the newest one when the view gets it.
func (q *Queue) write(ctx context.Context, rec record, expect uint64) (uint64, error) {
	data, err := json.Marshal(rec)
	if err != nil {
		return 0, fmt.Errorf("queue item %s: %w", rec.ID, err)
	}
	var keep time.Duration
	if rec.State == done {
		keep = q.memory
	}
	// A caller that goes away must not leave a write with unknown outcome: it
	// takes a millisecond, and the view would not know of it.
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
	m, err := q.store.LastItem(ctx, subjectOf(id))
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
	return SubjectPrefix + base64.RawURLEncoding.EncodeToString([]byte(id))
}

// Depth implements bus.Queue. Items whose lease has expired wait.
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
