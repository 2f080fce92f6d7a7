package depproxy

import (
	"context"

	"company/internal/company"
	"company/internal/ecosystem"
)

// FetchExact returns a package file that no project lists, such as a program that the operator names. path is its
// address below the registry of a kind, and digest proves it.
func (s *Store) FetchExact(
	ctx context.Context, kind, path string, digest ecosystem.Digest,
) (ecosystem.Cached, error) {
	endpoint := s.upstreams.Registries[kind].EndpointOf("")
	if endpoint.URL == "" {
		return nil, company.E(company.EImage, "there is no registry of "+kind)
	}
	fetcher := s.fetcherOf(kind, nil)
	defer fetcher.endRequest()
	return fetcher.Get(ctx, ecosystem.Fetch{URL: endpoint.URL + "/" + path, Immutable: true, Digest: digest})
}
