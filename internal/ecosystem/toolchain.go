package ecosystem

import (
	"context"

	"company/internal/company"
)

// Provider is an ecosystem with toolchains that an image can hold.
type Provider interface {
	Ecosystem
	// Toolchains are those that a request may name, the ecosystem's own among them.
	Toolchains() []Toolchain
}

// Toolchain is what an image gets when a request names it: packages of Debian, and
// a tree that is copied from this host, where programs are newer.
type Toolchain struct {
	Name     string // that requests use
	Title    string // for people: Node
	Contents string // for people, too: node and npm
	Packages []string
	Version  string    // of the packages of Debian; empty: not known
	Tree     *HostTree // nil: all is Debian's
	// Fallback are packages in place of a tree that this host does not have. A
	// toolchain without packages of any kind comes from the host alone: it lies
	// below Debian's packages, on an image of the operator's choice too.
	Fallback []string
	Above    []Install // layers that are made with the tree
	Env      Env       // of the image
	// ScriptsOf names the toolchain that this one goes with where install scripts of
	// packages may run; empty: it does not.
	ScriptsOf string
	// FreshTree are its parts of the script of an image that makes a fresh tree ready;
	// an image whose toolchains have none is without the script.
	FreshTree FreshTree
	// WishFiles are files by which a project asks for a version; the first that is
	// there counts, the one nearest to the root. Wish compares it with what the image
	// has, and says both for people where they differ. Where what it asks for is met,
	// it says what the image has alone.
	WishFiles []string
	Wish      func(text, has string) (wants, hasText string)
	// WishAction is the action by which a CI sets up versions. They count where no file
	// asks for one.
	WishAction string
	// WishAll: each file of those names counts, since Wish asks for a version at
	// least. The highest is the project's.
	WishAll bool
	// Versions are those that a registry has beside this host's; nil: none can be had.
	Versions *Versions
}

// Versions are the versions of a toolchain that a registry has. One is fetched only
// where what this host has is not what a project asks for.
type Versions struct {
	// Package is what the registry has: its versions are the toolchain's.
	Package company.Dependency
	// Choose is the version to take for what Wish wants, out of those of the
	// registry, and how the toolchain itself would say it; empty: none will do.
	Choose func(wants string, all []string) (version, shown string)
	// Fetch fills a folder of this host with a version, below Places().Out. Dir is
	// where the tree lies there, in the shape of a tree of this host.
	Fetch func(ctx context.Context, h FetchHost, version string) error
	Dir   func(version string) string
	// Program is a program below the tree: it must find its libraries in the base.
	Program string
}

// FreshTree are parts of a shell script that runs in the root of each fresh tree, a
// worker's clone and a gate's alike, before any command. One script is in all images:
// a part does nothing where its packages are missing. A part may run twice, uses
// $deps, the folder of prepared packages, and `hide PATH`, which keeps a path of the
// tree out of git, and ends with one line break.
type FreshTree struct {
	Links    string // links prepared packages into the tree
	Settings string // gives a client its settings
	Hidden   string // hides what programs leave behind
}

// IsFromHostAlone says whether nothing of Debian will do.
func (t Toolchain) IsFromHostAlone() bool {
	return t.Tree != nil && len(t.Packages)+len(t.Fallback) == 0
}

// HostTree is how a toolchain of this host is found, known and copied.
type HostTree struct {
	Ask [][]string // command lines of programs that tell of it
	Env []string   // name=value: what must not steer them
	// Read understands their answers. realPath follows links of the host.
	Read func(answers []string, realPath func(string) (string, error)) (FoundTree, error)
	// BareIdentity: names of files do not key the layer.
	BareIdentity bool
	Copies       []Copy
	Files        []ImageFile
}

// FoundTree is a toolchain of this host.
type FoundTree struct {
	Dir      string
	Version  string
	Needs    []string // paths below Dir without which it is none
	OwnFiles []string // likewise, and not links to another place
	Program  string   // below Dir: must find its libraries in the base; empty: needs none
	// Libraries begin the names of those that lie beside the program.
	Libraries []string
	Identity  []string // paths below Dir: with sizes and times they tell two trees apart
}

// Copy is a file or folder of a tree, and where it goes.
type Copy struct {
	From     string                // below the tree; empty: all of it
	To       string                // in the image
	Leave    func(rel string) bool // says, by its path below From, what stays out; nil: nothing does
	Programs string                // a folder of the copy whose files are linked into /usr/local/bin; empty: none
}

// Env is a change of an image's environment.
type Env struct {
	Set   map[string]string
	Unset []string
	Path  string // a folder that goes first on the PATH
}
