// Package node supports Node with npm: package.json, its scripts and the test runners. Other clients of npm
// packages build on its Manager.
package node

import (
	"path"
	"strings"

	"company/internal/ecosystem"
)

// Ecosystem is Node with npm.
type Ecosystem struct{}

// Name returns the toolchain's name.
func (Ecosystem) Name() string { return "node" }

// Programs lists the programs that need the toolchain.
func (Ecosystem) Programs() []string { return []string{"node", "npm", "npx"} }

// Manifest returns the file name that marks a Node project.
func (Ecosystem) Manifest() string { return "package.json" }

// npm is the client that comes with Node. It handles every package that no other client has claimed.
var npm = Manager{
	Name: "npm", Kind: "node", Description: "npm package", Exec: "npx --no-install ", Arguments: " --",
	// The program may be installed here or in a folder above.
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

// unsupportedManagers lists clients without an ecosystem, by their lock files.
var unsupportedManagers = []struct{ lock, name string }{{"bun.lockb", "bun"}, {"bun.lock", "bun"}}

func noteOtherManagers(tree *ecosystem.Tree, dir, packageManager string) {
	for _, other := range unsupportedManagers {
		if tree.HasFile(dir, other.lock) && !tree.HasFile(dir, "package-lock.json") {
			tree.AddNote("%s is there: dependencies are installed with npm from a package-lock.json, %s is not supported",
				path.Join(dir, other.lock), other.name)
		}
	}
	if name, _, _ := strings.Cut(packageManager, "@"); name != "" && name != "npm" {
		tree.AddNote("%s asks for %s; scripts are run with npm", manifestIn(dir), ecosystem.PrintablePath(name))
	}
}

func manifestIn(dir string) string { return path.Join(dir, "package.json") }
