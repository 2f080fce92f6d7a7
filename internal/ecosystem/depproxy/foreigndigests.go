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

// findForeignDigests lists the versions in a tree's lock files with suspicious digests. A digest is suspicious if it
// differs from the base's for the same file, or if it should be the registry's and is not. A missing digest is
// suspicious if the base has digests of the package.
func (s *Store) findForeignDigests(
	ctx context.Context, base, tree map[string][]byte, policy *Policy,
) (out []company.Dependency, err error) {
	for _, fileDigester := range catalog.Of[ecosystem.FileDigester]() {
		had, wanted := digestSets{}, map[string]digestWants{}
		for file, versions := range readFileDigests(fileDigester, base) {
			wanted[file] = findWants(versions)
			for dependency, version := range versions {
				had.addAll(dependency, version)
			}
		}
		foreign, further := digestSets{}, digestSets{}
		for file, versions := range readFileDigests(fileDigester, tree) {
			forms := versions.listForms()
			for dependency, version := range versions {
				toAsk, isForeign := compareDigests(version, had, dependency, forms, policy)
				if isForeign || len(version.all) == 0 && wanted[file].wants(dependency) {
					foreign.addAll(dependency, version)
				} else if len(toAsk) > 0 {
					further.addAll(dependency, versionDigests{version.written, toAsk})
				}
			}
		}
		for dependency, version := range further {
			if _, isNamed := foreign[dependency]; isNamed {
				continue
			}
			var files []ecosystem.Address
			for digest := range version.all {
				files = append(files, ecosystem.Address{Dependency: dependency, At: digest.sum})
			}
			isForeign, err := s.hasForeign(ctx, dependency, files, policy)
			if err != nil {
				return nil, err
			}
			if isForeign {
				foreign.addAll(dependency, version)
			}
		}
		for _, version := range foreign {
			out = append(out, version.written)
		}
	}
	slices.SortFunc(out, func(a, b company.Dependency) int { return strings.Compare(a.String(), b.String()) })
	return out, nil
}

// compareDigests compares the digests of a version in a lock file with those of the base. forms are the forms of all
// digests in that lock file. It returns the digests that the registry must have. isForeign means that the base has a
// different digest for the same file.
func compareDigests(
	version versionDigests, had digestSets, dependency company.Dependency, forms map[string]bool, policy *Policy,
) (toAsk digestSources, isForeign bool) {
	before, isKept := had[dependency]
	isAsked := policy.isAskedFor(dependency)
	toAsk = digestSources{}
	for digest, source := range version.all {
		if _, isKnown := before.all[digest]; isKnown {
			continue
		}
		switch source {
		case ecosystem.OfSomeIndex:
			// If the base has several indexes, the digest alone can make a client take a stranger's file from another index.
			// Therefore the base's own digests must also be the registry's, unless the version was requested from the
			// registry.
			if isKept {
				maps.Copy(toAsk, version.all)
			}
			if isKept && !isAsked {
				maps.Copy(toAsk, before.all)
			}
		case ecosystem.OfRegistry:
			toAsk[digest] = source
			isForeign = isForeign || !isAsked && before.hasAnyForm(map[string]bool{digest.form: true})
		case ecosystem.OfClient:
			isForeign = isForeign || before.hasAnyForm(forms)
		}
	}
	return toAsk, isForeign
}

// digestKey is a digest with the form of its file.
type digestKey struct{ sum, form string }

// digestSources maps digests to their sources.
type digestSources map[digestKey]ecosystem.DigestSource

// versionDigests holds the digests of a version, and the version as its lock file writes it. It may have no digests.
type versionDigests struct {
	written company.Dependency
	all     digestSources
}

// hasAnyForm reports whether a digest has one of these forms.
func (version versionDigests) hasAnyForm(forms map[string]bool) bool {
	for digest := range version.all {
		if forms[digest.form] {
			return true
		}
	}
	return false
}

// digestSets maps versions, in canonical form, to their digests.
type digestSets map[company.Dependency]versionDigests

// addAll adds digests of a version. A version without digests is added, too, because its client accepts any file.
func (sets digestSets) addAll(dependency company.Dependency, version versionDigests) {
	if _, had := sets[dependency]; !had {
		sets[dependency] = versionDigests{version.written, digestSources{}}
	}
	maps.Copy(sets[dependency].all, version.all)
}

// listForms lists the forms of all digests. Another version of a client makes different files for all packages. If
// the base's form is not in the list, the base's digests cannot be compared.
func (sets digestSets) listForms() map[string]bool {
	forms := map[string]bool{}
	for _, version := range sets {
		for digest := range version.all {
			forms[digest.form] = true
		}
	}
	return forms
}

// digestWants holds the packages of a base's file that have digests, and the versions that have none. all means that
// every version has one.
type digestWants struct {
	names   map[string]bool
	without map[company.Dependency]bool
	all     bool
}

func findWants(sets digestSets) digestWants {
	wants := digestWants{map[string]bool{}, map[company.Dependency]bool{}, len(sets) > 0}
	for dependency, version := range sets {
		if len(version.all) > 0 {
			wants.names[dependency.Name] = true
		} else {
			wants.without[dependency], wants.all = true, false
		}
	}
	return wants
}

// wants reports whether a version must have a digest in the file.
func (wants digestWants) wants(dependency company.Dependency) bool {
	return wants.all || wants.names[dependency.Name] && !wants.without[dependency]
}

// readFileDigests returns the digests in the lock files of one kind, by file.
func readFileDigests(fileDigester ecosystem.FileDigester, files map[string][]byte) map[string]digestSets {
	out := map[string]digestSets{}
	for name, text := range files {
		if !fileDigester.IsLockFile(name) || len(text) > MaxLockFile {
			continue
		}
		out[name] = digestSets{}
		for _, digest := range fileDigester.ParseFileDigests(name, text) {
			version := versionDigests{written: digest.Dependency}
			if digest.Sum != "" {
				version.all = digestSources{{digest.Sum, digest.Form}: digest.Of}
			}
			out[name].addAll(canonicalDependency(digest.Dependency), version)
		}
	}
	return out
}
