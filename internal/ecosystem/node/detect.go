// Package node is the ecosystem of Node with npm, and what other clients of its
// packages build on (Manager): package.json, its scripts, the test runners.
package node

import (
	"path"
	"strings"

	"company/internal/ecosystem"
)

// Ecosystem is Node with npm.
type Ecosystem struct{}

// Name is the toolchain.
func (Ecosystem) Name() string { return "node" }

// Programs are the programs that need the toolchain.
func (Ecosystem) Programs() []string { return []string{"node", "npm", "npx"} }

// Manifest is the file by which a project is known.
func (Ecosystem) Manifest() string { return "package.json" }

// npm is the client that comes with Node. It gets each package that no other
// client has claimed.
var npm = Manager{
	Name: "npm", Kind: "node", Description: "npm package", Exec: "npx --no-install ", Arguments: " --",
	// Here or in a folder above.
	Probe: func(tool string) string { return "npm exec --no --offline -- " + tool + " --version" },
	Owns: func(t *ecosystem.Tree, dir, packageManager string) bool {
		noteOtherManagers(t, dir, packageManager)
		return true
	},
}

// Detect finds the npm packages of a repository.
func (Ecosystem) Detect(t *ecosystem.Tree, _ []ecosystem.Component) []ecosystem.Component {
	return npm.Detect(t)
}

// unsupportedManagers are the clients that no ecosystem is for, by their lock files.
var unsupportedManagers = []struct{ lock, name string }{{"bun.lockb", "bun"}, {"bun.lock", "bun"}}

func noteOtherManagers(t *ecosystem.Tree, dir, packageManager string) {
	for _, other := range unsupportedManagers {
		if t.HasFile(dir, other.lock) && !t.HasFile(dir, "package-lock.json") {
			t.AddNote("%s is there: dependencies are installed with npm from a package-lock.json, %s is not supported", path.Join(dir, other.lock), other.name)
		}
	}
	if name, _, _ := strings.Cut(packageManager, "@"); name != "" && name != "npm" {
		t.AddNote("%s asks for %s; scripts are run with npm", manifestIn(dir), ecosystem.PrintablePath(name))
	}
}

func manifestIn(dir string) string { return path.Join(dir, "package.json") }
