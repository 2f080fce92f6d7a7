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
	Lint, Test Given    // what the config says; empty: auto
	Paths      []string // folders that count, as in git.paths; none: all of the repository
}

// Project is what a repository is, as far as its checks go.
type Project struct {
	Gates      []company.GateCommand
	Toolchains []string // what the image needs: go, node, python, rust, make, c, cgo
	Notes      []string // what was found and what was left out, for people
}

// maxParts is how many folders of a repository get gates of their own. Beyond
// it a verdict would take longer than the work.
const maxParts = 8

// maxManifest is the largest manifest that is read, in bytes.
const maxManifest = 1 << 20

// toolchains are what an image can be asked for, in the order of Project.
var toolchains = []string{"go", "node", "python", "rust", "make", "c", "cgo"}

// part is a folder with a manifest, and the checks that it calls for.
type part struct {
	dir, kind  string // "" is the root; kind is one of toolchains
	lint, test *company.GateCommand
	about      string // for the notes: "Go module", "npm package", …
}

// survey is what is known of the files while the parts are looked for. Of the
// content of a repository it believes nothing: what cannot be read is noted.
type survey struct {
	ctx   context.Context
	m     *gitops.Mirror
	files map[string]gitops.Entry // regular files by path
	dirs  map[string][]string     // names of the files in a folder
	notes []string
	err   error // of git, not of what a file says
}

// Detect finds the gates of a project: what the config gives, and for auto
// what the files of the base commit call for. It reads git objects only.
func Detect(ctx context.Context, m *gitops.Mirror, base company.OID, o Options) (Project, error) {
	entries, err := m.List(ctx, base)
	if err != nil {
		return Project{}, err
	}
	s := &survey{ctx: ctx, m: m, files: map[string]gitops.Entry{}, dirs: map[string][]string{}}
	for _, e := range entries {
		if e.Mode == gitops.ModeFile || e.Mode == gitops.ModeExec {
			dir, name := split(e.Path)
			s.files[e.Path] = e
			s.dirs[dir] = append(s.dirs[dir], name)
		}
	}
	parts := s.within(s.parts(), o.Paths)
	if s.err != nil {
		return Project{}, s.err
	}
	if len(parts) > maxParts {
		s.note("%d parts have checks; the first %d are gates, not %s (gates.lint and gates.test can name one command for all)",
			len(parts), maxParts, dirsOf(parts[maxParts:]))
		parts = parts[:maxParts]
	}
	p := Project{Gates: s.gates(parts, o)}
	if p.Toolchains = s.needed(parts, o); s.err != nil {
		return Project{}, s.err
	}
	for _, part := range parts {
		p.Notes = append(p.Notes, part.found(o))
	}
	for _, g := range []struct {
		name  string
		given Given
	}{{Lint, o.Lint}, {Test, o.Test}} {
		switch {
		case g.given == None:
			p.Notes = append(p.Notes, "no "+g.name+": gates."+g.name+" is none")
		case !g.given.auto():
			p.Notes = append(p.Notes, g.name+": "+string(g.given)+" (gates."+g.name+")")
		case !slices.ContainsFunc(p.Gates, func(c company.GateCommand) bool { return strings.HasPrefix(c.Name, g.name) }):
			p.Notes = append(p.Notes, "no "+g.name+" command was found")
		}
	}
	p.Notes = append(p.Notes, s.notes...)
	return p, nil
}

// parts looks for every kind of project there is, in the order in which they
// are shown: folders by depth, then by name.
func (s *survey) parts() []part {
	var out []part
	for _, find := range []func() []part{s.goParts, s.nodeParts, s.pythonParts, s.rustParts} {
		out = append(out, find()...)
	}
	known := len(out) > 0
	if !known {
		out = s.makeParts()
	}
	s.unknownKinds(known)
	slices.SortStableFunc(out, func(a, b part) int {
		if d := depth(a.dir) - depth(b.dir); d != 0 {
			return d
		}
		return strings.Compare(a.dir, b.dir)
	})
	return out
}

// gates are the checks of all parts: lint of all before test of all. A command
// that the config gives stands for the lint, or the test, of the whole.
func (s *survey) gates(parts []part, o Options) []company.GateCommand {
	var out []company.GateCommand
	for _, k := range []struct {
		name  string
		given Given
		of    func(part) *company.GateCommand
	}{
		{Lint, o.Lint, func(p part) *company.GateCommand { return p.lint }},
		{Test, o.Test, func(p part) *company.GateCommand { return p.test }},
	} {
		switch {
		case k.given == None:
			continue
		case !k.given.auto():
			out = append(out, k.given.gate(k.name))
			continue
		}
		var found []part
		for _, p := range parts {
			if k.of(p) != nil {
				found = append(found, p)
			}
		}
		for _, p := range found {
			g := *k.of(p)
			g.Name, g.Dir = k.name, p.dir
			if len(found) > 1 {
				g.Name += " (" + p.label(found) + ")"
			}
			out = append(out, g)
		}
	}
	return out
}

// label tells a part from the others: its folder, and its kind where that is
// not enough.
func (p part) label(all []part) string {
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

// found says in plain words what a part's checks are.
func (p part) found(o Options) string {
	var what []string
	for _, g := range []struct {
		name  string
		given Given
		cmd   *company.GateCommand
	}{{Lint, o.Lint, p.lint}, {Test, o.Test, p.test}} {
		if g.cmd != nil && g.given.auto() {
			what = append(what, g.name+": "+g.cmd.Command)
		}
	}
	at := p.about
	if p.dir != "" {
		at += " in " + printable(p.dir)
	}
	if len(what) == 0 {
		return at
	}
	return at + ": " + strings.Join(what, "; ")
}

// within keeps the parts that the given folders are about: those at or below
// one of them, and for a folder without any the nearest one above it.
func (s *survey) within(parts []part, paths []string) []part {
	if len(paths) == 0 {
		return parts
	}
	keep := map[int]bool{}
	for _, want := range paths {
		want = strings.Trim(path.Clean("/"+want), "/")
		best, below := -1, false
		for i, p := range parts {
			switch {
			case under(p.dir, want):
				keep[i], below = true, true
			case under(want, p.dir) && (best < 0 || len(p.dir) > len(parts[best].dir)):
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
	var out []part
	for i, p := range parts {
		if keep[i] {
			out = append(out, p)
		}
	}
	if n := len(parts) - len(out); n > 0 {
		s.note("%s outside of git.paths: not checked", company.Count(n, "part"))
	}
	return out
}

// needed are the toolchains of the parts, and of the commands that were given.
func (s *survey) needed(parts []part, o Options) []string {
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
	for _, g := range []Given{o.Lint, o.Test} {
		if g != None && !g.auto() {
			commands = append(commands, string(g))
		}
	}
	for _, c := range commands {
		need[toolchainOf(c)] = true
	}
	need["c"] = need["make"] && s.compiles()
	need["cgo"] = need["go"] && s.cgo(commands)
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

// note keeps a sentence for people, and each only once.
func (s *survey) note(format string, args ...any) {
	n := fmt.Sprintf(format, args...)
	if !slices.Contains(s.notes, n) {
		s.notes = append(s.notes, n)
	}
}

// has says whether a folder has a file of that name.
func (s *survey) has(dir, name string) bool {
	_, ok := s.files[path.Join(dir, name)]
	return ok
}

// read is the text of a file, and empty where there is none or where it is
// too large to be a manifest.
func (s *survey) read(dir, name string) string {
	e, ok := s.files[path.Join(dir, name)]
	if !ok || s.err != nil {
		return ""
	}
	if e.Size > maxManifest {
		s.note("%s is not read: it is larger than 1 MiB", printable(e.Path))
		return ""
	}
	var text string
	s.err = s.m.ReadFiles(s.ctx, []gitops.Entry{e}, func(_ gitops.Entry, b []byte) error {
		text = strings.ToValidUTF8(string(b), "\uFFFD")
		return nil
	})
	return text
}

// foldersWith are the folders that hold a file of that name, the shallow ones
// first. Folders of copies, of data and of examples do not count.
func (s *survey) foldersWith(name string) []string {
	var out []string
	for p := range s.files {
		if dir, base := split(p); base == name && !foreign(dir) {
			out = append(out, dir)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		if d := depth(a) - depth(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return out
}

// foreign says whether a folder holds what is not the project's own to check.
func foreign(dir string) bool {
	for _, p := range strings.Split(dir, "/") {
		switch p {
		case "node_modules", "vendor", "third_party", "testdata", "fixtures", "__fixtures__", "examples", "example", "templates", "target", "dist", "build":
			return true
		}
		if len(p) > 0 && (p[0] == '.' || p[0] == '_') {
			return true
		}
	}
	return printable(dir) != dir // a shell and a person must be able to say it
}

func split(p string) (dir, name string) {
	dir, name = path.Split(p)
	return strings.TrimSuffix(dir, "/"), name
}

func depth(dir string) int {
	if dir == "" {
		return 0
	}
	return 1 + strings.Count(dir, "/")
}

// under says whether dir is parent or lies below it.
func under(dir, parent string) bool {
	return parent == "" || dir == parent || strings.HasPrefix(dir, parent+"/")
}

func dirsOf(parts []part) string {
	var out []string
	for _, p := range parts {
		out = append(out, printable(p.dir))
	}
	return strings.Join(out, ", ")
}

// printable is a path as a note may hold it.
func printable(p string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\uFFFD' {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(p, "\uFFFD"))
}
