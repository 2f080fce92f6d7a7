package ecosystem

import (
	"context"
	"fmt"

	"company/internal/company"
	"company/internal/lib/lazyregexp"
)

// Names of the kinds of registries, as used in paths, tools and records.
const (
	Go        = "go"
	NPM       = "npm"
	PyPI      = "pypi"
	Crates    = "crates"
	Packagist = "packagist"
	Debian    = "debian"
)

// Registry defines the names of packages in one kind of registry.
type Registry struct {
	Name string // Go, NPM, …; also the first part of its paths
	// CheckName checks a name, and a version unless it is empty, against the registry's grammar. It rejects forms that
	// the registry keeps only for old names. A name becomes part of a URL, a file and a command.
	CheckName func(name, version string) error
	// Canonical returns the same form for all spellings of a name. A nil Canonical means that names have one spelling.
	Canonical func(name string) string
	// CanonicalVersion returns the same form for all spellings of a version. A nil CanonicalVersion means that versions
	// have one spelling.
	CanonicalVersion func(version string) string
	// OpenLists means that lock files name the requested packages, but not all of their dependencies.
	OpenLists bool
	// WhyPrivate returns the reason if a name matches the operator's patterns of private names, or "". A nil WhyPrivate
	// means that no client has such a setting.
	WhyPrivate func(patterns, name string) string
	// RootPath matches paths of this registry that do not begin with its name.
	RootPath *lazyregexp.Regexp
	// RefusedAsNotFound means that the client stops its search after any refusal other than "not found".
	RefusedAsNotFound bool
	// ErrorField is the JSON field from which clients show errors. If it is empty, they show text.
	ErrorField string
}

// Adder is an ecosystem whose client adds packages to a project.
type Adder interface {
	Ecosystem
	// AddCommand returns the client's command for adding a package to a project. It returns "" for packages of other
	// registries.
	AddCommand(d company.Dependency) string
}

// Locker is an ecosystem with lock files, which list the packages that a project may use.
type Locker interface {
	// IsLockFile reports whether the file at this path is a lock file.
	IsLockFile(path string) bool
	// ParseLock lists the packages of a lock file. The text is untrusted and limited in size. Names that break the
	// registry's grammar are removed later.
	ParseLock(path string, text []byte) ([]company.Dependency, error)
}

// Digester is a Locker whose files contain digests of the packages' files.
type Digester interface {
	Locker
	// ParseDigests returns the digests in such a file, for packages from ParseLock.
	ParseDigests(path string, text []byte) map[company.Dependency]Digest
}

// Addresser is a Locker whose files contain addresses of packages. The mirror ignores the addresses, but clients
// outside of containers use them.
type Addresser interface {
	Locker
	// ParseAddresses returns the addresses in such a file that its client requests. It also returns addresses with a
	// digest. The mirror compares digests only for files that are requested here, and packages for other systems are
	// not. The text is untrusted and has at most the size of a lock file.
	ParseAddresses(text []byte) []Address
}

// NoDigest is the prefix of an Address for an entry without a digest. The client accepts any file for it.
const NoDigest = "no digest"

// Address is the location of a version's file, with everything that its client uses to find it.
type Address struct {
	Dependency company.Dependency
	At         string
	Digest     string // the digest that the client compares, with its kind, so any address is safe; "" if there is none
}

// FileDigester is a Locker whose files have digests that ParseAddresses does not return.
type FileDigester interface {
	Locker
	// ParseFileDigests returns the digests of the files of each version in such a file. The text is untrusted and has at
	// most the size of a lock file.
	ParseFileDigests(file string, text []byte) []FileDigest
}

// FileDigest is the digest of one file of a version in a lock file.
type FileDigest struct {
	Dependency company.Dependency
	Sum        string // with its kind; "" means that the client accepts any file
	Form       string // the form of the file; digests of one form are the same for one version
	Of         DigestSource
}

// DigestSource tells where a digest comes from.
type DigestSource int

const (
	// OfSomeIndex is a digest with which the client selects a file from all indexes that have the version.
	OfSomeIndex DigestSource = iota
	// OfRegistry is a digest from the registry, or one that is computed from the registry's file.
	OfRegistry
	// OfClient is a digest that no registry here can confirm, because the client makes the file or uses another index.
	OfClient
)

// AddressFinder is a Client whose packages have addresses in lock files.
type AddressFinder interface {
	Client
	// FindAddresses lists the addresses and digests that the registry has for a version. It may leave out those that are
	// not in wanted.
	FindAddresses(ctx context.Context, f Fetcher, d company.Dependency, wanted []string) ([]string, error)
}

// AnySystemLister is a Locker whose files mark packages that only some systems need.
type AnySystemLister interface {
	Locker
	// ListForAnySystem lists the packages of such a file that its client requests on every system.
	ListForAnySystem(text []byte) []company.Dependency
}

// NameError returns the error for a name or version that breaks a grammar, for an agent to read.
func NameError(what, reason string) *company.Error {
	return company.E(company.EInvalid, fmt.Sprintf("%.200q is not %s", what, reason))
}

var semverRE = lazyregexp.New(`^[0-9]{1,18}\.[0-9]{1,18}\.[0-9]{1,18}(-[0-9A-Za-z.-]{1,64})?(\+[0-9A-Za-z.-]{1,64})?$`)

// CheckSemver checks a package version against the grammar of semantic versions. An empty version is valid.
func CheckSemver(version string) error {
	if version != "" && !semverRE.MatchString(version) {
		return NameError(version, "an exact version").Fix("write it as 1.2.3, or leave it out for the newest")
	}
	return nil
}

var requirementRE = lazyregexp.New(`^\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(\[[^\]]*\])?\s*(.*)$`)

// SplitRequirement splits a Python requirement, as lists and registries write it. It returns the name, and the rest
// after the name and its extras.
func SplitRequirement(line string) (name, rest string, ok bool) {
	m := requirementRE.FindStringSubmatch(line)
	if m == nil {
		return "", "", false
	}
	return m[1], m[3], true
}
