package pnpm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/ecosystem/locktree"
	"company/internal/ecosystem/node"
	"company/internal/lib/lazyregexp"
)

// parentRE matches the parent in an override, up to the sign in parent>name@version. A > after a blank, |
// or @ is part of a version range.
var parentRE = lazyregexp.New(`^.*[^ |@]>`)

// pair is a package (name) that is installed under another name (place).
type pair struct{ place, name string }

// link is a folder of the tree that replaces a package.
type link struct{ place, folder string }

// neededFields lists the dependency lists of an importer and of a package.
var neededFields = []string{"dependencies", "devDependencies", "optionalDependencies"}

// importer is a folder of the tree with its dependencies.
type importer struct {
	folder    string
	published string // the folder below it that links use in its place, or ""
	needs     []importerNeed
}

// publishedFolder returns the folder to which links to the importer's package lead, relative to the lock
// file.
func (i importer) publishedFolder() string { return path.Join(i.folder, i.published) }

// importerNeed is a dependency of an importer: the name, the request and the package that it gets.
type importerNeed struct{ name, request, reference string }

// hasPublished reports whether a manifest has the same published folder as the importer.
func (i importer) hasPublished(manifest map[string]json.RawMessage) bool {
	return i.published == "" || ecosystem.TextOf(ecosystem.FieldsOf(manifest["publishConfig"])["directory"]) == i.published
}

// askedPath returns the path in a request for a local folder or file, relative to the importer's folder.
func (n importerNeed) askedPath() (at string, isPath bool) {
	kind, at, _ := strings.Cut(n.request, ":")
	return at, kind == "link" || kind == "file" || kind == "workspace" && strings.HasPrefix(at, ".")
}

// askedAlias returns the name of the workspace in a request for it under another name, such as
// workspace:name@*. It returns "" for other requests.
func (n importerNeed) askedAlias() string {
	at, isWorkspace := strings.CutPrefix(n.request, "workspace:")
	if !isWorkspace || !strings.Contains(at[min(1, len(at)):], "@") {
		return ""
	}
	return node.FindAliased("npm:" + at)
}

func readImporters(root *locktree.Node) (out []importer) {
	all := root.Find("importers").Below()
	if len(all) == 0 && root != nil { // a project without workspaces in an earlier version of the file
		all = []*locktree.Node{root}
	}
	for _, n := range all {
		i := importer{folder: n.Key(), published: n.TextOf("publishDirectory")}
		for _, field := range neededFields {
			for _, need := range n.Find(field).Below() {
				one := importerNeed{need.Key(), need.TextOf("specifier"), need.TextOf("version")}
				if need.IsText() {
					one.request, one.reference = n.Find("specifiers").TextOf(need.Key()), need.Text
				}
				i.needs = append(i.needs, one)
			}
		}
		out = append(out, i)
	}
	return out
}

// replacements holds the packages that may be installed in place of others.
type replacements struct {
	format
	packages map[string]lockedPackage
	anywhere map[pair]bool // replacements by overrides, which pnpm compares with the project's settings
	ofSome   map[pair]bool // replacements that an importer requests, which may also be peers of packages
	folders  map[string]bool
	asked    map[link]bool // folders and files that importers request by path
}

func readReplacements(root *locktree.Node, importers []importer) replacements {
	format, _ := formatOf(root)
	r := replacements{format, map[string]lockedPackage{}, map[pair]bool{}, map[pair]bool{}, map[string]bool{},
		map[link]bool{}}
	for _, n := range root.Find("packages").Below() {
		r.packages[n.Key()] = format.readPackage(n)
	}
	for selector, request := range root.Find("overrides").Values() {
		r.anywhere[pair{cutSelector(selector), node.FindAliased(request)}] = true
	}
	for _, catalog := range root.Find("catalogs").Below() {
		for _, n := range catalog.Nodes {
			r.ofSome[pair{n.Key(), node.FindAliased(n.TextOf("specifier"))}] = true
		}
	}
	for _, i := range importers {
		r.folders[path.Clean(i.folder)], r.folders[i.publishedFolder()] = true, true
		for _, importerNeed := range i.needs {
			if at, isPath := importerNeed.askedPath(); isPath {
				r.asked[link{importerNeed.name, path.Join(i.folder, at)}] = true
			}
			r.ofSome[pair{importerNeed.name, node.FindAliased(importerNeed.request)}] = true
			_, local, isLocal := r.resolveReference(i.folder, importerNeed.name, importerNeed.reference)
			if isLocal && (strings.HasPrefix(importerNeed.request, "link:") ||
				strings.HasPrefix(importerNeed.request, "file:")) {
				r.folders[local] = true // may be the peer of a package
			}
		}
	}
	return r
}

// cutSelector returns the name of the package to which an override applies.
func cutSelector(selector string) string {
	place := strings.TrimPrefix(selector, parentRE.FindString(selector))
	if i := strings.LastIndexByte(place, '@'); i > 0 {
		place = place[:i]
	}
	return place
}

// isWanted reports whether an importer gets the package that it requests.
func (r replacements) isWanted(folder string, n importerNeed) bool {
	kind, asked, hasKind := strings.Cut(n.request, ":")
	name, local, isLocal := r.resolveReference(folder, n.name, n.reference)
	switch {
	case hasKind && (kind == "file" || kind == "link"):
		return isLocal && (local == path.Join(folder, asked) || path.IsAbs(asked))
	case isLocal:
		return r.folders[local] // a workspace, linked or copied
	case hasKind && kind == "workspace":
		return false
	case name == "" || name == n.name || r.anywhere[pair{n.name, name}]:
		return true
	case kind == "catalog":
		return r.ofSome[pair{n.name, name}]
	case kind == "npm":
		return node.FindAliased(n.request) == name
	}
	return hasKind // an address, which is compared elsewhere
}

// resolveReference returns the name of the package for a reference. For a file or folder it also returns
// the path, relative to the lock file's folder, and isLocal is true.
func (r replacements) resolveReference(folder, place, reference string) (name, at string, isLocal bool) {
	locator, key := r.readReference(place, reference)
	if p, ok := r.packages[key]; ok {
		locator = p.locator // it has a name even if the key has none
	}
	if !locator.isLocal {
		return locator.name, "", false
	}
	if !strings.HasPrefix(reference, "link:") { // relative to the lock file
		folder = ""
	}
	return locator.name, path.Join(folder, locator.local), true
}

// resolveNeed returns the package for a dependency in a package's own list. pnpm reads a link there
// relative to the lock file's folder. For a copied workspace, pnpm writes the link as in its package.json,
// relative to that workspace's folder.
func (r replacements) resolveNeed(pkg lockedPackage, place, reference string) (name, at string, isLocal bool) {
	name, at, isLocal = r.resolveReference("", place, reference)
	if copied, _, _ := strings.Cut(pkg.local, "("); strings.HasPrefix(reference, "link:") && !r.folders[at] &&
		copied != "" {
		_, own, _ := r.resolveReference(copied, place, reference)
		if r.asked[link{place, own}] {
			at = own
		}
	}
	return name, at, isLocal
}

// listLinks lists the folders and files of the tree that replace a package, linked or copied, together with
// the replaced name. It leaves out those that an importer or an override requests by path.
func listLinks(root *locktree.Node) (out []link) {
	importers := readImporters(root)
	replacements := readReplacements(root, importers)
	sources := map[string]string{}
	for _, i := range importers {
		sources[i.publishedFolder()] = path.Clean(i.folder)
	}
	for selector, request := range root.Find("overrides").Values() {
		if at, isPath := (importerNeed{request: request}).askedPath(); isPath {
			replacements.asked[link{cutSelector(selector), path.Clean(at)}] = true
		}
	}
	add := func(place, at string) {
		if source, ok := sources[at]; ok {
			at = source
		}
		out = append(out, link{place, at})
	}
	for _, importer := range importers {
		for _, n := range importer.needs {
			_, at, isLocal := replacements.resolveReference(importer.folder, n.name, n.reference)
			if !isLocal {
				continue
			}
			if alias := n.askedAlias(); alias != "" { // CheckManifests checks the request
				add(alias, at)
				replacements.asked[link{n.name, cmp.Or(sources[at], at)}] = true // may be the peer of a package
				continue
			}
			add(n.name, at)
		}
	}
	for _, section := range []string{"packages", "snapshots"} {
		for _, n := range root.Find(section).Below() {
			for _, field := range neededFields {
				for place, reference := range n.Find(field).Values() {
					if _, at, isLocal := replacements.resolveNeed(replacements.readPackage(n), place, reference); isLocal {
						add(place, at)
					}
				}
			}
		}
	}
	return slices.DeleteFunc(out, func(l link) bool { return replacements.asked[l] })
}

// listReplacements lists two kinds of substitutes. One is a package that an importer gets in place of the
// requested one. The other is an alias, file or folder in the dependencies of a package that no importer
// requests.
func listReplacements(root *locktree.Node) (out []ecosystem.Address) {
	importers := readImporters(root)
	replacements := readReplacements(root, importers)
	for _, importer := range importers {
		for _, importerNeed := range importer.needs {
			if !replacements.isWanted(importer.folder, importerNeed) {
				at := "replaced by " + importerNeed.reference + " in " + importer.folder
				out = append(out, ecosystem.Address{Dependency: newDependency(importerNeed.name), At: at})
			}
		}
	}
	for _, section := range []string{"packages", "snapshots"} {
		for _, n := range root.Find(section).Below() {
			pkg := replacements.readPackage(n)
			of := pkg.findDependency()
			if of.Name == "" {
				of = newDependency(n.Key())
			}
			for _, field := range neededFields {
				for place, reference := range n.Find(field).Values() {
					name, local, isLocal := replacements.resolveNeed(pkg, place, reference)
					switch {
					case isLocal && !replacements.folders[local]:
						out = append(out, node.NewAlias(of, place, reference))
					case !isLocal && name != "" && name != place && !replacements.anywhere[pair{place, name}] &&
						!replacements.ofSome[pair{place, name}]:
						out = append(out, node.NewAlias(of, place, name))
					}
				}
			}
		}
	}
	return out
}

var _ ecosystem.ManifestRepeater = Ecosystem{}

// ListManifests lists the manifests of the importers in a lock file.
func (Ecosystem) ListManifests(file string, text []byte) (paths []string) {
	root, _ := locktree.ReadYAML(text)
	for _, i := range readImporters(root) {
		paths = append(paths, node.ManifestOf(file, i.folder))
	}
	return paths
}

// CheckManifests returns an error if only the lock file, and no manifest, requests an alias or a folder. It
// also returns an error if a folder of the tree replaces a package and its package.json has another name.
func (Ecosystem) CheckManifests(file string, text, base []byte, manifests map[string][]byte) error {
	root, _ := locktree.ReadYAML(text)
	was, _ := locktree.ReadYAML(base)
	known, overrides := readImporters(was), slices.Collect(maps.Values(root.Find("overrides").Values()))
	for _, i := range readImporters(root) {
		index := slices.IndexFunc(known, func(k importer) bool { return k.folder == i.folder })
		manifest := node.ReadManifest(manifests[node.ManifestOf(file, i.folder)])
		if index < 0 && manifest == nil {
			return fmt.Errorf("the importer %q has no package.json", i.folder)
		}
		if !i.hasPublished(manifest) && !(index >= 0 && known[index].published == i.published) {
			return fmt.Errorf("the importer %q links to the folder %q, but its package.json does not", i.folder,
				i.published)
		}
		for _, importerNeed := range i.needs {
			_, isPath := importerNeed.askedPath()
			isOdd := isPath || importerNeed.askedAlias() != "" || strings.HasPrefix(importerNeed.request, "npm:")
			if !isOdd || index >= 0 && slices.Contains(known[index].needs, importerNeed) ||
				slices.Contains(overrides, importerNeed.request) {
				continue
			}
			if !slices.ContainsFunc(neededFields, func(field string) bool {
				return ecosystem.TextOf(ecosystem.FieldsOf(manifest[field])[importerNeed.name]) == importerNeed.request
			}) {
				return fmt.Errorf("the importer %q asks for %s as %s, but its package.json does not", i.folder,
					importerNeed.request, importerNeed.name)
			}
		}
	}
	had := listLinks(was)
	for _, link := range listLinks(root) {
		manifest := node.ReadManifest(manifests[node.ManifestOf(file, link.folder)])
		if ecosystem.TextOf(manifest["name"]) != link.place && !slices.Contains(had, link) {
			return fmt.Errorf("the folder %q replaces %s, but its package.json has another name",
				link.folder, link.place)
		}
	}
	return nil
}
