package rust

import (
	"cmp"
	"maps"
	"path"
	"slices"

	"company/internal/company"
	"company/internal/ecosystem"
)

// cargoHome is the folder for cargo's settings beside the manifests of a project.
const cargoHome = ".company-cargo"

// Resolutions returns a run of cargo for each project that depends on crates and has no lock file. Cargo
// chooses the newest crates that fit the manifest and the image's compiler.
func (Ecosystem) Resolutions(sources ecosystem.Sources) (out []ecosystem.Resolution, err error) {
	manifests, err := readManifests(sources)
	if err != nil {
		return nil, err
	}
	// A crate of the tree may depend on any other one, so all manifests count.
	var wants []company.Dependency
	for _, name := range slices.Sorted(maps.Keys(manifests)) {
		for _, crate := range parseManifest(manifests[name]).wants {
			wants = append(wants, company.Dependency{Ecosystem: ecosystem.Crates, Name: crate})
		}
	}
	for _, openProject := range openProjects(sources, manifests) {
		if openProject.git != "" {
			continue
		}
		resolution := ecosystem.Resolution{Lock: path.Join(openProject.dir, lockFile),
			Manifest: path.Join(openProject.dir, manifest), ToKeep: toLock,
			Says: says, Wants: wants}
		for _, name := range slices.Sorted(maps.Keys(manifests)) {
			resolution.Stage = append(resolution.Stage, ecosystem.StagedFile{Path: name, Text: manifests[name]})
		}
		resolution.Stage = append(append(resolution.Stage, stageNames(sources, "")...), stageHome(sources, cargoHome))
		resolution.Step = ecosystem.Step{Dir: ".",
			Command: "cp -r " + cargoHome + " /tmp/cargo && cargo generate-lockfile -q --manifest-path " + resolution.Manifest,
			Env: map[string]string{"CARGO_HOME": "/tmp/cargo", "CARGO_NET_RETRY": "0",
				"CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS": "fallback"},
			Progress: "choosing the crates of " + resolution.Manifest + ", which has no " + lockFile,
			Failure:  "the crates that " + resolution.Manifest + " wants cannot be chosen, and it has no " + lockFile,
			Fix: "make one with `" + toLock +
				"` in your checkout, and commit it; or go on without crates, with container.deps: off: what needs them stays red"}
		if out = append(out, resolution); len(out) == ecosystem.MaxProjects {
			break
		}
	}
	return out, nil
}

const toLock = "cargo generate-lockfile"

// openProject is a folder whose manifests depend on crates and that has no lock file.
type openProject struct {
	dir   string
	wants bool
	git   string // a crate of a git repository, which cannot be fetched, or empty
}

// openProjects lists the open projects of a tree. A workspace is listed by its root.
func openProjects(sources ecosystem.Sources, manifests map[string][]byte) (out []openProject) {
	open := map[string]*openProject{}
	var dirs []string
	for _, name := range sources.FilesNamed(manifest) {
		dir := path.Dir(name)
		if _, read := manifests[name]; !read || hasLockAbove(sources, dir) || !ecosystem.IsPlainPath(dir) ||
			dir != "." && ecosystem.IsForeignDir(dir) || hasVendoredCrates(sources, dir) {
			continue
		}
		wishes, root := parseManifest(manifests[name]), workspaceOf(manifests, dir)
		if open[root] == nil {
			open[root] = &openProject{dir: root}
			dirs = append(dirs, root)
		}
		p := open[root]
		p.wants = p.wants || len(wishes.wants) > 0 || wishes.paths || wishes.broken && root == dir // cargo reports the error
		p.git = cmp.Or(p.git, wishes.git)
	}
	for _, dir := range dirs {
		if p := open[dir]; p.wants || p.git != "" {
			out = append(out, *p)
		}
	}
	return out
}

// workspaceOf returns the nearest folder from dir upwards whose manifest has a workspace table, or dir
// itself if there is none.
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

// hasLockAbove reports whether a folder or one above it has a lock file. The upper one belongs to the
// workspace.
func hasLockAbove(sources ecosystem.Sources, dir string) bool {
	for ; ; dir = path.Dir(dir) {
		if sources.HasFile(path.Join(dir, lockFile)) {
			return true
		}
		if dir == "." {
			return false
		}
	}
}

// noteOpen adds a note for each project without a lock file.
func noteOpen(sources ecosystem.Sources, manifests map[string][]byte) {
	for _, openProject := range openProjects(sources, manifests) {
		name := path.Join(openProject.dir, manifest)
		switch {
		case openProject.git != "":
			noteGit(sources, name, openProject.git)
		case sources.IsOffline():
			sources.AddNote("%s has no %s: nothing is installed, since container.deps is off", name, lockFile)
		default:
			sources.AddNote("%s has no %s: each task resolves it again (make one with `%s`)", name, lockFile, toLock)
		}
	}
}
