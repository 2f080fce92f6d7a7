// Package pnpm is the ecosystem of Node with pnpm: Node's toolchain and runners
// and npm's registry, with a client and a lock file of its own. The client comes
// out of the registry, in one version that this package names with its digest.
package pnpm

import (
	"company/internal/ecosystem"
	"company/internal/ecosystem/node"
)

// Ecosystem is Node with pnpm.
type Ecosystem struct{}

// Name is the toolchain.
func (Ecosystem) Name() string { return "pnpm" }

// Programs are the first words of commands that need the toolchain.
func (Ecosystem) Programs() []string { return []string{"pnpm"} }

// Needs is Node, which runs pnpm.
func (e Ecosystem) Needs(_ *ecosystem.Tree, need func(string) bool, _ []string) []string {
	if need(e.Name()) {
		return []string{"node"}
	}
	return nil
}

const workspaceFile = "pnpm-workspace.yaml"

// Detect finds the packages of a repository that are pnpm's.
func (e Ecosystem) Detect(t *ecosystem.Tree, _ []ecosystem.Component) []ecosystem.Component {
	hasFile := func(file string) bool { return t.HasFile("", file) }
	root := node.ReadManager([]byte(t.ReadManifest("", "package.json")))
	manager := node.Manager{
		Name: "pnpm", Kind: e.Name(), Description: "pnpm package", Exec: "pnpm exec ",
		Probe:         func(tool string) string { return "pnpm exec " + tool + " --version" },
		HasWorkspaces: func(t *ecosystem.Tree, dir string) bool { return t.HasFile(dir, workspaceFile) },
		Owns: func(_ *ecosystem.Tree, dir, packageManager string) bool {
			return node.FindClient(hasFile, dir, packageManager, root) == "pnpm"
		},
	}
	return manager.Detect(t)
}

// gateFiles say which packages pnpm takes and what it runs: a pnpmfile is code.
var gateFiles = []string{workspaceFile, "pnpm-workspace.yml", ".pnpmfile.cjs", ".pnpmfile.mjs", ".pnpmfile.js", "pnpmfile.cjs", "pnpmfile.mjs", "pnpmfile.js"}

// IsGateFile says whether a file steers what pnpm installs and runs.
func (Ecosystem) IsGateFile(file string) bool { return ecosystem.HasName(file, gateFiles) }
