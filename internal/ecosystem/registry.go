package ecosystem

import (
	"context"
	"fmt"

	"company/internal/company"
	"company/internal/lazyregexp"
)

// The kinds of registries, as they are named in paths, tools and records.
const (
	Go        = "go"
	NPM       = "npm"
	PyPI      = "pypi"
	Crates    = "crates"
	Packagist = "packagist"
	Debian    = "debian"
)

// Registry is how the packages of one kind of registry are called.
type Registry struct {
	Name string // Go, NPM, …: also the first part of its paths
	// CheckName holds a name (and a version, where there is one) against the
	// registry's grammar, less what it only keeps for old names: a name becomes
	// part of a URL, a file and a command.
	CheckName func(name, version string) error
	// Canonical is the form in which two spellings of one name are equal; nil:
	// there is one spelling.
	Canonical func(name string) string
	// OpenLists: lock files name the wanted packages, and not all of their
	// dependencies.
	OpenLists bool
	// WhyPrivate says that a name is one of those that the operator calls
	// private; empty: it is not. nil: no client has such a setting.
	WhyPrivate func(patterns, name string) string
	// RootPath are paths without the registry's name that are the registry's, too.
	RootPath *lazyregexp.Regexp
	// RefusedAsNotFound: a client takes any other refusal for the end of its search.
	RefusedAsNotFound bool
	// ErrorField is the field of a JSON object from which clients show errors;
	// empty: they show text.
	ErrorField string
}

// Adder is an ecosystem whose client takes packages into a project.
type Adder interface {
	Ecosystem
	// AddCommand tells how its client takes a package into a project; empty: it
	// is of another registry.
	AddCommand(d company.Dependency) string
}

// Locker is an ecosystem with files by which a project says what it may have.
type Locker interface {
	// IsLockFile says whether a file of a tree, by its path, is one.
	IsLockFile(path string) bool
	// ParseLock lists the packages of such a file. The text is untrusted and
	// bounded; names that break the registry's grammar are left out later.
	ParseLock(path string, text []byte) ([]company.Dependency, error)
}

// Digester is a Locker whose files say what the files of packages are.
type Digester interface {
	Locker
	// ParseDigests gives the digests that such a file names, for packages of ParseLock.
	ParseDigests(path string, text []byte) map[company.Dependency]Digest
}

// Addresser is a Locker whose files say where packages lie. The mirror does not go by that; the clients
// of people do.
type Addresser interface {
	Locker
	// ParseAddresses gives the addresses in such a file at which its client asks. Those with a digest
	// that the mirror compares, too, are left out. The text is untrusted, and of the bounded size of a
	// lock file.
	ParseAddresses(text []byte) []Address
}

// Address says where a file of a version lies: all that its client goes by, in one text.
type Address struct {
	Dependency company.Dependency
	At         string
	Digest     string // that the client compares, with its kind: the file is the registry's wherever it lies; empty: none
}

// AddressFinder is a Client of packages for which lock files have addresses.
type AddressFinder interface {
	Client
	// FindAddresses lists the addresses that the registry has for a version, and the digests.
	FindAddresses(ctx context.Context, f Fetcher, d company.Dependency) ([]string, error)
}

// AnySystemLister is a Locker whose files tell which of their packages are for some
// systems only.
type AnySystemLister interface {
	Locker
	// ListForAnySystem lists the packages of such a file that its client asks for on
	// every system.
	ListForAnySystem(text []byte) []company.Dependency
}

// NameError is the answer to a name or version that breaks a grammar, for an
// agent to read.
func NameError(what, why string) *company.Error {
	return company.E(company.EInvalid, fmt.Sprintf("%.200q is not %s", what, why))
}

var semverRE = lazyregexp.New(`^[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}(-[0-9A-Za-z.-]{1,64})?(\+[0-9A-Za-z.-]{1,64})?$`)

// CheckSemver holds a version of a package against the grammar of semantic
// versions; none is fine.
func CheckSemver(version string) error {
	if version != "" && !semverRE.MatchString(version) {
		return NameError(version, "an exact version").Fix("write it as 1.2.3, or leave it out for the newest")
	}
	return nil
}

var requirementRE = lazyregexp.New(`^\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(\[[^\]]*\])?\s*(.*)$`)

// SplitRequirement takes a requirement of Python's apart, as lists and registries
// have it: the name, and what stands behind it and its extras.
func SplitRequirement(line string) (name, rest string, ok bool) {
	m := requirementRE.FindStringSubmatch(line)
	if m == nil {
		return "", "", false
	}
	return m[1], m[3], true
}
