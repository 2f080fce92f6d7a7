package node

import (
	"encoding/json"

	"company/internal/company"
	"company/internal/ecosystem"
)

// Manager is a client that installs the packages of Node projects and runs their
// scripts: npm, pnpm. Toolchain, registry and test runners are the same for all;
// what differs stands here.
type Manager struct {
	Name        string // of its program: "npm test" runs the tests
	Kind        string // of its components: the name of its ecosystem
	Description string // of a component, for people
	Exec        string // stands before a program of a package, with a space at its end
	Arguments   string // stands between "test" and what goes to the script
	Probe       func(tool string) string
	// HasWorkspaces says whether a folder is the root of several packages, where
	// package.json does not; nil: it always does.
	HasWorkspaces func(t *ecosystem.Tree, dir string) bool
	// RunsItself says whether only the manager can run what a folder's package has
	// installed; nil: the packages' programs can be run without it.
	RunsItself func(dir string) bool
	// Owns says whether a folder's package is this manager's.
	Owns func(t *ecosystem.Tree, dir, packageManager string) bool
}

// Detect finds the packages of a repository that are the manager's and that have
// a test or lint of their own, and claims their manifests. What a package above
// runs for its workspaces is not run again.
func (m Manager) Detect(tree *ecosystem.Tree) []ecosystem.Component {
	var out []ecosystem.Component
	root := packageJSON{}
	for _, dir := range tree.FoldersWith("package.json") {
		text := tree.ReadManifest(dir, "package.json")
		var manifest packageJSON
		// A manifest is often more than this wants to know, of odd types.
		err := json.Unmarshal([]byte(text), &manifest)
		if dir == "" {
			root = manifest
		}
		if tree.IsClaimed(manifestIn(dir)) || !m.Owns(tree, dir, manifest.PackageManager) {
			continue
		}
		tree.Claim(manifestIn(dir))
		if err != nil && len(manifest.Scripts) == 0 {
			tree.AddNote("package.json in %s cannot be read: %s", ecosystem.DisplayDir(dir), ecosystem.ExplainJSON([]byte(text), err))
			continue
		}
		tree.AddProject(m.Kind, dir)
		if len(manifest.Workspaces) == 0 && m.HasWorkspaces != nil && m.HasWorkspaces(tree, dir) {
			manifest.Workspaces = json.RawMessage("true")
		}
		manifest.managed = m.RunsItself != nil && m.RunsItself(dir)
		got := ecosystem.Component{Dir: dir, Kind: m.Kind, Description: m.Description, Test: m.findTest(dir, manifest.leaveOutAudits(tree, dir))}
		scripts := scriptChecks{m, tree, dir, manifest, root}
		got.Lint, got.Types, got.Build = scripts.findLint(), scripts.findTypes(), scripts.findBuild()
		if above := ecosystem.Covering(out, dir); above != nil { // a workspace of a part that is checked already
			got = leaveOutCovered(got, *above)
			if !got.HasCheck() {
				continue
			}
		}
		if !got.HasCheck() {
			if dir == "" {
				tree.AddNote("package.json has neither a test nor a lint that can be run")
			}
			continue
		}
		out = append(out, got)
	}
	return out
}

// leaveOutCovered is a component without the kinds of checks that the one above it has. An unasked one
// above stands for no script of a workspace.
func leaveOutCovered(c, above ecosystem.Component) ecosystem.Component {
	for _, k := range []struct {
		own   **company.GateCommand
		above *company.GateCommand
	}{{&c.Lint, above.Lint}, {&c.Types, above.Types}, {&c.Build, above.Build}, {&c.Test, above.Test}} {
		if k.above != nil && (*k.own == nil || !k.above.Provisional || (*k.own).Provisional) {
			*k.own = nil
		}
	}
	return c
}
