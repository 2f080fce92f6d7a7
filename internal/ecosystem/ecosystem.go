// Package ecosystem is the seam between the company and the toolchains of
// projects. It owns the interfaces that an ecosystem implements as far as they
// apply (Detector, Locker, Proxied, Client, Installer, Provider), the tree that an ecosystem
// looks at, and the data that it answers with: components and their checks, packages
// that a lock file names, layers of an image.
//
// It promises that an ecosystem is text in and data out: it starts no program,
// opens no file of the host and reaches no network. Running checks is for
// package gates, serving registries for package depproxy, making layers for
// package image; they ask the ecosystems of package catalog and name none.
package ecosystem

import "company/internal/company"

// Ecosystem is a toolchain and what belongs to it: Go, Node, Python, …
type Ecosystem interface {
	// Name is the toolchain that an image is asked for: go, node, python, …
	Name() string
}

// Component is a folder with a manifest, and the checks that it calls for.
type Component struct {
	Dir   string // "" is the root
	Kind  string // the ecosystem's name
	Label string // tells it from the others of its folder; empty: its kind does
	// Lint reads the sources, Types has a compiler check them, Build makes what the project makes of
	// them, and Test runs its tests. Nil: there is none.
	Lint, Types, Build, Test *company.GateCommand
	Description              string // for the notes: "Go module", "npm package", …
}

// Check is the check of a kind, lint, types, build or test, or nil.
func (c Component) Check(kind string) *company.GateCommand {
	return map[string]*company.GateCommand{"lint": c.Lint, "types": c.Types, "build": c.Build, "test": c.Test}[kind]
}

// HasCheck says whether a component has a check of any kind.
func (c Component) HasCheck() bool {
	return c.Lint != nil || c.Types != nil || c.Build != nil || c.Test != nil
}

// Detector finds the projects of an ecosystem.
type Detector interface {
	Ecosystem
	// Detect finds the components of a tree. found are those of the ecosystems
	// before it in the catalog. A project without a check is no component:
	// Tree.AddProject says that it needs the toolchain all the same.
	Detect(t *Tree, found []Component) []Component
	// Programs are the programs that need the toolchain.
	Programs() []string
}

// Manifester is an ecosystem whose projects people know by a file.
type Manifester interface {
	Ecosystem
	Manifest() string
}

// Caller is an ecosystem whose files call programs of others.
type Caller interface {
	Ecosystem
	// Calls are command lines that its files may run, each from the program on.
	Calls(t *Tree) []string
}

// Needer is a Detector whose checks may need more than its own toolchain.
type Needer interface {
	// Needs lists further toolchains for commands on this tree. need says
	// whether the checks need the toolchain of a name.
	Needs(t *Tree, need func(toolchain string) bool, commands []string) []string
}
