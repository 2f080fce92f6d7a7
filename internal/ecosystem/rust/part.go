package rust

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/shellquote"
)

// allMembers is the option of a test command that selects all crates of a workspace.
const allMembers = " --workspace"

// listMembers prints the workspace's folder and cargo's metadata of its members. The lines after that
// report facts that the metadata lacks: where manifests are, which sources are links, settings that replace
// one crate by another, which Markdown files sources name, and which strings point outside of a folder.
const listMembers = `printf '%s\n' "$PWD" && cargo metadata --no-deps --offline --format-version 1 && {
find . -name Cargo.toml -type f | sed 's/^/manifest /'
find . -type l \( -name '*.rs' -o -xtype d \) | sed 's/^/link /'
grep -hsE '(^|[^-_[:alnum:]])(patch|replace|paths)([^-_[:alnum:]]|$)' Cargo.toml CONFIGS | sed 's/.*/override/'
grep -rhoE --include='*.rs' '[[:alnum:]_.-]+\.md' . | sort -u | sed 's/^/text /'
grep -roE --include='*.rs' '"[^"]*\.\./[^"]*"' . | sed 's/^/reads /'
true; }`

// ListCommand returns the command that lists the members of a workspace and their dependencies. It compiles
// and resolves nothing.
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

// PartCommand returns the cargo test command for the named crates.
func (Ecosystem) PartCommand(gate company.GateCommand, names []string) string {
	if len(names) == 0 {
		return "exit 1"
	}
	crates := ""
	for _, n := range names {
		crates += " -p " + shellquote.QuoteArgument(n)
	}
	return strings.Replace(gate.Report, allMembers, crates, 1)
}

// IsRedForAll always returns false. Crates that are built without the rest of their workspace lack the
// features that the other crates turn on, in themselves and in shared dependencies.
func (Ecosystem) IsRedForAll(company.GateCheck) bool { return false }

// workspace is the parsed output of ListCommand.
type workspace struct {
	root      string
	crates    []crate
	byDir     map[string]int
	manifests map[string]bool // folders that have a manifest
	texts     map[string]bool // names of Markdown files that sources name
	reads     [][2]string     // pairs of a source file and a path that it names
}

// crate is a member of the workspace, as cargo's metadata describes it.
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

// FindPart finds the crates that a change touches, the crates that are built from them, and those whose
// tests use them. A crate also depends on another one if its source names a path in that crate. FindPart
// returns false if a changed file is neither Rust nor Markdown, is a build script or gate file, is a Rust
// file outside of all members, or is a Markdown file that sources name.
func (Ecosystem) FindPart(
	gate company.GateCommand, changed []string, output string,
) (part ecosystem.TestPart, ok bool) {
	workspace, ok := readWorkspace(output)
	if !ok {
		return part, false
	}
	top := workspace.root
	if gate.Dir != "" {
		if top, ok = strings.CutSuffix(workspace.root, "/"+gate.Dir); !ok {
			return part, false
		}
	}
	touched := map[int]bool{} // member → whether more than its tests changed
	for _, p := range changed {
		name, file := path.Base(p), path.Join(top, p)
		i, inside := workspace.memberOf(file)
		switch path.Ext(name) {
		case ".md":
			if workspace.texts[name] {
				return part, false
			}
			if inside {
				touched[i] = true
			}
		case ".rs":
			if !inside || (Ecosystem{}).IsGateFile(p) || workspace.crates[i].isBuildScript(file) {
				return part, false
			}
			touched[i] = touched[i] || !workspace.crates[i].isTestSource(file)
		default:
			return part, false
		}
	}
	in := workspace.findReached(touched)
	// others holds the test binaries that are not run. If a crate of the part has a binary of the same name,
	// its missing tests are only found on the merged tree.
	others := map[string]bool{}
	for i, crate := range workspace.crates {
		if in[i] {
			part.Names = append(part.Names, crate.Name+"@"+crate.Version)
			continue
		}
		for _, u := range crate.testUnits() {
			others[u] = true
		}
	}
	slices.Sort(part.Names)
	part.Unit, part.Of = "crate", len(workspace.crates)
	part.Has = func(test string) bool { return !isOfUnits(test, others) }
	return part, len(in) > 0
}

// findReached returns the members that a change of the touched ones can affect. A change to more than a
// member's tests affects the crates built from it. A change of any file affects the members that read that
// file.
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
				index, isMember := w.byDir[path.Clean(d.Path)]
				if d.Path != "" && isMember && source[index] {
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

// leadsTo reports whether a path in a member's source points to a file of the member to, or to a folder
// that contains that member. The path may be relative to the source file or to the folder of its member.
func (w *workspace) leadsTo(from int, read [2]string, to int) bool {
	for _, base := range []string{path.Dir(read[0]), w.crates[from].findFolder()} {
		at := path.Join(base, read[1])
		if i, ok := w.memberOf(at); ok && i == to || ecosystem.IsUnder(w.crates[to].findFolder(), at) {
			return true
		}
	}
	return false
}

// memberOf returns the member whose manifest is nearest above a file. It returns false if the nearest
// manifest is not a member's.
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

// isBuildScript reports whether a file is the build script of a crate.
func (c crate) isBuildScript(file string) bool {
	return slices.ContainsFunc(c.Targets, func(t crateTarget) bool {
		return t.SrcPath == file && slices.Contains(t.Kind, "custom-build")
	})
}

// isTestSource reports whether a file belongs to tests only. It must be in tests, benches or examples, and
// all other targets of the crate must be in src.
func (c crate) isTestSource(file string) bool {
	rel := strings.TrimPrefix(file, c.findFolder()+"/")
	if first, _, below := strings.Cut(rel, "/"); !below ||
		!slices.Contains([]string{"tests", "benches", "examples"}, first) {
		return false
	}
	return !slices.ContainsFunc(c.Targets, func(t crateTarget) bool {
		own := slices.Contains([]string{"test", "bench", "example"}, strings.Join(t.Kind, " "))
		return !own && !strings.HasPrefix(t.SrcPath, c.findFolder()+"/src/")
	})
}

// testUnits returns the test binaries of a crate, named as in cargo's report.
func (c crate) testUnits() []string {
	var out []string
	for _, crateTarget := range c.Targets {
		stem := strings.ReplaceAll(crateTarget.Name, "-", "_")
		out = append(out, stem+" "+strings.TrimPrefix(crateTarget.SrcPath, c.findFolder()+"/"))
		if !slices.Contains([]string{"test", "bench", "example", "bin", "custom-build"},
			strings.Join(crateTarget.Kind, " ")) {
			out = append(out, stem) // documentation tests
		}
	}
	return out
}

// isOfUnits reports whether a test, by its name, belongs to one of the binaries in units.
func isOfUnits(test string, units map[string]bool) bool {
	stem, rest, _ := strings.Cut(test, " ")
	file, doc, _ := strings.Cut(rest, " ")
	if strings.HasPrefix(doc, "- ") {
		return units[stem]
	}
	return units[stem+" "+file]
}

// readWorkspace parses the output of ListCommand. It returns false if the output is invalid, or if the
// dependencies alone do not describe the workspace. The latter applies to sources that are links, crates
// that replace others, members outside of their own folder, and path dependencies that are not members.
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
	w := &workspace{root: root, crates: said.Packages, byDir: map[string]int{}, manifests: map[string]bool{},
		texts: map[string]bool{}}
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

// isWhole reports whether all path dependencies are members and each member's sources are in its own
// folder.
func (w *workspace) isWhole() bool {
	for i, crate := range w.crates {
		for _, d := range crate.Dependencies {
			if _, isMember := w.byDir[path.Clean(d.Path)]; d.Path != "" && !isMember {
				return false
			}
		}
		for _, t := range crate.Targets {
			if index, ok := w.memberOf(t.SrcPath); !ok || index != i {
				return false
			}
		}
	}
	return true
}
