// Package ecosystemtest holds every ecosystem to the contract of package
// ecosystem, as far as it implements it. It starts nothing and reaches nothing:
// the tests of package image cover the work inside an image.
package ecosystemtest

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
)

// Fixture is a small project of an ecosystem.
type Fixture struct {
	Files map[string]string // by path
	Lint  string            // command of the check that the files call for; empty: none
	Test  string            // the same
	Lock  string            // the file by which it says what it may have; empty: none
	// LockText is such a file, and Packages what it names, sorted, as
	// company.Dependency says it: "npm a@1.0.0, npm b@2.0.0".
	LockText, Packages string
	// Blame are messages of its client where the files themselves are at fault.
	Blame     []string
	GateFiles []string // files that say what its checks do
	Reports   []Report // of each of its formats
	Canaries  []Canary
	// PlantsByName says that its planter reads names of files and no text.
	PlantsByName bool
	Served       Served // a registry of its kind
	System       string // Debian packages that the files ask for, sorted
	// Toolchains are those that the image of these files has, where its layers depend on them.
	Toolchains []string
}

// Exercise runs every case that is about what an ecosystem has.
func Exercise(t *testing.T, e ecosystem.Ecosystem, f Fixture) {
	t.Helper()
	if name := e.Name(); name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") != "" {
		t.Errorf("%q is no name of a toolchain", e.Name())
	}
	if m, ok := e.(ecosystem.Manifester); ok && f.Files[m.Manifest()] == "" {
		t.Errorf("the fixture has no %s", m.Manifest())
	}
	if d, ok := e.(ecosystem.Detector); ok {
		t.Run("detect", func(t *testing.T) { exerciseDetector(t, d, f) })
	}
	if c, ok := e.(ecosystem.Caller); ok {
		t.Run("calls", func(t *testing.T) { exerciseCaller(t, c, f) })
	}
	if p, ok := e.(ecosystem.Proxied); ok {
		t.Run("registry", func(t *testing.T) { ExerciseProxied(t, p, f.Served) })
	}
	if l, ok := e.(ecosystem.Locker); ok {
		t.Run("locks", func(t *testing.T) { exerciseLocker(t, l, e, f) })
	}
	if g, ok := e.(ecosystem.GateFiler); ok {
		t.Run("gate files", func(t *testing.T) { exerciseGateFiler(t, g, f) })
	}
	if r, ok := e.(ecosystem.Reporter); ok {
		t.Run("reports", func(t *testing.T) { exerciseReporter(t, r, f) })
	}
	if p, ok := e.(ecosystem.Planter); ok {
		t.Run("canaries", func(t *testing.T) { exercisePlanter(t, p, f) })
	}
	if p, ok := e.(ecosystem.Provider); ok {
		t.Run("toolchains", func(t *testing.T) { exerciseProvider(t, p) })
	}
	if p, ok := e.(ecosystem.Packager); ok {
		t.Run("packages of the system", func(t *testing.T) { exercisePackager(t, p, f) })
	}
	if i, ok := e.(ecosystem.Installer); ok {
		t.Run("install", func(t *testing.T) { exerciseInstaller(t, i, f) })
	}
}

// Tree is a tree of these files.
func Tree(files map[string]string) *ecosystem.Tree { return ecosystem.TreeOfTexts(files) }

// unreadableTree is a tree of these files, whose texts cannot be read.
func unreadableTree(files map[string]string, why error) *ecosystem.Tree {
	var list []ecosystem.File
	for _, p := range slices.Sorted(maps.Keys(files)) {
		list = append(list, ecosystem.File{Path: p, Size: int64(len(files[p]))})
	}
	return ecosystem.NewTree(list, func(wanted []ecosystem.File, _ func(ecosystem.File, []byte) error) error {
		if len(wanted) == 0 {
			return nil
		}
		return why
	})
}

func exerciseDetector(t *testing.T, d ecosystem.Detector, f Fixture) {
	found := d.Detect(Tree(f.Files), nil)
	if len(found) != 1 || found[0].Dir != "" || found[0].Kind != d.Name() || found[0].Description == "" {
		t.Fatalf("in the fixture: %+v", found)
	}
	lint, test := "", ""
	if g := found[0].Lint; g != nil {
		lint = g.Command
	}
	if g := found[0].Test; g != nil {
		test = g.Command
		if g.Plant != "" && !strings.Contains(g.Canary, ecosystem.CanaryPlaceholder) && !isFolderTester(d) {
			t.Errorf("the canary's command does not name its test: %q", g.Canary)
		}
	}
	if lint != f.Lint || test != f.Test {
		t.Errorf("lint %q and test %q, want %q and %q", lint, test, f.Lint, f.Test)
	}
	if len(d.Programs()) == 0 {
		t.Error("no command needs the toolchain")
	}

	// The same project deeper down is found there; as a copy of another one it
	// is none.
	for _, dir := range []string{"node_modules/x", "vendor/x", "testdata/x", ".x"} {
		if got := d.Detect(Tree(below(dir, f.Files)), nil); len(got) != 0 {
			t.Errorf("in %s: %+v", dir, got)
		}
	}

	empty := Tree(nil)
	if got := d.Detect(empty, nil); len(got) != 0 || len(empty.Notes()) != 0 {
		t.Errorf("in nothing: %+v, notes %q", got, empty.Notes())
	}

	// A repository's text is untrusted.
	for name, text := range map[string]string{"nothing": "", "garbage": "\x00{[\xff'\"", "depth": strings.Repeat("[", 10_000), "size": strings.Repeat("x", ecosystem.MaxManifest+1)} {
		odd := map[string]string{}
		for p := range f.Files {
			odd[p] = text
		}
		tree := Tree(odd)
		d.Detect(tree, nil)
		if tree.Err() != nil {
			t.Errorf("%s for every file: %v", name, tree.Err())
		}
		for _, n := range tree.Notes() {
			if strings.ContainsFunc(n, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Errorf("%s for every file: the note %q", name, n)
			}
		}
	}

	// A repository that cannot be read is an error, and no empty project.
	away := errors.New("away")
	broken := unreadableTree(f.Files, away)
	d.Detect(broken, nil)
	if n, ok := d.(ecosystem.Needer); ok {
		n.Needs(broken, func(string) bool { return true }, nil)
	}
	if !errors.Is(broken.Err(), away) {
		t.Errorf("a tree that cannot be read: %v", broken.Err())
	}
}

func exerciseLocker(t *testing.T, l ecosystem.Locker, e ecosystem.Ecosystem, f Fixture) {
	if !l.IsLockFile(f.Lock) || !l.IsLockFile("deep/down/"+f.Lock) || l.IsLockFile("README.md") || l.IsLockFile(f.Lock+".orig") {
		t.Errorf("%s is not known from others", f.Lock)
	}
	all, err := l.ParseLock(f.Lock, []byte(f.LockText))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range all {
		names = append(names, d.String())
		exerciseDependency(t, e, d)
	}
	slices.Sort(names)
	if got := strings.Join(slices.Compact(names), ", "); got != f.Packages || got == "" {
		t.Errorf("packages %q, want %q", got, f.Packages)
	}
	// The text is untrusted: it costs an error or some names, and no more.
	for _, text := range []string{"", "\x00", "[", "{", ": :", strings.Repeat("[", 1<<20), strings.Repeat("{\"a\":", 1<<18), strings.Repeat("a: &a\n  - *a\n", 1<<12), f.LockText[:len(f.LockText)/2], f.LockText + "\xff\xfe"} {
		_, _ = l.ParseLock(f.Lock, []byte(text))
	}
}

func exerciseGateFiler(t *testing.T, g ecosystem.GateFiler, f Fixture) {
	for _, p := range f.GateFiles {
		if !g.IsGateFile(p) || !g.IsGateFile("deep/down/"+p) || g.IsGateFile(p+"~") {
			t.Errorf("%s is not known from others", p)
		}
	}
	if len(f.GateFiles) == 0 || g.IsGateFile("README.md") || g.IsGateFile("") || g.IsGateFile("src/main.c") {
		t.Errorf("%q, and others too", f.GateFiles)
	}
}

// exerciseDependency holds a package of the fixture, and text that is no
// package, against the grammar.
func exerciseDependency(t *testing.T, e ecosystem.Ecosystem, d company.Dependency) {
	if c, ok := e.(ecosystem.Client); ok {
		r := c.Registry()
		if d.Ecosystem != r.Name || r.CheckName(d.Name, d.Version) != nil {
			t.Errorf("%s is no package of %s: %v", d, r.Name, r.CheckName(d.Name, d.Version))
		}
		for _, name := range []string{"", " ", "../x", "a b", "a\nb", "a;b", "-r", "https://x/y", "a@1", strings.Repeat("a", 300)} {
			if r.CheckName(name, "") == nil {
				t.Errorf("%q is a name", name)
			}
		}
		for _, version := range []string{"latest", "*", "^1.0.0", ">=1", "1.0.0; x", "$(x)", "../1"} {
			if r.CheckName(d.Name, version) == nil {
				t.Errorf("%q is a version", version)
			}
		}
		if r.Canonical != nil && r.Canonical(r.Canonical(d.Name)) != r.Canonical(d.Name) {
			t.Errorf("%s has no canonical form", d.Name)
		}
	}
	if a, ok := e.(ecosystem.Adder); ok {
		if command := a.AddCommand(d); !strings.Contains(command, d.Name) {
			t.Errorf("%s is added by %q", d, command)
		}
		if command := a.AddCommand(company.Dependency{Ecosystem: "other", Name: "x"}); command != "" {
			t.Errorf("what is another registry's is added by %q", command)
		}
	}
}

// below is the files moved into a folder.
func below(dir string, files map[string]string) map[string]string {
	out := map[string]string{}
	for p, text := range files {
		out[dir+"/"+p] = text
	}
	return out
}
