package gates

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/gitops"
)

// Names of checks, in the order in which they run (GAT-1). Where a repository
// has several parts, the part stands behind: "test (web)".
const (
	Lint = "lint"
	Test = "test"
)

// Options say what Detect is to find.
type Options struct {
	Lint, Test CommandOverride // what the config says; empty: auto
	Paths      []string        // folders that count, as in git.paths; none: all of the repository
}

// Project is what a repository is, as far as its checks go.
type Project struct {
	Gates      []company.GateCommand
	Toolchains []string // what the image needs: go, node, python, rust, make, c, cgo
	Notes      []string // what was found and what was left out, for people
}

// maxComponents is how many folders of a repository get gates of their own. Beyond
// it a verdict would take longer than the work.
const maxComponents = 8

// maxManifest is the largest manifest that is read, in bytes.
const maxManifest = 1 << 20

// toolchains are what an image can be asked for, in the order of Project.
var toolchains = []string{"go", "node", "python", "rust", "make", "c", "cgo"}

// component is a folder with a manifest, and the checks that it calls for.
type component struct {
	dir, kind   string // "" is the root; kind is one of toolchains
	lint, test  *company.GateCommand
	description string // for the notes: "Go module", "npm package", …
}

// repoScan is what is known of the files while the parts are looked for. Of the
// content of a repository it believes nothing: what cannot be read is noted.
type repoScan struct {
	ctx    context.Context
	mirror *gitops.Mirror
	files  map[string]gitops.Entry // regular files by path
	dirs   map[string][]string     // names of the files in a folder
	notes  []string
	err    error // of git, not of what a file says
}

// Detect finds the gates of a project: what the config gives, and for auto
// what the files of the base commit call for. It reads git objects only.
func Detect(ctx context.Context, m *gitops.Mirror, base company.OID, o Options) (Project, error) {
	entries, err := m.List(ctx, base)
	if err != nil {
		return Project{}, err
	}
	s := &repoScan{ctx: ctx, mirror: m, files: map[string]gitops.Entry{}, dirs: map[string][]string{}}
	for _, e := range entries {
		if e.Mode == gitops.ModeFile || e.Mode == gitops.ModeExec {
			dir, name := splitPath(e.Path)
			s.files[e.Path] = e
			s.dirs[dir] = append(s.dirs[dir], name)
		}
	}
	parts := s.keepWithin(s.findComponents(), o.Paths)
	if s.err != nil {
		return Project{}, s.err
	}
	if len(parts) > maxComponents {
		s.addNote("%d parts have checks; the first %d are gates, not %s (gates.lint and gates.test can name one command for all)",
			len(parts), maxComponents, joinDirs(parts[maxComponents:]))
		parts = parts[:maxComponents]
	}
	p := Project{Gates: s.gatesFor(parts, o)}
	if p.Toolchains = s.neededToolchains(parts, o); s.err != nil {
		return Project{}, s.err
	}
	for _, part := range parts {
		p.Notes = append(p.Notes, part.summarizeChecks(o))
	}
	for _, g := range []struct {
		name  string
		given CommandOverride
	}{{Lint, o.Lint}, {Test, o.Test}} {
		switch {
		case g.given == None:
			p.Notes = append(p.Notes, "no "+g.name+": gates."+g.name+" is none")
		case !g.given.isAuto():
			p.Notes = append(p.Notes, g.name+": "+string(g.given)+" (gates."+g.name+")")
		case !slices.ContainsFunc(p.Gates, func(c company.GateCommand) bool { return strings.HasPrefix(c.Name, g.name) }):
			p.Notes = append(p.Notes, "no "+g.name+" command was found")
		}
	}
	p.Notes = append(p.Notes, s.notes...)
	return p, nil
}

// findComponents looks for every kind of project there is, in the order in which they
// are shown: folders by depth, then by name.
func (s *repoScan) findComponents() []component {
	var out []component
	for _, find := range []func() []component{s.goComponents, s.nodeComponents, s.pythonComponents, s.rustComponents} {
		out = append(out, find()...)
	}
	known := len(out) > 0
	if !known {
		out = s.makeComponents()
	}
	s.noteUnknownKinds(known)
	slices.SortStableFunc(out, func(a, b component) int {
		if d := pathDepth(a.dir) - pathDepth(b.dir); d != 0 {
			return d
		}
		return strings.Compare(a.dir, b.dir)
	})
	return out
}

// gatesFor are the checks of all parts: lint of all before test of all. A command
// that the config gives stands for the lint, or the test, of the whole.
func (s *repoScan) gatesFor(parts []component, o Options) []company.GateCommand {
	var out []company.GateCommand
	for _, k := range []struct {
		name  string
		given CommandOverride
		of    func(component) *company.GateCommand
	}{
		{Lint, o.Lint, func(p component) *company.GateCommand { return p.lint }},
		{Test, o.Test, func(p component) *company.GateCommand { return p.test }},
	} {
		switch {
		case k.given == None:
			continue
		case !k.given.isAuto():
			out = append(out, k.given.toGate(k.name))
			continue
		}
		var found []component
		for _, p := range parts {
			if k.of(p) != nil {
				found = append(found, p)
			}
		}
		for _, p := range found {
			g := *k.of(p)
			g.Name, g.Dir = k.name, p.dir
			if len(found) > 1 {
				g.Name += " (" + p.displayName(found) + ")"
			}
			out = append(out, g)
		}
	}
	return out
}

// displayName tells a part from the others: its folder, and its kind where that is
// not enough.
func (p component) displayName(all []component) string {
	same := 0
	for _, o := range all {
		if o.dir == p.dir {
			same++
		}
	}
	switch {
	case p.dir == "":
		return p.kind
	case same > 1:
		return p.dir + " " + p.kind
	}
	return p.dir
}

// summarizeChecks says in plain words what a part's checks are.
func (p component) summarizeChecks(o Options) string {
	var what []string
	for _, g := range []struct {
		name  string
		given CommandOverride
		cmd   *company.GateCommand
	}{{Lint, o.Lint, p.lint}, {Test, o.Test, p.test}} {
		if g.cmd != nil && g.given.isAuto() {
			what = append(what, g.name+": "+g.cmd.Command)
		}
	}
	at := p.description
	if p.dir != "" {
		at += " in " + printablePath(p.dir)
	}
	if len(what) == 0 {
		return at
	}
	return at + ": " + strings.Join(what, "; ")
}

// keepWithin keeps the parts that the given folders are about: those at or below
// one of them, and for a folder without any the nearest one above it.
func (s *repoScan) keepWithin(parts []component, paths []string) []component {
	if len(paths) == 0 {
		return parts
	}
	keep := map[int]bool{}
	for _, want := range paths {
		want = strings.Trim(path.Clean("/"+want), "/")
		best, below := -1, false
		for i, p := range parts {
			switch {
			case isUnder(p.dir, want):
				keep[i], below = true, true
			case isUnder(want, p.dir) && (best < 0 || len(p.dir) > len(parts[best].dir)):
				best = i
			}
		}
		if below || best < 0 {
			continue
		}
		for i := range parts { // the nearest folder above, whatever kinds it is of
			keep[i] = keep[i] || parts[i].dir == parts[best].dir
		}
	}
	var out []component
	for i, p := range parts {
		if keep[i] {
			out = append(out, p)
		}
	}
	if n := len(parts) - len(out); n > 0 {
		s.addNote("%s outside of git.paths: not checked", company.Count(n, "part"))
	}
	return out
}

// neededToolchains are the toolchains of the parts, and of the commands that were given.
func (s *repoScan) neededToolchains(parts []component, o Options) []string {
	need := map[string]bool{}
	var commands []string
	for _, p := range parts {
		need[p.kind] = true
		for _, g := range []*company.GateCommand{p.lint, p.test} {
			if g != nil {
				commands = append(commands, g.Command)
			}
		}
	}
	for _, g := range []CommandOverride{o.Lint, o.Test} {
		if g != None && !g.isAuto() {
			commands = append(commands, string(g))
		}
	}
	for _, c := range commands {
		need[toolchainOf(c)] = true
	}
	need["c"] = need["make"] && s.needsCompiler()
	need["cgo"] = need["go"] && s.needsCgo(commands)
	var out []string
	for _, t := range toolchains {
		if need[t] {
			out = append(out, t)
		}
	}
	return out
}

// toolchainOf is what the first word of a command asks for, or nothing.
func toolchainOf(command string) string {
	for _, w := range strings.Fields(command) {
		switch {
		case w == "exec" || strings.Contains(w, "="):
			continue
		case w == "go" || w == "gofmt":
			return "go"
		case w == "node" || w == "npm" || w == "npx":
			return "node"
		case w == "python3" || w == "python" || w == "pytest" || w == "pip":
			return "python"
		case w == "cargo":
			return "rust"
		case w == "make":
			return "make"
		}
		break
	}
	return ""
}

// addNote keeps a sentence for people, and each only once.
func (s *repoScan) addNote(format string, args ...any) {
	n := fmt.Sprintf(format, args...)
	if !slices.Contains(s.notes, n) {
		s.notes = append(s.notes, n)
	}
}

// hasFile says whether a folder has a file of that name.
func (s *repoScan) hasFile(dir, name string) bool {
	_, ok := s.files[path.Join(dir, name)]
	return ok
}

// readManifest is the text of a file, and empty where there is none or where it is
// too large to be a manifest.
func (s *repoScan) readManifest(dir, name string) string {
	e, ok := s.files[path.Join(dir, name)]
	if !ok || s.err != nil {
		return ""
	}
	if e.Size > maxManifest {
		s.addNote("%s is not read: it is larger than 1 MiB", printablePath(e.Path))
		return ""
	}
	var text string
	s.err = s.mirror.ReadFiles(s.ctx, []gitops.Entry{e}, func(_ gitops.Entry, b []byte) error {
		text = strings.ToValidUTF8(string(b), "\uFFFD")
		return nil
	})
	return text
}

// foldersWith are the folders that hold a file of that name, the shallow ones
// first. Folders of copies, of data and of examples do not count.
func (s *repoScan) foldersWith(name string) []string {
	var out []string
	for p := range s.files {
		if dir, base := splitPath(p); base == name && !isForeignDir(dir) {
			out = append(out, dir)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		if d := pathDepth(a) - pathDepth(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return out
}

// isForeignDir says whether a folder holds what is not the project's own to check.
func isForeignDir(dir string) bool {
	for _, p := range strings.Split(dir, "/") {
		switch p {
		case "node_modules", "vendor", "third_party", "testdata", "fixtures", "__fixtures__", "examples", "example", "templates", "target", "dist", "build":
			return true
		}
		if len(p) > 0 && (p[0] == '.' || p[0] == '_') {
			return true
		}
	}
	return printablePath(dir) != dir // a shell and a person must be able to say it
}

func splitPath(p string) (dir, name string) {
	dir, name = path.Split(p)
	return strings.TrimSuffix(dir, "/"), name
}

func pathDepth(dir string) int {
	if dir == "" {
		return 0
	}
	return 1 + strings.Count(dir, "/")
}

// isUnder says whether dir is parent or lies below it.
func isUnder(dir, parent string) bool {
	return parent == "" || dir == parent || strings.HasPrefix(dir, parent+"/")
}

func joinDirs(parts []component) string {
	var out []string
	for _, p := range parts {
		out = append(out, printablePath(p.dir))
	}
	return strings.Join(out, ", ")
}

// printablePath is a path as a note may hold it.
func printablePath(p string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\uFFFD' {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(p, "\uFFFD"))
}
