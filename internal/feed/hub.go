package feed

import (
	"context"
	"slices"
	"sync"

	"company/internal/company"
)

const (
	// ringSize is how many of the newest items a hub keeps while it has listeners: one
	// that is further behind reads the ledger.
	ringSize = 4096
	// idleSize is how many it keeps without listeners, for the next one, and how many
	// at most are not described yet: each of them holds its task as it was.
	idleSize = 64
)

// Hub passes on what happens in an office: each event of the ledger, and what happens
// between two events. It decodes and describes an event once, when the first listener
// wants it, however many listen. The zero value is the hub of an office without a past.
//
// It is safe for concurrent use. What brings something waits for no listener.
type Hub struct {
	mu        sync.Mutex
	ring      []*entry      // the newest, in the order of the feed
	first     uint64        // the place of ring[0] among all entries ever
	last      uint64        // the newest event
	early     []*entry      // what happens after events that have not come yet
	described int           // entries at the front of the ring that are described
	listeners int           // present ones
	changed   chan struct{} // closed when something comes; nil: nothing waits
	reads     chan struct{} // holds a value for each listener that reads the ledger
}

// entry is one item of the feed. Until it is described it holds its event.
type entry struct {
	seq   uint64 // 0: it happens between two events
	after uint64 // of such a one: the newest event at that time
	of    company.TaskID

	mu    sync.Mutex
	item  Item
	event *company.Event
	task  *company.Task // after the event
}

// describeOnce is the item. The event and the task are let go.
func (e *entry) describeOnce() Item {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.event != nil {
		e.item = Describe(*e.event, e.task)
		e.item.encoded = &encoding{}
		e.event, e.task = nil, nil
	}
	return e.item
}

// NewHub is the hub of an office whose newest event has this number.
func NewHub(last uint64) *Hub { return &Hub{last: last} }

// MarkChanged takes the next event of the ledger, and the task after it.
func (h *Hub) MarkChanged(e company.Event, t *company.Task) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.Seq != h.last+1 { // the ledger has what lies between
		h.first, h.ring, h.described = h.first+uint64(len(h.ring)), nil, 0
	}
	h.last = e.Seq
	h.add(&entry{seq: e.Seq, of: e.Task, event: &e, task: t})
	for len(h.early) > 0 && h.early[0].after <= h.last {
		h.add(h.early[0])
		h.early = h.early[1:]
	}
	h.wakeWaiting()
}

// Publish takes what happens between two events: after it.After, which may not have
// come yet. It is for the present listeners.
func (h *Hub) Publish(it Item) {
	it.SchemaVersion, it.encoded = 1, &encoding{}
	it.escapeText()
	e := &entry{after: it.After, of: it.Task, item: it}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.listeners == 0:
	case it.After > h.last && len(h.early) < ringSize:
		h.early = append(h.early, e)
	case it.After <= h.last:
		h.add(e)
		h.wakeWaiting()
	}
}

// add puts an entry into the ring, and takes out what has no room. The caller holds mu.
func (h *Hub) add(e *entry) {
	h.ring = append(h.ring, e)
	room := ringSize
	if h.listeners == 0 {
		room = idleSize
	}
	if over := len(h.ring) - room; over > 0 {
		clear(h.ring[:over])
		h.first, h.ring, h.described = h.first+uint64(over), h.ring[over:], max(0, h.described-over)
	}
	for ; len(h.ring)-h.described > idleSize; h.described++ {
		h.ring[h.described].describeOnce()
	}
}

// wakeWaiting wakes what waits. The caller holds mu.
func (h *Hub) wakeWaiting() {
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
}

// beginRead waits for its turn to read the ledger, which end gives to the next one.
func (h *Hub) beginRead(ctx context.Context) (end func(), err error) {
	h.mu.Lock()
	if h.reads == nil {
		h.reads = make(chan struct{}, pastReads)
	}
	reads := h.reads
	h.mu.Unlock()
	select {
	case reads <- struct{}{}:
		return func() { <-reads }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// addListener counts a listener, and gives the place behind all entries there are: what
// happened between two events before it is not for this one.
func (h *Hub) addListener() (joined uint64, end func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listeners++
	return h.first + uint64(len(h.ring)), func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.listeners--; h.listeners == 0 {
			h.early = nil
		}
	}
}

// view is what a hub has for a listener.
type view struct {
	entries []*entry
	place   uint64          // of the first of them
	missing uint64          // not 0: the ledger alone has the events up to this one
	wait    <-chan struct{} // without entries: closed when some come
}

// lookFrom gives what there is from a place on, for a listener that has had the events
// before next.
func (h *Hub) lookFrom(place, next uint64) view {
	h.mu.Lock()
	defer h.mu.Unlock()
	v := view{place: max(place, h.first)}
	oldest := h.last + 1
	if at := slices.IndexFunc(h.ring, func(e *entry) bool { return e.seq > 0 }); at >= 0 {
		oldest = h.ring[at].seq
	}
	if next < oldest {
		v.missing = oldest - 1
		return v
	}
	if v.entries = slices.Clone(h.ring[min(v.place-h.first, uint64(len(h.ring))):]); len(v.entries) == 0 {
		if h.changed == nil {
			h.changed = make(chan struct{})
		}
		v.wait = h.changed
	}
	return v
}
