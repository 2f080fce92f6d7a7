package rust

import (
	"cmp"
	"maps"
	"path"
	"slices"

	"company/internal/company"
	"company/internal/ecosystem"
)

// cargoHome is where cargo's settings lie beside the manifests of a project.
const cargoHome = ".company-cargo"

// Resolutions are the lock files of projects that want crates and have none: cargo
// chooses the newest crates that fit, and that the compiler of the image takes.
func (Ecosystem) Resolutions(s ecosystem.Sources) (out []ecosystem.Resolution, err error) {
	manifests, err := readManifests(s)
	if err != nil {
		return nil, err
	}
	// A crate of the tree may need another one, wherever it lies.
	var wants []company.Dependency
	for _, name := range slices.Sorted(maps.Keys(manifests)) {
		for _, crate := range parseManifest(manifests[name]).wants {
			wants = append(wants, company.Dependency{Ecosystem: ecosystem.Crates, Name: crate})
		}
	}
	for _, p := range openProjects(s, manifests) {
		if p.git != "" {
			continue
		}
		r := ecosystem.Resolution{Lock: path.Join(p.dir, lockFile), Manifest: path.Join(p.dir, manifest), ToKeep: toLock, Says: says, Wants: wants}
		for _, name := range slices.Sorted(maps.Keys(manifests)) {
			r.Stage = append(r.Stage, ecosystem.StagedFile{Path: name, Text: manifests[name]})
		}
		r.Stage = append(append(r.Stage, stageNames(s, "")...), stageHome(s, cargoHome))
		r.Step = ecosystem.Step{Dir: ".", Command: "cp -r " + cargoHome + " /tmp/cargo && cargo generate-lockfile -q --manifest-path " + r.Manifest,
			Env:      map[string]string{"CARGO_HOME": "/tmp/cargo", "CARGO_NET_RETRY": "0", "CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS": "fallback"},
			Progress: "choosing the crates of " + r.Manifest + ", which has no " + lockFile, Failure: "the crates that " + r.Manifest + " wants cannot be chosen, and it has no " + lockFile,
			Fix: "make one with `" + toLock + "` in your checkout, and commit it; or go on without crates, with container.deps: off: what needs them stays red"}
		if out = append(out, r); len(out) == ecosystem.MaxProjects {
			break
		}
	}
	return out, nil
}

const toLock = "cargo generate-lockfile"

// openProject is a folder whose manifests want crates, and no lock file names them.
type openProject struct {
	dir   string
	wants bool
	git   string // a crate of a git repository, which cannot be had; empty: there is none
}

// openProjects are those of a tree, of workspaces their roots.
func openProjects(s ecosystem.Sources, manifests map[string][]byte) (out []openProject) {
	open := map[string]*openProject{}
	var dirs []string
	for _, name := range s.FilesNamed(manifest) {
		dir := path.Dir(name)
		if _, read := manifests[name]; !read || hasLockAbove(s, dir) || !ecosystem.IsPlainPath(dir) || dir != "." && ecosystem.IsForeignDir(dir) || hasVendoredCrates(s, dir) {
			continue
		}
		m, root := parseManifest(manifests[name]), workspaceOf(manifests, dir)
		if open[root] == nil {
			open[root] = &openProject{dir: root}
			dirs = append(dirs, root)
		}
		p := open[root]
		p.wants = p.wants || len(m.wants) > 0 || m.paths || m.broken && root == dir // cargo reports its fault
		p.git = cmp.Or(p.git, m.git)
	}
	for _, dir := range dirs {
		if p := open[dir]; p.wants || p.git != "" {
			out = append(out, *p)
		}
	}
	return out
}

// workspaceOf is the root of the workspace that a crate may belong to, or its own
// folder.
func workspaceOf(manifests map[string][]byte, dir string) string {
	for at := dir; ; at = path.Dir(at) {
		if workspaceTable.Match(manifests[path.Join(at, manifest)]) {
			return at
		}
		if at == "." {
			return dir
		}
	}
}

// hasLockAbove tells whether a lock file lies in a folder or in one above it: that of
// its workspace.
func hasLockAbove(s ecosystem.Sources, dir string) bool {
	for ; ; dir = path.Dir(dir) {
		if s.HasFile(path.Join(dir, lockFile)) {
			return true
		}
		if dir == "." {
			return false
		}
	}
}

// noteOpen notes projects without a lock file.
func noteOpen(s ecosystem.Sources, manifests map[string][]byte) {
	for _, p := range openProjects(s, manifests) {
		name := path.Join(p.dir, manifest)
		switch {
		case p.git != "":
			noteGit(s, name, p.git)
		case s.IsOffline():
			s.AddNote("%s has no %s: nothing is installed, since container.deps is off", name, lockFile)
		default:
			s.AddNote("%s has no %s: each task resolves it anew (make one with `%s`)", name, lockFile, toLock)
		}
	}
}
