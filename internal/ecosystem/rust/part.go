package rust

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/shell"
)

// allMembers is the part of a test command that names all crates of a workspace.
const allMembers = " --workspace"

// Behind the workspace's folder and what cargo says of its members come lines of what cargo
// does not say: where manifests are, which sources are links, what takes one crate for
// another, which texts sources name, and which strings lead out of a folder.
const listMembers = `printf '%s\n' "$PWD" && cargo metadata --no-deps --offline --format-version 1 && {
find . -name Cargo.toml -type f | sed 's/^/manifest /'
find . -type l \( -name '*.rs' -o -xtype d \) | sed 's/^/link /'
grep -hsE '(^|[^-_[:alnum:]])(patch|replace|paths)([^-_[:alnum:]]|$)' Cargo.toml CONFIGS | sed 's/.*/override/'
grep -rhoE --include='*.rs' '[[:alnum:]_.-]+\.md' . | sort -u | sed 's/^/text /'
grep -roE --include='*.rs' '"[^"]*\.\./[^"]*"' . | sed 's/^/reads /'
true; }`

// ListCommand lists the members of a workspace and what they depend on. Nothing is compiled
// or resolved.
func (Ecosystem) ListCommand(gate company.GateCommand, _ []string) string {
	if gate.Plant != plantCargo || !strings.Contains(gate.Report, allMembers) {
		return ""
	}
	configs, up := "", ""
	for range ecosystem.Depth(gate.Dir) + 1 {
		configs += " " + up + ".cargo/config.toml " + up + ".cargo/config"
		up += "../"
	}
	return strings.Replace(listMembers, " CONFIGS", configs, 1)
}

// PartCommand is cargo test of these crates.
func (Ecosystem) PartCommand(gate company.GateCommand, names []string) string {
	if len(names) == 0 {
		return "exit 1"
	}
	crates := ""
	for _, n := range names {
		crates += " -p " + shell.QuoteArgument(n)
	}
	return strings.Replace(gate.Report, allMembers, crates, 1)
}

// IsRedForAll is never: crates that are built without the others of their workspace lack
// the features that those turn on, in themselves and in what they share.
func (Ecosystem) IsRedForAll(company.GateCheck) bool { return false }

// workspace is the output of ListCommand.
type workspace struct {
	root      string
	crates    []crate
	byDir     map[string]int
	manifests map[string]bool // folders
	texts     map[string]bool // names of Markdown files that sources name
	reads     [][2]string     // a source, and a path that it names
}

// crate is a member, as cargo describes it.
type crate struct {
	Name         string
	Version      string
	ManifestPath string `json:"manifest_path"`
	Dependencies []struct{ Kind, Path string }
	Targets      []crateTarget
}

type crateTarget struct {
	Kind    []string
	Name    string
	SrcPath string `json:"src_path"`
}

func (c crate) findFolder() string { return path.Dir(c.ManifestPath) }

// FindPart finds the crates that a change touches, and those that are built from them or
// whose tests are. Where one reads files of another by a path in its source, it depends on
// it. Not known: what is neither Rust nor Markdown, builds, has no member around it, or what
// sources name as a text.
func (Ecosystem) FindPart(gate company.GateCommand, changed []string, output string) (part ecosystem.TestPart, ok bool) {
	w, ok := readWorkspace(output)
	if !ok {
		return part, false
	}
	top := w.root
	if gate.Dir != "" {
		if top, ok = strings.CutSuffix(w.root, "/"+gate.Dir); !ok {
			return part, false
		}
	}
	touched := map[int]bool{} // whether more than tests are changed in one
	for _, p := range changed {
		name, file := path.Base(p), path.Join(top, p)
		i, inside := w.memberOf(file)
		switch path.Ext(name) {
		case ".md":
			if w.texts[name] {
				return part, false
			}
			if inside {
				touched[i] = true
			}
		case ".rs":
			if !inside || (Ecosystem{}).IsGateFile(p) || w.crates[i].isBuildScript(file) {
				return part, false
			}
			touched[i] = touched[i] || !w.crates[i].isTestSource(file)
		default:
			return part, false
		}
	}
	in := w.findReached(touched)
	// Binaries of tests that are not run. Where a crate of the part has one of the same
	// name, its missing tests are found on the merged tree.
	others := map[string]bool{}
	for i, c := range w.crates {
		if in[i] {
			part.Names = append(part.Names, c.Name+"@"+c.Version)
			continue
		}
		for _, u := range c.testUnits() {
			others[u] = true
		}
	}
	slices.Sort(part.Names)
	part.Unit, part.Of = "crate", len(w.crates)
	part.Has = func(test string) bool { return !isOfUnits(test, others) }
	return part, len(in) > 0
}

// findReached are the members that touched ones reach. More than tests of a member reaches
// what is built from it; a file of any kind reaches what reads it.
func (w *workspace) findReached(touched map[int]bool) map[int]bool {
	source := map[int]bool{}
	in := map[int]bool{}
	for i, more := range touched {
		in[i] = true
		if more {
			source[i] = true
		}
	}
	for _, r := range w.reads {
		from, ok := w.memberOf(r[0])
		for i := range touched {
			if ok && w.leadsTo(from, r, i) {
				source[from] = true
			}
		}
	}
	for grown := true; grown; {
		grown = false
		for i, c := range w.crates {
			for _, d := range c.Dependencies {
				at, isMember := w.byDir[path.Clean(d.Path)]
				if d.Path != "" && isMember && source[at] {
					in[i] = true
					if d.Kind != "dev" && !source[i] {
						source[i], grown = true, true
					}
				}
			}
		}
	}
	for i := range source {
		in[i] = true
	}
	return in
}

// leadsTo says whether a path in a member's source names a file of another member, or a
// folder with it. It may be relative to the source or to the member's folder.
func (w *workspace) leadsTo(from int, read [2]string, to int) bool {
	for _, base := range []string{path.Dir(read[0]), w.crates[from].findFolder()} {
		at := path.Join(base, read[1])
		if i, ok := w.memberOf(at); ok && i == to || ecosystem.IsUnder(w.crates[to].findFolder(), at) {
			return true
		}
	}
	return false
}

// memberOf is the member whose manifest is the nearest above a file.
func (w *workspace) memberOf(file string) (int, bool) {
	for dir := file; ; dir = path.Dir(dir) {
		if i, ok := w.byDir[dir]; ok {
			return i, true
		}
		if w.manifests[dir] || dir == "/" || dir == "." {
			return 0, false
		}
	}
}

// isBuildScript says whether a file is the build script of a crate.
func (c crate) isBuildScript(file string) bool {
	return slices.ContainsFunc(c.Targets, func(t crateTarget) bool {
		return t.SrcPath == file && slices.Contains(t.Kind, "custom-build")
	})
}

// isTestSource says whether a file is of tests alone: it lies where these lie, and what
// others build from lies in src.
func (c crate) isTestSource(file string) bool {
	rel := strings.TrimPrefix(file, c.findFolder()+"/")
	if first, _, below := strings.Cut(rel, "/"); !below || !slices.Contains([]string{"tests", "benches", "examples"}, first) {
		return false
	}
	return !slices.ContainsFunc(c.Targets, func(t crateTarget) bool {
		own := slices.Contains([]string{"test", "bench", "example"}, strings.Join(t.Kind, " "))
		return !own && !strings.HasPrefix(t.SrcPath, c.findFolder()+"/src/")
	})
}

// testUnits are the binaries of a crate's tests, as cargo's report calls them.
func (c crate) testUnits() []string {
	var out []string
	for _, t := range c.Targets {
		stem := strings.ReplaceAll(t.Name, "-", "_")
		out = append(out, stem+" "+strings.TrimPrefix(t.SrcPath, c.findFolder()+"/"))
		if !slices.Contains([]string{"test", "bench", "example", "bin", "custom-build"}, strings.Join(t.Kind, " ")) {
			out = append(out, stem) // of documentation
		}
	}
	return out
}

// isOfUnits says whether a test is one of such a binary, by its name.
func isOfUnits(test string, units map[string]bool) bool {
	stem, rest, _ := strings.Cut(test, " ")
	file, doc, _ := strings.Cut(rest, " ")
	if strings.HasPrefix(doc, "- ") {
		return units[stem]
	}
	return units[stem+" "+file]
}

// readWorkspace reads the output of ListCommand. Not ok: it is none, or has what its
// dependencies do not tell: a member outside of its folder or one that depends on a crate
// by its path that is no member, links, crates that stand for others.
func readWorkspace(output string) (*workspace, bool) {
	root, rest, ok := strings.Cut(output, "\n")
	metadata, rest, more := strings.Cut(rest, "\n")
	var said struct {
		Packages []crate
		Root     string `json:"workspace_root"`
	}
	if !ok || !more || json.Unmarshal([]byte(metadata), &said) != nil || said.Root != root || len(said.Packages) == 0 {
		return nil, false
	}
	w := &workspace{root: root, crates: said.Packages, byDir: map[string]int{}, manifests: map[string]bool{}, texts: map[string]bool{}}
	for line := range strings.Lines(rest) {
		kind, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch kind {
		case "manifest":
			w.manifests[path.Join(root, path.Dir(value))] = true
		case "text":
			w.texts[value] = true
		case "reads":
			file, quoted, ok := strings.Cut(value, `:"`)
			if !ok {
				return nil, false
			}
			w.reads = append(w.reads, [2]string{path.Join(root, file), strings.TrimSuffix(quoted, `"`)})
		default:
			return nil, false
		}
	}
	for i, c := range w.crates {
		if !w.manifests[c.findFolder()] || c.Name == "" || c.Version == "" {
			return nil, false
		}
		w.byDir[c.findFolder()] = i
	}
	return w, w.isWhole()
}

// isWhole says whether the members are all that they build from by a path, and their sources
// lie in their own folders.
func (w *workspace) isWhole() bool {
	for i, c := range w.crates {
		for _, d := range c.Dependencies {
			if _, isMember := w.byDir[path.Clean(d.Path)]; d.Path != "" && !isMember {
				return false
			}
		}
		for _, t := range c.Targets {
			if at, ok := w.memberOf(t.SrcPath); !ok || at != i {
				return false
			}
		}
	}
	return true
}
