package node

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/company/glob"
	"company/internal/ecosystem"
)

var _ ecosystem.ManifestRepeater = Ecosystem{}

// ListManifests lists the manifests of the project and of the tree's folders that a lock file names.
func (Ecosystem) ListManifests(file string, text []byte) []string {
	paths := []string{ManifestOf(file, "")}
	for where, p := range readPackages(text) {
		if folder, ok := p.findFolder(where); ok {
			paths = append(paths, ManifestOf(file, folder))
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// CheckManifests compares the entries of the project and of its folders with their manifests and with the
// base's lock file. It does so because npm trusts the lock file if it cannot read a manifest. The manifests
// also decide which package, folder or file may replace a package.
func (Ecosystem) CheckManifests(file string, text, base []byte, manifests map[string][]byte) error {
	tree := newTree(readPackages(text), readPackages(base), manifests[ManifestOf(file, "")])
	for _, where := range slices.Sorted(maps.Keys(tree.packages)) {
		if p := tree.packages[where]; isFolder(where) && !reflect.DeepEqual(p, tree.known[where]) {
			if err := p.checkManifest(where, manifests[ManifestOf(file, where)]); err != nil {
				return err
			}
		}
	}
	tree.addOverrides("", tree.project["overrides"], 0)
	for where, pkg := range tree.packages {
		folder, ok := pkg.findFolder(where)
		tree.addNeeds(folder, pkg.Needs, isFolder(where))
		if manifest := ReadManifest(manifests[ManifestOf(file, folder)]); ok && manifest != nil {
			tree.names[folder] = cmp.Or(ecosystem.TextOf(manifest["name"]), path.Base(folder))
			tree.addNeeds(folder, listNeeds(manifest), true)
		}
	}
	for _, where := range slices.Sorted(maps.Keys(tree.packages)) {
		if err := tree.checkPlace(where); err != nil {
			return err
		}
	}
	return nil
}

var _ ecosystem.OverrideLister = Ecosystem{}

// ListOverridden lists the requests in the older list that the project's overrides replace by an alias. npm
// writes the alias in place of the package's own request.
func (Ecosystem) ListOverridden(file string, text []byte, manifests map[string][]byte) (out []ecosystem.Address) {
	tree := newTree(readPackages(text), nil, manifests[ManifestOf(file, "")])
	tree.isAskedFor = map[need]bool{} // only those of overrides
	tree.addOverrides("", tree.project["overrides"], 0)
	for where, pkg := range tree.packages {
		dependency, _ := pkg.findDependency(where)
		for _, n := range pkg.Needs {
			if pkg.IsOld && tree.isAskedFor[n.cutVersion()] {
				out = append(out, NewRequest(dependency, n.name, n.request))
			}
		}
	}
	return out
}

// checkManifest returns an error if a folder's entry has a program or dependency that its manifest lacks.
func (p lockedPackage) checkManifest(where string, manifest []byte) error {
	f := ReadManifest(manifest)
	dependency := company.Dependency{Ecosystem: ecosystem.NPM, Name: where}
	has := packageVersion{Bin: f["bin"]}.listPrograms(ecosystem.TextOf(f["name"]))
	if len(p.Bin) > 0 && NewPrograms(dependency, p.Bin) != NewPrograms(dependency, has) {
		return fmt.Errorf("the entry %q has programs that its package.json does not name", where)
	}
	needs := listNeeds(f)
	for _, need := range p.Needs {
		if !slices.Contains(needs, need) {
			return fmt.Errorf("the entry %q asks for %s, but its package.json does not", where, need.name)
		}
	}
	return nil
}

// tree holds the entries of a lock file by place, and the requests for packages.
type tree struct {
	packages, known map[string]lockedPackage
	project         map[string]json.RawMessage // the project's manifest
	isThere         map[string]bool            // names of all packages
	isAskedFor      map[need]bool              // requested aliases: a name and the package for it
	ofFiles         map[need]bool              // requested files and folders: name, path from the project
	names           map[string]string          // folder → name in its manifest
	parts           []glob.Glob                // patterns of the project's workspaces
	budget          int                        // remaining steps for matching parts
}

func newTree(packages, known map[string]lockedPackage, project []byte) *tree {
	t := &tree{
		packages: packages, known: known, project: ReadManifest(project), isThere: map[string]bool{"": true},
		isAskedFor: map[need]bool{}, ofFiles: map[need]bool{}, names: map[string]string{}, budget: workspaceSteps,
	}
	for where, p := range packages {
		d, _ := p.findDependency(where)
		t.isThere[d.Name] = true
	}
	for _, pattern := range listPatterns(cutMark(project)) {
		if g, err := parsePattern(pattern); err == nil && len(t.parts) < maxWorkspacePatterns {
			t.parts = append(t.parts, g)
		}
	}
	t.addNeeds("", listNeeds(t.project), true)
	return t
}

// cutMark removes a byte order mark, which clients ignore in a manifest.
func cutMark(manifest []byte) []byte { return bytes.TrimPrefix(manifest, []byte("\ufeff")) }

// ReadManifest returns the fields of a package.json as clients read it. It returns nil for an invalid text.
func ReadManifest(text []byte) map[string]json.RawMessage { return ecosystem.FieldsOf(cutMark(text)) }

// listNeeds lists the dependencies of a manifest.
func listNeeds(manifest map[string]json.RawMessage) (needs []need) {
	for _, field := range needFields {
		needs = appendNeeds(needs, manifest[field])
	}
	return needs
}

// addOverrides adds the overrides of a package: a version for it, or a list for its dependencies, in which
// "." is the package itself. The list has no effect if there is no such package. A version such as $name
// stands for the project's own request for that name.
func (t *tree) addOverrides(of string, raw json.RawMessage, depth int) {
	if text := ecosystem.TextOf(raw); text != "" {
		if name, isName := strings.CutPrefix(text, "$"); isName {
			for _, field := range []string{"peerDependencies", "dependencies", "optionalDependencies", "devDependencies"} {
				text = cmp.Or(ecosystem.TextOf(ecosystem.FieldsOf(t.project[field])[name]), text) // npm uses the last one
			}
		}
		t.addNeeds("", []need{{of, text}}, true)
		return
	}
	if depth > maxNesting {
		return
	}
	for key, below := range ecosystem.FieldsOf(raw) {
		name := of
		if key != "." {
			name = key
			if i := strings.LastIndexByte(key, '@'); i > 0 { // limited to some versions
				name = key[:i]
			}
		}
		if key == "." || t.isThere[of] {
			t.addOverrides(name, below, depth+1)
		}
	}
}

// addNeeds adds the requests of an entry. Requests of a folder may be for files and folders, with paths
// relative to that folder.
func (t *tree) addNeeds(folder string, needs []need, ofFolder bool) {
	for _, n := range needs {
		if name := FindAliased(n.request); name != "" {
			t.isAskedFor[need{n.name, name}] = true
		}
		isPath := strings.HasPrefix(n.request, "./") || strings.HasPrefix(n.request, "../")
		if at, isFile := cutFile(n.request); ofFolder && (isFile || isPath) {
			t.ofFiles[need{n.name, path.Join(folder, at)}] = true
		}
	}
}

// isWorkspace reports whether a folder is a workspace of the project and its package has the name.
func (t *tree) isWorkspace(name, folder string) bool {
	includes := func(g glob.Glob) bool { return g.MatchWithin(folder, &t.budget) }
	return t.names[folder] == name && slices.ContainsFunc(t.parts, includes)
}

// checkPlace returns an error if a place holds a package that neither a manifest nor its parent requests
// there.
func (t *tree) checkPlace(where string) error {
	pkg := t.packages[where]
	_, place, ok := cutLast(where, "node_modules/")
	was, had := t.known[where]
	if !ok || had && was.Name == pkg.Name && was.Link == pkg.Link && was.Resolved == pkg.Resolved {
		return nil
	}
	if _, isThere := t.packages[pkg.Resolved]; pkg.Link && !pkg.IsOld && (!isThere || !isFolder(pkg.Resolved)) {
		return fmt.Errorf("the entry %q is a link outside of the project's folders", where)
	}
	at, isFile := cutFile(pkg.Resolved)
	if at = path.Clean(at); isFile || pkg.Link {
		if t.ofFiles[need{place, at}] || pkg.Link && t.isWorkspace(place, at) {
			return nil
		}
		if filepath.IsLocal(at) { // other paths are compared as addresses
			return fmt.Errorf("the entry %q is %s of the tree, which no package.json asks for there", where, at)
		}
	}
	if dependency, _ := pkg.findDependency(where); dependency.Name != place && !pkg.Link &&
		!t.isAskedFor[need{place, dependency.Name}] &&
		!(had && was.Name == pkg.Name) {
		return fmt.Errorf("the entry %q has the package %s, which no package.json asks for there", where, dependency.Name)
	}
	return nil
}

// cutFile returns the path in an address or request such as file:x.tgz, percent-decoded as npm does. A path
// with # or ?, which ends it for some readers, is returned as a path outside of the tree.
func cutFile(address string) (at string, isFile bool) {
	at, isFile = strings.CutPrefix(address, "file:")
	if isFile && strings.ContainsAny(at, "#?") {
		return "../" + at, true
	}
	if decoded, err := url.PathUnescape(at); isFile && err == nil {
		at = decoded
	}
	return at, isFile
}

// findFolder returns the folder of an entry or the target folder of a link.
func (p lockedPackage) findFolder(where string) (folder string, ok bool) {
	at, _ := cutFile(p.Resolved)
	if p.Link && filepath.IsLocal(at) {
		return path.Clean(at), true
	}
	return where, isFolder(where)
}

// isFolder reports whether a place is a folder of the tree, such as the project's own, and not a package.
func isFolder(where string) bool {
	return !slices.Contains(strings.Split(where, "/"), "node_modules")
}

// ManifestOf returns the path of the package.json in a folder that a lock file names.
func ManifestOf(file, folder string) string {
	return path.Join(path.Dir(file), folder, "package.json")
}
