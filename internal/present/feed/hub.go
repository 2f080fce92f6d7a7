package feed

import (
	"context"
	"slices"
	"sync"

	"company/internal/company"
)

const (
	// ringSize is the number of newest items that a hub keeps while it has listeners. A listener that is further behind
	// reads the ledger.
	ringSize = 4096
	// idleSize is the number of items that a hub keeps without listeners, for the next one. It also limits how many are
	// not described yet, because each of those keeps the state of its task in memory.
	idleSize = 64
)

// Hub distributes the events of an office: those of the ledger, and items between two events. It decodes and describes
// each event once, when the first listener reads it. The zero value is the hub of an office without events.
//
// It is safe for concurrent use. Callers that add items never wait for a listener.
type Hub struct {
	mu        sync.Mutex
	ring      []*entry      // the newest entries, in the order of the feed
	first     uint64        // the position of ring[0] among all entries ever added
	last      uint64        // the newest event
	early     []*entry      // items that follow an event which has not arrived yet
	described int           // number of described entries at the front of the ring
	listeners int           // current listeners
	changed   chan struct{} // closed when an entry is added; nil if no listener waits
	reads     chan struct{} // holds a value for each listener that reads the ledger
}

// entry is one item of the feed. It holds its event until it is described.
type entry struct {
	seq   uint64 // 0 for an item between two events
	after uint64 // for such an item: the newest event at that time
	of    company.TaskID

	mu    sync.Mutex
	item  Item
	event *company.Event
	task  *company.Task // after the event
}

// describeOnce returns the item. The first call describes the event, and releases the event and its task.
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

// NewHub returns the hub of an office whose newest event has this number.
func NewHub(last uint64) *Hub { return &Hub{last: last} }

// MarkChanged adds the next event of the ledger, with the task after it.
func (h *Hub) MarkChanged(event company.Event, task *company.Task) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if event.Seq != h.last+1 { // a gap: listeners read the events between in the ledger
		h.first += uint64(len(h.ring))
		h.ring = nil
		h.described = 0
	}
	h.last = event.Seq
	h.add(&entry{seq: event.Seq, of: event.Task, event: &event, task: task})
	for len(h.early) > 0 && h.early[0].after <= h.last {
		h.add(h.early[0])
		h.early = h.early[1:]
	}
	h.wakeWaiting()
}

// Publish adds an item that happens after the event it.After, which may not have arrived yet. Only current listeners
// get it.
func (h *Hub) Publish(it Item) {
	it.SchemaVersion, it.encoded = 1, &encoding{}
	it.escapeText()
	item := &entry{after: it.After, of: it.Task, item: it}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.listeners == 0:
	case it.After > h.last && len(h.early) < ringSize:
		h.early = append(h.early, item)
	case it.After <= h.last:
		h.add(item)
		h.wakeWaiting()
	}
}

// add appends an entry to the ring and drops the oldest beyond its size. The caller holds mu.
func (h *Hub) add(e *entry) {
	h.ring = append(h.ring, e)
	room := ringSize
	if h.listeners == 0 {
		room = idleSize
	}
	if over := len(h.ring) - room; over > 0 {
		clear(h.ring[:over])
		h.first += uint64(over)
		h.ring = h.ring[over:]
		h.described = max(0, h.described-over)
	}
	for ; len(h.ring)-h.described > idleSize; h.described++ {
		h.ring[h.described].describeOnce()
	}
}

// wakeWaiting wakes all waiting listeners. The caller holds mu.
func (h *Hub) wakeWaiting() {
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
}

// beginRead waits for permission to read the ledger. Calling end passes it on.
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

// addListener registers a listener and returns the position after all existing entries. Earlier items between events
// are not sent to it.
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

// view holds the entries of a hub for a listener.
type view struct {
	entries []*entry
	place   uint64          // position of the first entry
	missing uint64          // if not 0, only the ledger has the events up to this one
	wait    <-chan struct{} // set if there are no entries; closed when one is added
}

// lookFrom returns the entries from a position on, for a listener that already has the events before next.
func (h *Hub) lookFrom(place, next uint64) view {
	h.mu.Lock()
	defer h.mu.Unlock()
	v := view{place: max(place, h.first)}
	oldest := h.last + 1
	if index := slices.IndexFunc(h.ring, func(e *entry) bool { return e.seq > 0 }); index >= 0 {
		oldest = h.ring[index].seq
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
