package depproxy

import (
	"context"
	"maps"
	"slices"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
)

// FindForeign lists packages that a tree's lock files have from other addresses than the base's
// lock files and the registries. No check can tell: what it runs comes from the registries. Of
// packages that the policy of the tree does not hold no registry is asked.
func (s *Store) FindForeign(ctx context.Context, base, tree map[string][]byte, p *Policy) (out []company.Dependency, err error) {
	for _, e := range catalog.Of[ecosystem.Addresser]() {
		known := map[ecosystem.Address]bool{}
		for _, a := range parseAddresses(e, base) {
			known[a] = true
		}
		for _, a := range parseAddresses(e, tree) {
			if known[a] {
				continue
			}
			known[a] = true
			isForeign, err := s.isForeign(ctx, a, p)
			if err != nil {
				return nil, err
			}
			if isForeign {
				out = append(out, a.Dependency)
			}
		}
	}
	return out, nil
}

func parseAddresses(e ecosystem.Addresser, files map[string][]byte) (all []ecosystem.Address) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if e.IsLockFile(name) && len(files[name]) <= MaxLockFile {
			all = append(all, e.ParseAddresses(files[name])...)
		}
	}
	return all
}

// isForeign reports whether the registry has a package elsewhere, or not at all.
func (s *Store) isForeign(ctx context.Context, a ecosystem.Address, p *Policy) (bool, error) {
	e, ok := findRegistry[ecosystem.AddressFinder](a.Dependency.Ecosystem)
	if !ok || !p.Allows(a.Dependency) {
		return true, nil
	}
	f := s.fetcherOf(a.Dependency.Ecosystem, nil)
	defer f.endRequest()
	at, err := e.FindAddress(ctx, f, a.Dependency)
	if notFound(err) {
		return true, nil
	}
	return at != a.At, s.explainLookup(ctx, a.Dependency, err)
}
