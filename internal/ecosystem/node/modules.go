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

// What the clients of npm packages share: manifests with the fields that count,
// the files that a client is shown, and node_modules on its way into the image.

// manifestFields are the fields of a package.json that affect the installation.
// Others stay out: scripts above all, and fields that would make a layer anew
// for nothing.
var manifestFields = []string{
	"name", "version", "dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "peerDependenciesMeta", "bundleDependencies",
	"bundledDependencies", "workspaces", "overrides", "bin", "engines", "os", "cpu",
}

// Manifests are the package.json files of a tree that no ecosystem has claimed.
func Manifests(s ecosystem.Sources) []string {
	all := s.FilesNamed("package.json")
	if len(all) > maxManifests {
		s.AddNote("only the first %d of %d package.json files are looked at", maxManifests, len(all))
		all = all[:maxManifests]
	}
	return slices.DeleteFunc(slices.Clone(all), s.IsClaimed)
}

// ReduceManifest is a manifest with the fields that count, and these. What cannot
// be read is shown to the client as it is: it explains the fault best.
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

// NamesPackages tells whether a manifest names packages.
func NamesPackages(text []byte) bool {
	var m struct{ Dependencies, DevDependencies map[string]any }
	return json.Unmarshal(text, &m) == nil && len(m.Dependencies)+len(m.DevDependencies) > 0
}

// Stage collects what a client is shown, each file once.
type Stage struct {
	sources ecosystem.Sources
	files   []ecosystem.StagedFile
	inputs  []string
	has     map[string]bool
}

// NewStage is an empty one.
func NewStage(s ecosystem.Sources) *Stage { return &Stage{sources: s, has: map[string]bool{}} }

// Add adds files, and an empty one for each program of a manifest among them,
// which the client wants to link.
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

// Files are all added ones.
func (g *Stage) Files() []ecosystem.StagedFile { return g.files }

// Inputs key a layer that is made from them.
func (g *Stage) Inputs() []string { return g.inputs }

// readBins are the files that a manifest names as commands.
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

// collector copies what a client has installed below a folder of the prepared
// dependencies, in the shape of the tree, and lists where node_modules lie for
// the script that links them into a fresh tree.
type collector struct {
	places ecosystem.Places
	name   string // of the folder
	dirs   map[string]bool
	native nativeParts
}

// NewCollector collects node_modules into a folder of that name.
func NewCollector(p ecosystem.Places, name string) ecosystem.Collector {
	return &collector{places: p, name: name, dirs: map[string]bool{}}
}

// Place puts what lies in a node_modules beside the others.
func (c *collector) Place(e ecosystem.Entry) (ecosystem.Entry, bool) {
	top, _, ok := strings.Cut("/"+e.Path+"/", "/node_modules/")
	if !ok {
		return e, false // the staged files
	}
	c.dirs[strings.TrimPrefix(top, "/")] = true
	c.native.addFile(e.Path)
	to := ecosystem.Entry{Path: path.Join(c.places.Deps, c.name, e.Path)}
	if e.Link != "" {
		if to.Link, ok = c.moveLink(e.Path, e.Link); !ok {
			return e, false
		}
	}
	return to, true
}

// Files is the list of the folders.
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

// Notes tell of native code that was not built.
func (c *collector) Notes() []string { return c.native.describeUnbuilt() }

// moveLink is the target of a client's link after the packages were moved: one to
// a package moves along, one to a workspace leads into the tree.
func (c *collector) moveLink(rel, target string) (string, bool) {
	to := target
	if !path.IsAbs(to) {
		to = path.Join(c.places.Build, path.Dir(rel), to)
	}
	below, ok := strings.CutPrefix(path.Clean(to), c.places.Build+"/")
	switch {
	case !ok:
		return "", false // out of the tree
	case !strings.Contains("/"+below+"/", "/node_modules/"):
		return path.Join(c.places.Workspace, below), true
	case path.IsAbs(target):
		return path.Join(c.places.Deps, c.name, below), true
	}
	return target, true
}
