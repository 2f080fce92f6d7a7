package ecosystem

import (
	"context"

	"company/internal/company"
)

// Provider is an ecosystem with toolchains for images.
type Provider interface {
	Ecosystem
	// Toolchains returns the toolchains that a request may name, including the ecosystem's own.
	Toolchains() []Toolchain
}

// Toolchain defines the contents of an image for a requested name. It consists of Debian packages and a tree that is
// copied from this host, where programs are newer.
type Toolchain struct {
	Name     string // the name in requests
	Title    string // for users: Node
	Contents string // for users: node and npm
	Packages []string
	Version  string    // of the Debian packages; "" means unknown
	Tree     *HostTree // nil if everything comes from Debian
	// Fallback lists packages to use if this host does not have the tree. A toolchain without any packages comes from
	// the host alone. It is then installed below Debian's packages, even on a base image that the operator chose.
	Fallback []string
	Above    []Install // layers that are made with the tree
	Env      Env       // the image's environment
	// ScriptsOf names the toolchain that also needs this one if install scripts of packages may run. It may be empty.
	ScriptsOf string
	// FreshTree holds this toolchain's parts of the image's script that prepares a fresh tree. If no toolchain of an
	// image has parts, the image has no script.
	FreshTree FreshTree
	// WishFiles are files in which a project requests a version. The first existing one counts, nearest to the root.
	// Wish compares it with the image's version and returns both, for users, if they differ. If the request is met, it
	// returns only the image's version.
	WishFiles []string
	Wish      func(text, has string) (wants, hasText string)
	// WishAction is the CI action that sets up versions. It counts only if no file requests a version.
	WishAction string
	// WishAll means that all files of those names count, because Wish reads minimum versions. The highest one applies.
	WishAll bool
	// Versions are the versions that a registry offers in addition to this host's. A nil Versions means that there are
	// none.
	Versions *Versions
}

// Versions defines how to get a version of a toolchain from a registry. A version is fetched only if this host's
// version does not satisfy the project.
type Versions struct {
	// Package is the registry's package. Its versions are the toolchain's versions.
	Package company.Dependency
	// Choose selects from the registry's versions one that satisfies the request from Wish. shown is the version as the
	// toolchain itself prints it. An empty version means that no version fits.
	Choose func(wants string, all []string) (version, shown string)
	// Fetch puts a version into a folder of this host, below Places().Out. Dir returns the path of the tree there. The
	// tree has the same layout as one of this host.
	Fetch func(ctx context.Context, h FetchHost, version string) error
	Dir   func(version string) string
	// Program is the path of a program below the tree. It must find its libraries in the base image.
	Program string
}

// FreshTree holds parts of a shell script that runs in the root of each fresh tree before any command. Fresh trees
// are workers' clones and gates' trees. All images have the same script, so a part must do nothing if its packages
// are missing. A part may run twice and must end with one line break. It can use $deps, the folder of prepared
// packages, and `hide PATH`, which hides a path of the tree from git.
type FreshTree struct {
	Links    string // links prepared packages into the tree
	Settings string // gives a client its settings
	Hidden   string // hides what programs leave behind
}

// IsFromHostAlone reports whether the toolchain has no Debian packages to fall back to.
func (t Toolchain) IsFromHostAlone() bool {
	return t.Tree != nil && len(t.Packages)+len(t.Fallback) == 0
}

// HostTree defines how a toolchain of this host is found, identified and copied.
type HostTree struct {
	Ask [][]string // command lines of programs that describe it
	Env []string   // name=value; overrides variables that could influence them
	// Read parses the output of these programs. realPath resolves links of the host.
	Read func(answers []string, realPath func(string) (string, error)) (FoundTree, error)
	// BareIdentity means that file names are not part of the layer's key.
	BareIdentity bool
	Copies       []Copy
	Files        []ImageFile
}

// FoundTree is a toolchain of this host.
type FoundTree struct {
	Dir      string
	Version  string
	Needs    []string // paths below Dir that must exist
	OwnFiles []string // paths below Dir that must exist and must not be links out of it
	Program  string   // below Dir; must find its libraries in the base image; "" if there is none
	// Libraries are name prefixes of libraries that are beside the program.
	Libraries []string
	Identity  []string // paths below Dir whose sizes and times distinguish two trees
}

// Copy is a file or folder of a tree with its destination.
type Copy struct {
	From     string                // below the tree; "" means all of it
	To       string                // in the image
	Leave    func(rel string) bool // reports whether to leave out a path below From; nil leaves out none
	Programs string                // a copied folder whose files are linked into /usr/local/bin; may be empty
}

// Env changes an image's environment.
type Env struct {
	Set   map[string]string
	Unset []string
	Path  string // a folder to prepend to PATH
}
