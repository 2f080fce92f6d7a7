package depproxy

import (
	"context"
	"maps"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
)

// Foreign is a package in a tree's lock files whose source is unknown to the base and to the registry.
type Foreign struct {
	company.Dependency
	HasNoDigest bool // the client accepts any file
}

// String returns a text for users.
func (f Foreign) String() string {
	if f.HasNoDigest {
		return f.Dependency.String() + ", without a digest"
	}
	return f.Dependency.String()
}

// FindForeign lists packages whose addresses or sources in a tree's lock files are unknown to the base's lock files
// and to the registries. Checks cannot detect them, because checks fetch from the registries. It does not ask a
// registry for packages that the tree's policy does not hold. Addresses that the tree's manifests set as overrides
// count like the base's.
func (s *Store) FindForeign(
	ctx context.Context, base, tree map[string][]byte, policy *Policy, overridden ...ecosystem.Address,
) (out []Foreign, err error) {
	for _, addresser := range catalog.Of[ecosystem.Addresser]() {
		known := map[ecosystem.Address]bool{}
		for _, a := range parseAddresses(addresser, base) {
			known[a] = true
		}
		for _, a := range overridden {
			known[a] = true
		}
		var asked []company.Dependency // in the order of the files
		further := map[company.Dependency][]ecosystem.Address{}
		for _, address := range parseAddresses(addresser, tree) {
			if known[address] {
				continue
			}
			known[address] = true
			if further[address.Dependency] == nil {
				asked = append(asked, address.Dependency)
			}
			further[address.Dependency] = append(further[address.Dependency], address)
		}
		for _, dependency := range asked {
			isForeign, err := s.hasForeign(ctx, dependency, further[dependency], policy)
			if err != nil {
				return nil, err
			}
			if isForeign {
				isWithout := func(a ecosystem.Address) bool { return strings.HasPrefix(a.At, ecosystem.NoDigest) }
				out = append(out, Foreign{dependency, slices.ContainsFunc(further[dependency], isWithout)})
			}
		}
	}
	for _, e := range catalog.Of[ecosystem.SourceTeller]() {
		for _, d := range s.findForeignSources(e, base, tree, policy) {
			out = append(out, Foreign{Dependency: d})
		}
	}
	digests, err := s.findForeignDigests(ctx, base, tree, policy)
	for _, d := range digests {
		out = append(out, Foreign{Dependency: d})
	}
	seen := map[company.Dependency]bool{}
	return slices.DeleteFunc(out, func(foreign Foreign) bool {
		had := seen[canonicalDependency(foreign.Dependency)]
		seen[canonicalDependency(foreign.Dependency)] = true
		return had
	}), err
}

// findForeignSources lists the packages whose source in a tree's lock files of one kind is not in the base's. A
// package of the base must keep its source, because another index may have any file under its name. A package that
// was added on request may also come from the registry.
func (s *Store) findForeignSources(
	sourceTeller ecosystem.SourceTeller, base, tree map[string][]byte, policy *Policy,
) (out []company.Dependency) {
	every, of := map[string]bool{}, map[packageKey]map[string]bool{}
	for _, one := range parseSources(sourceTeller, base) {
		key := keyOf(one.Dependency)
		if every[one.From] = true; of[key] == nil {
			of[key] = map[string]bool{}
		}
		of[key][one.From] = true
	}
	for _, one := range parseSources(sourceTeller, tree) {
		had := of[keyOf(one.Dependency)]
		isUsual := one.From == "" || s.isOwnIndex(one.Dependency.Ecosystem, one.From)
		switch {
		case one.Dependency.Name == "": // FindUnreadable names the file
		case had[one.From], had == nil && (isUsual || every[one.From]), isUsual && policy.isAskedFor(one.Dependency):
		default:
			out = append(out, one.Dependency)
		}
	}
	return out
}

func keyOf(d company.Dependency) packageKey {
	return packageKey{d.Ecosystem, canonicalName(d.Ecosystem, d.Name)}
}

// isOwnIndex reports whether a source is one of the operator's own indexes.
func (s *Store) isOwnIndex(kind, from string) bool {
	isSame := func(e ecosystem.Endpoint) bool { return e.URL == from }
	return slices.ContainsFunc(s.upstreams.Registries[kind].Endpoints, isSame)
}

// parseSources lists the sources of packages in the lock files of one kind.
func parseSources(sourceTeller ecosystem.SourceTeller, files map[string][]byte) (all []ecosystem.Source) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if sourceTeller.IsLockFile(name) && len(files[name]) <= MaxLockFile {
			all = append(all, sourceTeller.ParseSources(name, files[name])...)
		}
	}
	return all
}

func parseAddresses(addresser ecosystem.Addresser, files map[string][]byte) (all []ecosystem.Address) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if addresser.IsLockFile(name) && len(files[name]) <= MaxLockFile {
			all = append(all, addresser.ParseAddresses(files[name])...)
		}
	}
	return all
}

// hasForeign reports whether the registry lacks a version, or lacks it at one of these addresses.
func (s *Store) hasForeign(
	ctx context.Context, dependency company.Dependency, all []ecosystem.Address, policy *Policy,
) (bool, error) {
	finder, ok := findRegistry[ecosystem.AddressFinder](dependency.Ecosystem)
	if _, err := s.clientOf(dependency); err != nil || !ok || !policy.Allows(dependency) {
		return true, nil
	}
	fetcher := s.fetcherOf(dependency.Ecosystem, nil)
	defer fetcher.endRequest()
	var wanted []string
	for _, a := range all {
		wanted = append(wanted, a.At, a.Digest)
	}
	at, err := finder.FindAddresses(ctx, fetcher, dependency, wanted)
	if notFound(err) {
		return true, nil
	}
	foreign := func(a ecosystem.Address) bool {
		return !slices.Contains(at, a.At) && (a.Digest == "" || !slices.Contains(at, a.Digest))
	}
	return slices.ContainsFunc(all, foreign), s.explainLookup(ctx, dependency, err)
}
