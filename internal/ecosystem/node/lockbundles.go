package node

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

// Bundles: a package may be in the archive of another one. npm then uses it without a digest, but only if
// the other package bundles it. If only the lock file claims so, npm fetches any file.

// bundles holds the packages of a lock file that are in the archive of another one.
type bundles struct {
	packages map[string]lockedPackage
	holders  map[string]string   // place that is claimed to be in an archive → place of the package with that archive
	below    map[string][]string // package → such places in its folder
	found    map[string]bool     // places that are in an archive if claims are true
	claims   []ecosystem.Address
}

// findBundles finds the packages that are in the archive of another one: the bundled packages, and their
// dependencies beside or below them.
func findBundles(packages map[string]lockedPackage) bundles {
	b := bundles{packages: packages, holders: map[string]string{}, below: map[string][]string{}, found: map[string]bool{}}
	held := map[string][]string{}
	for where, p := range packages {
		if !p.isBundled(where) {
			continue
		}
		holder, ok := cutPlace(where)
		b.below[holder] = append(b.below[holder], where)
		for ok && packages[holder].isBundled(holder) {
			holder, ok = cutPlace(holder)
		}
		b.holders[where] = holder
		held[holder] = append(held[holder], where)
	}
	for holder, pkg := range packages {
		names := pkg.Bundles
		if pkg.IsOld && held[holder] != nil {
			names = b.guessBundled(holder, held[holder])
		}
		for _, name := range names {
			b.addPlace(holder, holder+"/node_modules/"+name)
			local, isFile := cutFile(pkg.Resolved)
			if d, ok := pkg.findDependency(holder); ok && !(isFile && filepath.IsLocal(local)) {
				b.claims = append(b.claims, NewBundled(d, name))
			}
		}
	}
	return b
}

// cutPlace returns the place of the package or folder that contains another one.
func cutPlace(where string) (in string, ok bool) {
	in, _, ok = cutLast(where, "node_modules/")
	return strings.TrimSuffix(in, "/"), ok
}

// guessBundled returns the names that a package bundles, for the older list, which lacks them. Those are
// its dependencies that no other package in its archive needs. Dependencies in a cycle may all be bundled.
func (b bundles) guessBundled(holder string, held []string) (names []string) {
	isNeeded := map[string]bool{}
	for _, where := range held {
		for _, n := range b.packages[where].Needs {
			if at := b.findNeeded(holder, where, n.name); at != where {
				isNeeded[at] = true
			}
		}
	}
	trial := bundles{packages: b.packages, holders: b.holders, below: b.below, found: map[string]bool{}}
	for _, isLast := range []bool{false, true} {
		for _, need := range b.packages[holder].Needs {
			at := holder + "/node_modules/" + need.name
			if b.holders[at] == holder && !trial.found[at] && (isLast || !isNeeded[at]) {
				names = append(names, need.name)
				trial.addPlace(holder, at)
			}
		}
	}
	return names
}

// addPlace adds a place in the archive of a package, all places below it, and their dependencies.
func (b bundles) addPlace(holder, where string) {
	if b.found[where] || b.holders[where] != holder {
		return
	}
	b.found[where] = true
	for _, n := range b.packages[where].Needs {
		b.addPlace(holder, b.findNeeded(holder, where, n.name))
	}
	for _, at := range b.below[where] {
		b.addPlace(holder, at)
	}
}

// findNeeded returns the place at which a package in an archive finds another one. It returns "" if that
// place is not in the archive.
func (b bundles) findNeeded(holder, where, name string) string {
	for ok := true; ok && len(where) >= len(holder); where, ok = cutPlace(where) {
		if at := where + "/node_modules/" + name; b.holders[at] == holder {
			return at
		} else if _, isThere := b.packages[at]; isThere {
			return ""
		}
	}
	return ""
}

// listBundled lists the names that a manifest bundles. The value true stands for all of its dependencies.
func listBundled(fields []json.RawMessage, needs []string) (names []string) {
	for _, raw := range fields {
		var some []string
		if string(raw) == "true" {
			some = needs
		} else if json.Unmarshal(raw, &some) != nil {
			continue
		}
		names = append(names, some...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// NewBundled returns the claim that a package's archive contains the package of that name.
func NewBundled(d company.Dependency, name string) ecosystem.Address {
	return ecosystem.Address{Dependency: d, At: "bundles " + name}
}
