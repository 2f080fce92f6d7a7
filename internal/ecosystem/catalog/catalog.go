// Package catalog lists the ecosystems that the company knows, one a line. Callers ask all of them in this order.
// They can also look up the ecosystem of a runner, a toolchain or a file that defines checks. The package also lists
// manifests of ecosystems that are not supported yet, so that they can be reported to the president.
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

// all lists the ecosystems, each with the interfaces that apply to it. An ecosystem that must claim files before
// another one precedes it. Makefiles come last, for projects that no other ecosystem handles. Debian's archives are
// not an ecosystem of a project but are served like a registry.
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

// Of returns the ecosystems that implement an interface: Of[ecosystem.Detector]().
func Of[T any]() []T {
	var out []T
	for _, e := range all {
		if has, ok := e.(T); ok {
			out = append(out, has)
		}
	}
	return out
}

// SortToolchains sorts names of toolchains in the order of the catalog. Toolchains that only extend another one (c,
// cgo) come last.
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
