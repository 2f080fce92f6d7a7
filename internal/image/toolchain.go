package image

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/registry"
)

// toolchains are the names that a request may hold and that Debian or the host has,
// in the order of the layers. What comes out of a registry is its ecosystem's to
// install.
var toolchains = []string{"go", "node", "python", "rust", "make", "c", "cgo"}

// debianTools are the packages that a toolchain takes from Debian. Go, Node
// and Rust come from the host where it has them: Debian's are years older, and
// the projects here were written with the host's.
var debianTools = map[string][]string{
	"python": {"python3", "python3-pip", "python3-pytest", "python3-venv"},
	"rust":   {"gcc", "libc6-dev"}, // the compiler needs a linker
	"make":   nil,                  // it is in the base
	"c":      {"g++", "gcc", "libc6-dev"},
	"cgo":    {"g++", "gcc", "libc6-dev"},
}

// Packages of a toolchain that the host does not have itself.
var (
	debianNode = []string{"nodejs", "npm"}
	debianRust = []string{"cargo", "rustc"}
)

// Where the host's trees lie inside an image.
const (
	nodeModulesPath = "/usr/local/lib/node_modules"
	rustPath        = "/usr/local/rust"
)

// toolSet are the toolchains of one request, found.
type toolSet struct {
	goRoot   *goRoot
	node     *hostTree
	rust     *hostTree
	packages []string // of Debian, sorted
	cgo      bool     // Go calls C
	notes    []string
}

// toolsFor finds what the toolchains of a request are made from. It calls no
// daemon and installs nothing.
func (b *Builder) toolsFor(ctx context.Context, req Request, base baseSource) (toolSet, error) {
	var t toolSet
	note := func(format string, args ...any) { t.notes = append(t.notes, fmt.Sprintf(format, args...)) }
	for _, name := range toolchains {
		if !slices.Contains(req.Toolchains, name) {
			continue
		}
		if name == "go" {
			root, err := b.hostGo(ctx)
			if err != nil {
				return toolSet{}, err
			}
			t.goRoot = &root
			continue
		}
		t.cgo = t.cgo || name == "cgo"
		if base.pulled {
			// A chosen and pinned image brings its own tools: its packages are
			// not Debian's, or not ours to mix.
			note("the image %s is taken as it is: %s must be in it", base.ref, toolchainNames[name])
			continue
		}
		t.packages = append(t.packages, debianTools[name]...)
		switch name {
		case "node":
			tree, err := b.hostNode(ctx)
			if err != nil {
				note("Node comes from Debian: %v", err)
				t.packages = append(t.packages, debianNode...)
				continue
			}
			t.node = &tree
		case "rust":
			tree, err := b.hostRust(ctx)
			if err != nil {
				note("Rust comes from Debian: %v", err)
				t.packages = append(t.packages, debianRust...)
				continue
			}
			t.rust = &tree
		}
	}
	slices.Sort(t.packages)
	t.packages = slices.Compact(t.packages)
	return t, nil
}

// toolchainNames says what a toolchain is, for people.
var toolchainNames = map[string]string{
	"node": "node and npm", "python": "python3 with pip, venv and pytest", "rust": "rustc, cargo and a linker", "make": "make", "c": "a C compiler", "cgo": "a C compiler",
}

// knownToolchains are the names that a request may hold.
func knownToolchains() []string {
	out := slices.Clone(toolchains)
	for _, e := range registry.Of[ecosystem.Ecosystem]() {
		if !slices.Contains(out, e.Name()) {
			out = append(out, e.Name())
		}
	}
	return out
}

// checkToolchains refuses unknown names.
func checkToolchains(names []string) error {
	for i, n := range names {
		if known := knownToolchains(); !slices.Contains(known, n) {
			return company.E(company.EInvalid, fmt.Sprintf("the toolchain %q cannot be put into an image", n)).
				Fix("the toolchains that are known: " + strings.Join(known, ", "))
		}
		if slices.Contains(names[:i], n) {
			return company.E(company.EInvalid, fmt.Sprintf("the toolchain %q is asked for twice", n))
		}
	}
	return nil
}
