// Package registry lists the ecosystems that the company knows: one line for
// each. A caller asks all of them, in this order.
package registry

import (
	"cmp"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/ecosystem/debian"
	"company/internal/ecosystem/golang"
	"company/internal/ecosystem/makefile"
	"company/internal/ecosystem/node"
	"company/internal/ecosystem/pnpm"
	"company/internal/ecosystem/python"
	"company/internal/ecosystem/rust"
)

// all are the ecosystems. One that claims what another would take stands before
// it; a Makefile is asked last, for what no other knows. Debian's archives are no
// ecosystem of a project, and are served beside the registries.
var all = []any{
	golang.Ecosystem{},
	pnpm.Ecosystem{},
	node.Ecosystem{},
	python.Ecosystem{},
	rust.Ecosystem{},
	makefile.Ecosystem{},
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

// SortToolchains orders the names of toolchains as the registry does; those that
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
