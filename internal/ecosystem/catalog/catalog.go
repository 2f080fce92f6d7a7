// Package catalog lists the ecosystems that the company knows: one line for
// each. A caller asks all of them, in this order; for what several of them may
// know, the names of runners and toolchains, which file says what checks do, it
// finds the one that does. It owns manifests of ecosystems that have no folder
// yet, so that they can be named to the president.
package catalog

import (
	"cmp"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/ecosystem/berry"
	"company/internal/ecosystem/cc"
	"company/internal/ecosystem/checkers"
	"company/internal/ecosystem/debian"
	"company/internal/ecosystem/golang"
	"company/internal/ecosystem/java"
	"company/internal/ecosystem/makefile"
	"company/internal/ecosystem/node"
	"company/internal/ecosystem/php"
	"company/internal/ecosystem/pnpm"
	"company/internal/ecosystem/python"
	"company/internal/ecosystem/ruby"
	"company/internal/ecosystem/rust"
	"company/internal/ecosystem/yarn"
)

// all are the ecosystems, each with the interfaces that apply to it. One that claims what another would take stands before
// it; a Makefile is asked last, for what no other knows. Debian's archives are no
// ecosystem of a project, and are served beside the registries.
var all = []any{
	golang.Ecosystem{},
	pnpm.Ecosystem{},
	yarn.Ecosystem{},
	berry.Ecosystem{},
	node.Ecosystem{},
	python.Ecosystem{},
	rust.Ecosystem{},
	ruby.Ecosystem{},
	php.Ecosystem{},
	java.Ecosystem{},
	cc.CMake{},
	cc.Meson{},
	cc.Autotools{},
	makefile.Ecosystem{},
	checkers.Programs{},
	debian.Archives{},
}

// Of are the ecosystems that implement an interface: Of[ecosystem.Detector]().
func Of[T any]() []T {
	var out []T
	for _, e := range all {
		if has, ok := e.(T); ok {
			out = append(out, has)
		}
	}
	return out
}

// SortToolchains orders the names of toolchains as the catalog does; those that
// only go with another one (c, cgo) come last.
func SortToolchains(names []string) []string {
	rank := func(name string) int {
		known := Of[ecosystem.Ecosystem]()
		i := slices.IndexFunc(known, func(e ecosystem.Ecosystem) bool { return e.Name() == name })
		if i < 0 {
			return len(known)
		}
		return i
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b)) })
	return names
}
