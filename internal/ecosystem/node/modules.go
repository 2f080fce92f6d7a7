package node

import (
	"encoding/json"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/ecosystem"
)

// Shared parts of the clients of npm packages: reduced manifests, the files that a client gets, and the
// copying of node_modules into the image.

// manifestFields are the fields of a package.json that affect the installation. Other fields are removed,
// above all scripts, and those that would needlessly cause a new layer.
var manifestFields = []string{
	"name", "version", "dependencies", "devDependencies", "optionalDependencies", "peerDependencies",
	"peerDependenciesMeta", "bundleDependencies",
	"bundledDependencies", "workspaces", "overrides", "bin", "engines", "os", "cpu",
}

// Manifests lists the package.json files of a tree that no ecosystem has claimed, at most maxManifests.
func Manifests(sources ecosystem.Sources) []string {
	all := sources.FilesNamed("package.json")
	if len(all) > maxManifests {
		sources.AddNote("only the first %d of %d package.json files are looked at", maxManifests, len(all))
		all = all[:maxManifests]
	}
	return slices.DeleteFunc(slices.Clone(all), sources.IsClaimed)
}

// ReduceManifest returns a manifest with only the relevant fields and those in more. An invalid manifest is
// returned unchanged, because the client explains its error best.
func ReduceManifest(text []byte, more ...string) []byte {
	var all, some map[string]json.RawMessage
	if json.Unmarshal(text, &all) != nil {
		return text
	}
	some = map[string]json.RawMessage{}
	for _, k := range append(slices.Clone(manifestFields), more...) {
		if v, ok := all[k]; ok {
			some[k] = v
		}
	}
	out, err := json.Marshal(some)
	if err != nil {
		return text
	}
	return out
}

// NamesPackages reports whether a manifest has dependencies or devDependencies.
func NamesPackages(text []byte) bool {
	var m struct{ Dependencies, DevDependencies map[string]any }
	return json.Unmarshal(text, &m) == nil && len(m.Dependencies)+len(m.DevDependencies) > 0
}

// Stage collects the files for a client, each once.
type Stage struct {
	sources ecosystem.Sources
	files   []ecosystem.StagedFile
	inputs  []string
	has     map[string]bool
}

// NewStage returns an empty Stage.
func NewStage(s ecosystem.Sources) *Stage { return &Stage{sources: s, has: map[string]bool{}} }

// Add adds files. It also adds an empty file for each program in the manifests among them, because the
// client links these programs.
func (g *Stage) Add(files map[string][]byte) {
	names := slices.Sorted(maps.Keys(files))
	for _, name := range names {
		g.put(name, files[name])
		g.inputs = append(g.inputs, g.sources.HashText(name), g.sources.HashText(string(files[name])))
	}
	for _, name := range names {
		if path.Base(name) != "package.json" {
			continue
		}
		for _, bin := range readBins(files[name]) {
			if bin = path.Join(path.Dir(name), bin); filepath.IsLocal(bin) && len(bin) < 200 {
				g.put(bin, nil)
			}
		}
	}
}

func (g *Stage) put(name string, text []byte) {
	if !g.has[name] {
		g.has[name] = true
		g.files = append(g.files, ecosystem.StagedFile{Path: name, Text: text})
	}
}

// Files returns all added files.
func (g *Stage) Files() []ecosystem.StagedFile { return g.files }

// Inputs returns the part of a layer's key for the added files.
func (g *Stage) Inputs() []string { return g.inputs }

// readBins returns the files that a manifest names as programs.
func readBins(text []byte) []string {
	var m struct{ Bin json.RawMessage }
	if json.Unmarshal(text, &m) != nil {
		return nil
	}
	var one string
	var many map[string]string
	if json.Unmarshal(m.Bin, &one) == nil {
		return []string{one}
	}
	_ = json.Unmarshal(m.Bin, &many)
	var out []string
	for _, k := range slices.Sorted(maps.Keys(many)) {
		out = append(out, many[k])
	}
	return out
}

// collector copies the packages that a client has installed into a folder of the prepared dependencies. The
// folder has the structure of the tree. It also lists the folders with node_modules for the script that
// links them into a fresh tree.
type collector struct {
	places ecosystem.Places
	name   string // name of the folder
	dirs   map[string]bool
	native nativeParts
}

// NewCollector returns a collector that copies node_modules into a folder of that name.
func NewCollector(p ecosystem.Places, name string) ecosystem.Collector {
	return &collector{places: p, name: name, dirs: map[string]bool{}}
}

// Place returns the place in the image of an entry in a node_modules folder.
func (c *collector) Place(entry ecosystem.Entry) (ecosystem.Entry, bool) {
	top, _, ok := strings.Cut("/"+entry.Path+"/", "/node_modules/")
	if !ok {
		return entry, false // a staged file
	}
	c.dirs[strings.TrimPrefix(top, "/")] = true
	c.native.addFile(entry.Path)
	to := ecosystem.Entry{Path: path.Join(c.places.Deps, c.name, entry.Path)}
	if entry.Link != "" {
		if to.Link, ok = c.moveLink(entry.Path, entry.Link); !ok {
			return entry, false
		}
	}
	return to, true
}

// Files returns the list of folders with node_modules.
func (c *collector) Files() []ecosystem.ImageFile {
	var list strings.Builder
	for _, d := range slices.Sorted(maps.Keys(c.dirs)) {
		if d != "" {
			d += "/"
		}
		list.WriteString(d + "\n")
	}
	return []ecosystem.ImageFile{{Path: path.Join(c.places.Deps, c.name+".dirs"), Text: []byte(list.String())}}
}

// Notes returns a note about native code that was not built.
func (c *collector) Notes() []string { return c.native.describeUnbuilt() }

// moveLink returns the target of a client's link after the packages were moved. A link to a package is
// moved along, and a link to a workspace gets its path in the tree. It returns false for a link out of the
// tree.
func (c *collector) moveLink(rel, target string) (string, bool) {
	to := target
	if !path.IsAbs(to) {
		to = path.Join(c.places.Build, path.Dir(rel), to)
	}
	below, ok := strings.CutPrefix(path.Clean(to), c.places.Build+"/")
	switch {
	case !ok:
		return "", false // outside of the tree
	case !strings.Contains("/"+below+"/", "/node_modules/"):
		return path.Join(c.places.Workspace, below), true
	case path.IsAbs(target):
		return path.Join(c.places.Deps, c.name, below), true
	}
	return target, true
}
