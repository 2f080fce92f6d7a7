package depproxy

import (
	"context"
	"net/http"
	"sync"

	"company/internal/company"
	"company/internal/ecosystem"
)

// FetchAhead fetches package files that a client will soon request, if the policy allows them. It returns when all
// are done or ctx ends. It ignores failures, because the client's own request reports the reason.
func (s *Store) FetchAhead(ctx context.Context, policy *Policy, dependencies []company.Dependency) {
	if policy == nil {
		return
	}
	h := &handler{store: s, HandlerOptions: HandlerOptions{Policy: policy}}
	next := make(chan company.Dependency)
	var workers sync.WaitGroup
	for range min(maxDownloads, len(dependencies)) {
		workers.Go(func() {
			for d := range next {
				_ = company.Guard("fetching a package ahead", func() error { return h.fetchAhead(ctx, d) })
			}
		})
	}
	for _, dependency := range dependencies {
		select {
		case next <- dependency:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	workers.Wait()
}

// fetchAhead does the same as a client's request for a package file.
func (h *handler) fetchAhead(ctx context.Context, dependency company.Dependency) error {
	locator, ok := findRegistry[ecosystem.Locator](dependency.Ecosystem)
	if _, locked := h.Policy.lockedFile(dependency); !ok || !locked || !h.store.upstreams.Serves(dependency.Ecosystem) {
		return nil
	}
	path := locator.PackagePath(dependency)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/"+dependency.Ecosystem+"/"+path, nil)
	if err != nil {
		return err
	}
	q := &request{handler: h, r: r, registry: locator.Registry()}
	fetcher := h.store.fetcherOf(dependency.Ecosystem, nil)
	defer fetcher.endRequest()
	_, err = locator.Serve(ctx, ecosystem.Request{Fetcher: fetcher, Gate: q, Path: path})
	return err
}
