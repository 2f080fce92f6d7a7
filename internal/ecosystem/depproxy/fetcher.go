package depproxy

import (
	"context"
	"sync"

	"company/internal/ecosystem"
)

const (
	// largeText is the size in bytes from which lists and descriptions wait for memory.
	largeText = 4 << 20
	// maxParsed limits the total bytes of such texts that are read at a time, over all runs. A client requests 64 at
	// once, and reading one takes up to thirty times its size.
	maxParsed = ecosystem.MaxMetadata
)

// fetcher gives the protocol of one kind of registry access to the store, for one request.
type fetcher struct {
	store  *Store
	kind   string
	charge func(bytes int64) // receives the size of each file that is downloaded for the request; may be nil

	mu   sync.Mutex
	held int64 // bytes held of Store.parsed
}

// fetcherOf begins a request. The caller must call endRequest.
func (s *Store) fetcherOf(kind string, charge func(bytes int64)) *fetcher {
	return &fetcher{store: s, kind: kind, charge: charge}
}

// endRequest releases the memory that a request holds.
func (f *fetcher) endRequest() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.store.parsed.Release(f.held)
	f.held = 0
}

// holdRoom waits until there is memory for a large text. A request holds the size of its largest text. It releases
// its share before it waits, so that two requests cannot wait for each other forever.
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

// Upstream returns the registry.
func (f *fetcher) Upstream() ecosystem.Upstream { return f.store.upstreams.Registries[f.kind] }

// Read returns the content and media type of a small file.
func (f *fetcher) Read(ctx context.Context, w ecosystem.Fetch) (text []byte, media string, err error) {
	text, cacheEntry, err := f.store.read(ctx, order{w, f.kind, f.charge}, f.holdRoom)
	if err != nil {
		return nil, "", err
	}
	return text, cacheEntry.meta.Type, nil
}

// Get fetches a file into the cache.
func (f *fetcher) Get(ctx context.Context, fetch ecosystem.Fetch) (ecosystem.Cached, error) {
	if fetch.Limit == 0 {
		fetch.Limit = ecosystem.MaxPackage
	}
	return f.store.get(ctx, order{fetch, f.kind, f.charge})
}
