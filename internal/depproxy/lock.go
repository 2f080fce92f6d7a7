package depproxy

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
)

// MaxLockFile is how much of a lock file is read, in bytes.
const MaxLockFile = 16 << 20

// IsLockFile reports whether a file of a tree, by its path, says what the project
// is allowed to have.
func IsLockFile(file string) bool { return lockerOf(file) != nil }

func lockerOf(file string) ecosystem.Locker {
	for _, e := range catalog.Of[ecosystem.Locker]() {
		if e.IsLockFile(file) {
			return e
		}
	}
	return nil
}

// LockedPolicy is the policy of a set of lock files, path to content: exactly what
// they name, and what that needs where their lists are no whole. Notes tell of
// files that could not be read; those allow nothing.
func LockedPolicy(files map[string][]byte) (p *Policy, notes []string) {
	p = NewPolicy()
	all, notes := ParseLocks(files)
	for _, d := range all {
		if e, ok := findRegistry[ecosystem.Client](d.Ecosystem); ok && e.Registry().OpenLists {
			p.AllowWithNeeds(d)
		} else {
			p.Allow(d)
		}
	}
	for name, text := range files {
		e, ok := lockerOf(name).(ecosystem.Digester)
		if !ok || len(text) > MaxLockFile {
			continue
		}
		for d, sum := range e.ParseDigests(name, text) {
			p.setDigest(d, sum)
		}
	}
	return p, notes
}

// ParseLocks lists what a set of lock files names, sorted, each once. The text
// is not trusted: it is bounded, and names that break a grammar are left out.
func ParseLocks(files map[string][]byte) (all []company.Dependency, notes []string) {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	seen := map[company.Dependency]bool{}
	for _, name := range names {
		text := files[name]
		locker := lockerOf(name)
		if locker == nil {
			continue
		}
		if len(text) > MaxLockFile {
			notes = append(notes, fmt.Sprintf("%s is over %d MiB and is not read", name, MaxLockFile>>20))
			continue
		}
		found, err := locker.ParseLock(name, text)
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s cannot be read: %v", name, err))
			continue
		}
		for _, d := range found {
			if seen[d] || CheckName(d) != nil {
				continue
			}
			if len(all) == maxVersions {
				notes = append(notes, fmt.Sprintf("the lock files name more than %d versions; the rest is left out", maxVersions))
				break
			}
			seen[d] = true
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b company.Dependency) int { return strings.Compare(a.String(), b.String()) })
	return all, notes
}
