// Package ecosystemtest tests every ecosystem against the contract of package ecosystem, for the interfaces that it
// implements. It runs no programs and uses no network. The tests of package image cover the installation in an image.
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
	Lint  string            // the expected lint command; "" means no check
	Test  string            // the expected test command; "" means no check
	Lock  string            // the name of its lock file; "" means no lock file
	// LockText is the text of a lock file. Packages lists its packages, sorted, in the form of company.Dependency: "npm
	// a@1.0.0, npm b@2.0.0".
	LockText, Packages string
	// Blame holds client messages for which the files themselves are at fault.
	Blame     []string
	GateFiles []string // files that define its checks
	Reports   []Report // at least one for each of its formats
	Canaries  []Canary
	// PlantsByName means that its planter reads only file names, no contents.
	PlantsByName bool
	Served       Served // a registry of its kind
	System       string // the expected Debian packages, sorted
	// Toolchains lists the toolchains of the image if the layers depend on them.
	Toolchains []string
}

// Exercise runs all tests for the interfaces that an ecosystem implements.
func Exercise(t *testing.T, e ecosystem.Ecosystem, fixture Fixture) {
	t.Helper()
	if name := e.Name(); name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") != "" {
		t.Errorf("%q is not a name of a toolchain", e.Name())
	}
	if m, ok := e.(ecosystem.Manifester); ok && fixture.Files[m.Manifest()] == "" {
		t.Errorf("the fixture has no %s", m.Manifest())
	}
	if d, ok := e.(ecosystem.Detector); ok {
		t.Run("detect", func(t *testing.T) { exerciseDetector(t, d, fixture) })
	}
	if c, ok := e.(ecosystem.Caller); ok {
		t.Run("calls", func(t *testing.T) { exerciseCaller(t, c, fixture) })
	}
	if p, ok := e.(ecosystem.Proxied); ok {
		t.Run("registry", func(t *testing.T) { ExerciseProxied(t, p, fixture.Served) })
	}
	if l, ok := e.(ecosystem.Locker); ok {
		t.Run("locks", func(t *testing.T) { exerciseLocker(t, l, e, fixture) })
	}
	if g, ok := e.(ecosystem.GateFiler); ok {
		t.Run("gate files", func(t *testing.T) { exerciseGateFiler(t, g, fixture) })
	}
	if r, ok := e.(ecosystem.Reporter); ok {
		t.Run("reports", func(t *testing.T) { exerciseReporter(t, r, fixture) })
	}
	if p, ok := e.(ecosystem.Planter); ok {
		t.Run("canaries", func(t *testing.T) { exercisePlanter(t, p, fixture) })
	}
	if p, ok := e.(ecosystem.Provider); ok {
		t.Run("toolchains", func(t *testing.T) { exerciseProvider(t, p) })
	}
	if p, ok := e.(ecosystem.Packager); ok {
		t.Run("packages of the system", func(t *testing.T) { exercisePackager(t, p, fixture) })
	}
	if i, ok := e.(ecosystem.Installer); ok {
		t.Run("install", func(t *testing.T) { exerciseInstaller(t, i, fixture) })
	}
}

// Tree returns a tree of these files.
func Tree(files map[string]string) *ecosystem.Tree { return ecosystem.TreeOfTexts(files) }

// unreadableTree returns a tree of these files, whose texts cannot be read.
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

func exerciseDetector(t *testing.T, detector ecosystem.Detector, fixture Fixture) {
	found := detector.Detect(Tree(fixture.Files), nil)
	if len(found) != 1 || found[0].Dir != "" || found[0].Kind != detector.Name() || found[0].Description == "" {
		t.Fatalf("in the fixture: %+v", found)
	}
	lint, test := "", ""
	if g := found[0].Lint; g != nil {
		lint = g.Command
	}
	if gateCommand := found[0].Test; gateCommand != nil {
		test = gateCommand.Command
		if gateCommand.Plant != "" && !strings.Contains(gateCommand.Canary, ecosystem.CanaryPlaceholder) &&
			!isFolderTester(detector) {
			t.Errorf("the canary's command does not name its test: %q", gateCommand.Canary)
		}
	}
	if lint != fixture.Lint || test != fixture.Test {
		t.Errorf("lint %q and test %q, want %q and %q", lint, test, fixture.Lint, fixture.Test)
	}
	if len(detector.Programs()) == 0 {
		t.Error("no command needs the toolchain")
	}

	// The same project is found in a deeper folder, but not in a folder for copies.
	for _, dir := range []string{"node_modules/x", "vendor/x", "testdata/x", ".x"} {
		if got := detector.Detect(Tree(below(dir, fixture.Files)), nil); len(got) != 0 {
			t.Errorf("in %s: %+v", dir, got)
		}
	}

	empty := Tree(nil)
	if got := detector.Detect(empty, nil); len(got) != 0 || len(empty.Notes()) != 0 {
		t.Errorf("in nothing: %+v, notes %q", got, empty.Notes())
	}

	// A repository's text is untrusted.
	for name, text := range map[string]string{"nothing": "", "garbage": "\x00{[\xff'\"",
		"depth": strings.Repeat("[", 10_000), "size": strings.Repeat("x", ecosystem.MaxManifest+1)} {
		odd := map[string]string{}
		for p := range fixture.Files {
			odd[p] = text
		}
		tree := Tree(odd)
		detector.Detect(tree, nil)
		if tree.Err() != nil {
			t.Errorf("%s for every file: %v", name, tree.Err())
		}
		for _, n := range tree.Notes() {
			if strings.ContainsFunc(n, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Errorf("%s for every file: the note %q", name, n)
			}
		}
	}

	// An unreadable repository is an error, not an empty project.
	away := errors.New("away")
	broken := unreadableTree(fixture.Files, away)
	detector.Detect(broken, nil)
	if n, ok := detector.(ecosystem.Needer); ok {
		n.Needs(broken, func(string) bool { return true }, nil)
	}
	if !errors.Is(broken.Err(), away) {
		t.Errorf("a tree that cannot be read: %v", broken.Err())
	}
}

func exerciseLocker(t *testing.T, locker ecosystem.Locker, e ecosystem.Ecosystem, fixture Fixture) {
	if !locker.IsLockFile(fixture.Lock) || !locker.IsLockFile("deep/down/"+fixture.Lock) ||
		locker.IsLockFile("README.md") ||
		locker.IsLockFile(fixture.Lock+".orig") {
		t.Errorf("%s is not known from others", fixture.Lock)
	}
	dependencies, err := locker.ParseLock(fixture.Lock, []byte(fixture.LockText))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, dependency := range dependencies {
		names = append(names, dependency.String())
		exerciseDependency(t, e, dependency)
	}
	slices.Sort(names)
	if got := strings.Join(slices.Compact(names), ", "); got != fixture.Packages || got == "" {
		t.Errorf("packages %q, want %q", got, fixture.Packages)
	}
	// The text is untrusted. It may only cause an error or some names.
	for _, text := range []string{"", "\x00", "[", "{", ": :", strings.Repeat("[", 1<<20),
		strings.Repeat("{\"a\":", 1<<18), strings.Repeat("a: &a\n  - *a\n", 1<<12),
		fixture.LockText[:len(fixture.LockText)/2],
		fixture.LockText + "\xff\xfe"} {
		_, _ = locker.ParseLock(fixture.Lock, []byte(text))
	}
}

func exerciseGateFiler(t *testing.T, gateFiler ecosystem.GateFiler, fixture Fixture) {
	for _, p := range fixture.GateFiles {
		if !gateFiler.IsGateFile(p) || !gateFiler.IsGateFile("deep/down/"+p) || gateFiler.IsGateFile(p+"~") {
			t.Errorf("%s is not known from others", p)
		}
	}
	if len(fixture.GateFiles) == 0 || gateFiler.IsGateFile("README.md") || gateFiler.IsGateFile("") ||
		gateFiler.IsGateFile("src/main.c") {
		t.Errorf("%q, and others too", fixture.GateFiles)
	}
}

// exerciseDependency checks a package of the fixture, and invalid names, against the grammar.
func exerciseDependency(t *testing.T, e ecosystem.Ecosystem, dependency company.Dependency) {
	if c, ok := e.(ecosystem.Client); ok {
		registry := c.Registry()
		if dependency.Ecosystem != registry.Name || registry.CheckName(dependency.Name, dependency.Version) != nil {
			t.Errorf("%s is not a package of %s: %v", dependency, registry.Name,
				registry.CheckName(dependency.Name, dependency.Version))
		}
		for _, name := range []string{"", " ", "../x", "a b", "a\nb", "a;b", "-r", "https://x/y", "a@1",
			strings.Repeat("a", 300)} {
			if registry.CheckName(name, "") == nil {
				t.Errorf("%q is a name", name)
			}
		}
		for _, version := range []string{"latest", "*", "^1.0.0", ">=1", "1.0.0; x", "$(x)", "../1"} {
			if registry.CheckName(dependency.Name, version) == nil {
				t.Errorf("%q is a version", version)
			}
		}
		if registry.Canonical != nil &&
			registry.Canonical(registry.Canonical(dependency.Name)) != registry.Canonical(dependency.Name) {
			t.Errorf("%s has no canonical form", dependency.Name)
		}
	}
	if adder, ok := e.(ecosystem.Adder); ok {
		if command := adder.AddCommand(dependency); !strings.Contains(command, dependency.Name) {
			t.Errorf("%s is added by %q", dependency, command)
		}
		if command := adder.AddCommand(company.Dependency{Ecosystem: "other", Name: "x"}); command != "" {
			t.Errorf("what is another registry's is added by %q", command)
		}
	}
}

// below returns the files moved into a folder.
func below(dir string, files map[string]string) map[string]string {
	out := map[string]string{}
	for p, text := range files {
		out[dir+"/"+p] = text
	}
	return out
}
