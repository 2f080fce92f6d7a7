// Package pnpm supports Node with pnpm. It has Node's toolchain, runners and registry, with its own client
// and lock file. The client comes from the registry, in a fixed version whose digest is in this package.
package pnpm

import (
	"company/internal/ecosystem"
	"company/internal/ecosystem/node"
)

// Ecosystem is Node with pnpm.
type Ecosystem struct{}

// Name returns the toolchain's name.
func (Ecosystem) Name() string { return "pnpm" }

// Programs lists the programs that need the toolchain.
func (Ecosystem) Programs() []string { return []string{"pnpm"} }

// Needs returns Node, which runs pnpm.
func (e Ecosystem) Needs(_ *ecosystem.Tree, need func(string) bool, _ []string) []string {
	if need(e.Name()) {
		return []string{"node"}
	}
	return nil
}

const workspaceFile = "pnpm-workspace.yaml"

// Detect finds the packages of a repository that use pnpm.
func (e Ecosystem) Detect(tree *ecosystem.Tree, _ []ecosystem.Component) []ecosystem.Component {
	hasFile := func(file string) bool { return tree.HasFile("", file) }
	root := node.ReadManager([]byte(tree.ReadManifest("", "package.json")))
	manager := node.Manager{
		Name: "pnpm", Kind: e.Name(), Description: "pnpm package", Exec: "pnpm exec ",
		Probe:         func(tool string) string { return "pnpm exec " + tool + " --version" },
		HasWorkspaces: func(t *ecosystem.Tree, dir string) bool { return t.HasFile(dir, workspaceFile) },
		Owns: func(_ *ecosystem.Tree, dir, packageManager string) bool {
			return node.FindClient(hasFile, dir, packageManager, root) == "pnpm"
		},
	}
	return manager.Detect(tree)
}

// gateFiles lists files that decide which packages pnpm uses and what it runs. A pnpmfile is code.
var gateFiles = []string{workspaceFile, "pnpm-workspace.yml", ".pnpmfile.cjs", ".pnpmfile.mjs", ".pnpmfile.js",
	"pnpmfile.cjs", "pnpmfile.mjs", "pnpmfile.js"}

// IsGateFile reports whether a file affects what pnpm installs and runs.
func (Ecosystem) IsGateFile(file string) bool { return ecosystem.HasName(file, gateFiles) }
