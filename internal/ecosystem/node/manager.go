package node

import (
	"encoding/json"
	"slices"

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
	found := map[string]*packageChecks{} // by folder
	var order []string
	ci, left := findCICalls(tree), maxParsed
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
			if dir == "" {
				root.Workspaces = manifest.Workspaces
			}
		}
		manifest.managed = m.RunsItself != nil && m.RunsItself(dir)
		checks := scriptChecks{m, tree, dir, manifest, root, ci, &left}.findAll()
		for _, above := range order { // one of its workspaces is checked already
			if ecosystem.IsUnder(dir, above) && found[above].hasAny() && !isSeparate(tree, dir) {
				checks.leaveOutCovered(tree, dir, found[above])
				break
			}
		}
		found[dir] = checks
		order = append(order, dir)
	}
	if top := found[""]; top != nil && len(top.tests) == 0 && len(root.Workspaces) > 0 {
		scriptChecks{m, tree, "", root, root, ci, &left}.addForAll(top, found)
	}
	for _, dir := range order {
		got := found[dir].components(ecosystem.Component{Dir: dir, Kind: m.Kind, Description: m.Description})
		if len(got) == 0 && dir == "" && len(found[dir].browsers) == 0 {
			tree.AddNote("package.json has neither a test nor a lint that can be run")
		}
		out = append(out, got...)
	}
	return out
}

// isSeparate reports whether the package in a folder is locked by itself: the package above it does not install it.
func isSeparate(tree *ecosystem.Tree, dir string) bool {
	return dir != "" && slices.ContainsFunc(lockFiles, func(l struct{ file, client string }) bool { return tree.HasFile(dir, l.file) })
}
