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
		var asked []company.Dependency // in the order of the files
		further := map[company.Dependency][]ecosystem.Address{}
		for _, a := range parseAddresses(e, tree) {
			if known[a] {
				continue
			}
			known[a] = true
			if further[a.Dependency] == nil {
				asked = append(asked, a.Dependency)
			}
			further[a.Dependency] = append(further[a.Dependency], a)
		}
		for _, d := range asked {
			isForeign, err := s.hasForeign(ctx, d, further[d], p)
			if err != nil {
				return nil, err
			}
			if isForeign {
				out = append(out, d)
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

// hasForeign reports whether the registry does not have a version at one of these addresses, or
// not at all.
func (s *Store) hasForeign(ctx context.Context, d company.Dependency, all []ecosystem.Address, p *Policy) (bool, error) {
	e, ok := findRegistry[ecosystem.AddressFinder](d.Ecosystem)
	if !ok || !p.Allows(d) {
		return true, nil
	}
	f := s.fetcherOf(d.Ecosystem, nil)
	defer f.endRequest()
	at, err := e.FindAddresses(ctx, f, d)
	if notFound(err) {
		return true, nil
	}
	foreign := func(a ecosystem.Address) bool {
		return !slices.Contains(at, a.At) && (a.Digest == "" || !slices.Contains(at, a.Digest))
	}
	return slices.ContainsFunc(all, foreign), s.explainLookup(ctx, d, err)
}
