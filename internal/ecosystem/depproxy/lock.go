package depproxy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
)

// MaxLockFile is the size limit of a lock file, in bytes.
const MaxLockFile = 16 << 20

// IsLockFile reports whether the file at this path is a lock file on some system. Disks of macOS and Windows read
// Package-Lock.json as package-lock.json.
func IsLockFile(file string) bool { return lockerOf(file) != nil || ofOtherLetters(file) != "" }

func lockerOf(file string) ecosystem.Locker {
	for _, locker := range catalog.Of[ecosystem.Locker]() {
		if locker.IsLockFile(file) {
			return locker
		}
	}
	return nil
}

// ofOtherLetters returns the name of a lock file under which other systems find a file that is not a lock file on
// Linux. It returns "" if there is none. Disks of macOS and Windows ignore case, and Windows drops trailing dots and
// spaces. Names of lock files are in lower case or begin with a capital.
func ofOtherLetters(file string) string {
	dir, name := path.Split(file)
	name = strings.ToLower(strings.ToUpper(strings.TrimRight(name, ". "))) // folds ſ (long s) to s, too
	for _, as := range []string{name, strings.ToUpper(name[:min(1, len(name))]) + name[min(1, len(name)):]} {
		if dir+as != file && lockerOf(dir+as) != nil {
			return as
		}
	}
	return ""
}

// LockedPolicy returns a policy that allows exactly the packages in a set of lock files (path → content). If lock
// files do not list all dependencies, those are allowed too. Notes describe unreadable files, which allow no
// packages.
func LockedPolicy(files map[string][]byte) (policy *Policy, notes []string) {
	policy = NewPolicy()
	dependencies, notes := ParseLocks(files)
	for _, dependency := range dependencies {
		if e, ok := findRegistry[ecosystem.Client](dependency.Ecosystem); ok && e.Registry().OpenLists {
			policy.AllowWithNeeds(dependency)
		} else {
			policy.Allow(dependency)
		}
	}
	for name, text := range files {
		digester, ok := lockerOf(name).(ecosystem.Digester)
		if !ok || len(text) > MaxLockFile {
			continue
		}
		for d, sum := range digester.ParseDigests(name, text) {
			policy.setDigest(d, sum)
		}
	}
	return policy, notes
}

// ParseLocks lists the packages in a set of lock files, sorted and without duplicates. The text is untrusted: its
// size is limited, and names that break a grammar are left out.
func ParseLocks(files map[string][]byte) (dependencies []company.Dependency, notes []string) {
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
		for _, dependency := range found {
			if seen[dependency] || CheckName(canonicalDependency(dependency)) != nil {
				continue
			}
			if len(dependencies) == maxVersions {
				notes = append(notes, fmt.Sprintf("the lock files name more than %d versions; the rest is left out", maxVersions))
				break
			}
			seen[dependency] = true
			dependencies = append(dependencies, dependency)
		}
	}
	slices.SortFunc(dependencies, func(a, b company.Dependency) int { return strings.Compare(a.String(), b.String()) })
	return dependencies, notes
}
