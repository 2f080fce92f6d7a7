package depproxy

import (
	"context"
	"net/http"
	"sync"

	"company/internal/company"
	"company/internal/ecosystem"
)

// FetchAhead brings package files into the cache that a client is about to ask for, as
// far as a policy has them, and returns when all are there or ctx ends. What cannot be
// had is left to the client's own request, which tells why.
func (s *Store) FetchAhead(ctx context.Context, p *Policy, all []company.Dependency) {
	if p == nil {
		return
	}
	h := &handler{store: s, HandlerOptions: HandlerOptions{Policy: p}}
	next := make(chan company.Dependency)
	var workers sync.WaitGroup
	for range min(maxDownloads, len(all)) {
		workers.Go(func() {
			for d := range next {
				_ = company.Guard("fetching a package ahead", func() error { return h.fetchAhead(ctx, d) })
			}
		})
	}
	for _, d := range all {
		select {
		case next <- d:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	workers.Wait()
}

// fetchAhead does what the request of a client for a package file does.
func (h *handler) fetchAhead(ctx context.Context, d company.Dependency) error {
	e, ok := findRegistry[ecosystem.Locator](d.Ecosystem)
	if _, locked := h.Policy.lockedFile(d); !ok || !locked || !h.store.upstreams.Serves(d.Ecosystem) {
		return nil
	}
	path := e.PackagePath(d)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/"+d.Ecosystem+"/"+path, nil)
	if err != nil {
		return err
	}
	q := &request{handler: h, r: r, registry: e.Registry()}
	f := h.store.fetcherOf(d.Ecosystem, nil)
	defer f.endRequest()
	_, err = e.Serve(ctx, ecosystem.Request{Fetcher: f, Gate: q, Path: path})
	return err
}
