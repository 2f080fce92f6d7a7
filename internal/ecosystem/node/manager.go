package node

import (
	"encoding/json"
	"slices"

	"company/internal/ecosystem"
)

// Manager is a client that installs packages and runs scripts of Node projects, such as npm or pnpm. All
// clients share toolchain, registry and test runners. Manager holds the differences.
type Manager struct {
	Name        string // name of its program: "npm test" runs the tests
	Kind        string // kind of its components: the name of its ecosystem
	Description string // description of a component, for people
	Exec        string // prefix of a call of a package's program, with a space at its end
	Arguments   string // separator between "test" and the script's arguments
	Probe       func(tool string) string
	// HasWorkspaces reports whether a folder is the root of several packages even if package.json does not say
	// so. A nil HasWorkspaces means that package.json always says so.
	HasWorkspaces func(t *ecosystem.Tree, dir string) bool
	// RunsItself reports whether only the manager can run the installed programs of a folder's package. A nil
	// RunsItself means that they can be run without it.
	RunsItself func(dir string) bool
	// Owns reports whether a folder's package belongs to this manager.
	Owns func(t *ecosystem.Tree, dir, packageManager string) bool
}

// Detect finds the manager's packages with their own tests or lint, and claims their manifests. A check
// that a package above runs for its workspaces is not repeated.
func (m Manager) Detect(tree *ecosystem.Tree) []ecosystem.Component {
	var out []ecosystem.Component
	root := packageJSON{}
	found := map[string]*packageChecks{} // folder → checks
	var order []string
	ci, left := findCICalls(tree), maxParsed
	for _, dir := range tree.FoldersWith("package.json") {
		text := tree.ReadManifest(dir, "package.json")
		var manifest packageJSON
		// Unmarshal may fail because of fields of other types that are not needed here.
		err := json.Unmarshal([]byte(text), &manifest)
		if dir == "" {
			root = manifest
		}
		if tree.IsClaimed(manifestIn(dir)) || !m.Owns(tree, dir, manifest.PackageManager) {
			continue
		}
		tree.Claim(manifestIn(dir))
		if err != nil && len(manifest.Scripts) == 0 {
			tree.AddNote("package.json in %s cannot be read: %s", ecosystem.DisplayDir(dir),
				ecosystem.ExplainJSON([]byte(text), err))
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
		for _, above := range order { // dir may be a workspace that is checked already
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

// isSeparate reports whether the package in a folder has its own lock file. The package above does not
// install it then.
func isSeparate(tree *ecosystem.Tree, dir string) bool {
	return dir != "" && slices.ContainsFunc(
		lockFiles, func(l struct{ file, client string }) bool { return tree.HasFile(dir, l.file) })
}
