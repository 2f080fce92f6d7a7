// Package ecosystem connects the company with the toolchains of projects. It defines the interfaces that an ecosystem
// implements as needed (Detector, Locker, Proxied, Client, Installer, Provider) and the tree that it reads. It also
// defines the results: components and their checks, packages in lock files, layers of an image.
//
// An ecosystem only turns text into data. It starts no program, opens no file of the host and does not use the
// network. Package gates runs checks, package depproxy serves registries and package image makes layers. They get
// ecosystems from package catalog and name none themselves.
package ecosystem

import "company/internal/company"

// Ecosystem is a toolchain with everything that belongs to it: Go, Node, Python, …
type Ecosystem interface {
	// Name returns the name by which an image requests the toolchain: go, node, python, …
	Name() string
}

// Component is a folder with a manifest, and the checks for it.
type Component struct {
	Dir   string // "" is the root
	Kind  string // the ecosystem's name
	Label string // distinguishes components in one folder; if empty, Kind does
	// Lint reads the sources, Types checks them with a compiler, Build makes the project's artifacts, and Test runs its
	// tests. A nil command means that the component lacks this check.
	Lint, Types, Build, Test *company.GateCommand
	Description              string // for the notes: "Go module", "npm package", …
}

// Check returns the check of a kind (lint, types, build or test), or nil.
func (c Component) Check(kind string) *company.GateCommand {
	return map[string]*company.GateCommand{"lint": c.Lint, "types": c.Types, "build": c.Build, "test": c.Test}[kind]
}

// HasCheck reports whether a component has a check of any kind.
func (c Component) HasCheck() bool {
	return c.Lint != nil || c.Types != nil || c.Build != nil || c.Test != nil
}

// Detector finds the projects of an ecosystem.
type Detector interface {
	Ecosystem
	// Detect returns the components of a tree. found holds the components of the ecosystems before it in the catalog. A
	// project without checks is not a component. For such a project, Detect calls Tree.AddProject, because it still
	// needs the toolchain.
	Detect(t *Tree, found []Component) []Component
	// Programs lists the programs that need the toolchain.
	Programs() []string
}

// Manifester is an ecosystem whose projects are known by a manifest file.
type Manifester interface {
	Ecosystem
	Manifest() string
}

// Caller is an ecosystem whose files run programs of other ecosystems.
type Caller interface {
	Ecosystem
	// Calls returns the command lines that its files may run. Each starts with the program.
	Calls(t *Tree) []string
}

// Needer is a Detector whose checks may need more than its own toolchain.
type Needer interface {
	// Needs lists further toolchains for commands on this tree. need reports whether the checks need the toolchain of a
	// name.
	Needs(t *Tree, need func(toolchain string) bool, commands []string) []string
}
