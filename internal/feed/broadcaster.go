package feed

import "sync"

// Broadcaster passes on what happens in runs while it happens.
type Broadcaster struct {
	mu   sync.Mutex
	subs map[chan Item]struct{}
}

// Subscribe gives a channel of what happens from now on, and a function that
// ends the subscription. A slow subscriber misses items.
func (b *Broadcaster) Subscribe() (<-chan Item, func()) {
	ch := make(chan Item, 256)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.subs == nil {
		b.subs = map[chan Item]struct{}{}
	}
	b.subs[ch] = struct{}{}
	return ch, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.subs, ch)
	}
}

// Publish passes an item on to all subscribers.
func (b *Broadcaster) Publish(it Item) {
	it.SchemaVersion = 1
	b.mu.Lock()
	defer b.mu.Unlock()
	for ch := range b.subs {
		select {
		case ch <- it:
		default:
		}
	}
}
