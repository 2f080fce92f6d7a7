package depproxy

import (
	"context"
	"sync"

	"company/internal/ecosystem"
)

const (
	// largeText is the size from which a list or a description is read in turn.
	largeText = 4 << 20
	// maxParsed bounds such texts that are read at a time, over all runs. A client asks for 64 at
	// once, and one that is read takes up to thirty times its size.
	maxParsed = ecosystem.MaxMetadata
)

// fetcher is the store as the protocol of one kind of registry sees it, for one request.
type fetcher struct {
	store  *Store
	kind   string
	charge func(bytes int64) // gets the size of each file that comes into the cache for the request; may be nil

	mu   sync.Mutex
	held int64 // of Store.parsed
}

// fetcherOf begins a request. Its endRequest must be called.
func (s *Store) fetcherOf(kind string, charge func(bytes int64)) *fetcher {
	return &fetcher{store: s, kind: kind, charge: charge}
}

// endRequest gives back what a request has held.
func (f *fetcher) endRequest() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.store.parsed.Release(f.held)
	f.held = 0
}

// holdRoom waits for the turn of a large text. Of several texts of a request the largest counts. It
// waits with nothing in hand: two requests that wait for each other would wait for ever.
func (f *fetcher) holdRoom(ctx context.Context, size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	size = min(size, maxParsed)
	if size < largeText || f.held >= size {
		return nil
	}
	f.store.parsed.Release(f.held)
	f.held = 0
	if err := f.store.parsed.Acquire(ctx, size); err != nil {
		return context.Cause(ctx)
	}
	f.held = size
	return nil
}

// Upstream is the registry.
func (f *fetcher) Upstream() ecosystem.Upstream { return f.store.upstreams.Registries[f.kind] }

// Read gives the whole of a small file.
func (f *fetcher) Read(ctx context.Context, w ecosystem.Fetch) (text []byte, media string, err error) {
	text, o, err := f.store.read(ctx, order{w, f.kind, f.charge}, f.holdRoom)
	if err != nil {
		return nil, "", err
	}
	return text, o.meta.Type, nil
}

// Get brings a file into the cache.
func (f *fetcher) Get(ctx context.Context, w ecosystem.Fetch) (ecosystem.Cached, error) {
	if w.Limit == 0 {
		w.Limit = ecosystem.MaxPackage
	}
	return f.store.get(ctx, order{w, f.kind, f.charge})
}
