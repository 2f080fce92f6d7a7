package ruby

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// The ways to add a failing test for a change.
const (
	plantSpec = "rspec"
	plantTest = "minitest"
)

// Plants lists the ways to add a failing test for a change.
func (Ecosystem) Plants() []string { return []string{plantSpec, plantTest} }

// CanaryPlaces returns the folders of tests that the change touches. If it touches none, CanaryPlaces
// returns the first folder of tests. If it touches a file that configures the gate, CanaryPlaces returns
// all of them.
func (Ecosystem) CanaryPlaces(
	change *ecosystem.Change, gate company.GateCommand,
) (out []ecosystem.CanaryPlace, reason string) {
	if len(change.TouchedFolders(gate, ".rb")) == 0 && !change.TouchesGateFiles(gate) {
		return nil, ""
	}
	top, is := "spec", isSpec
	if gate.Plant == plantTest {
		top, is = "test", isTestFile
	}
	tests := gate
	tests.Dir = path.Join(gate.Dir, top)
	dirs := change.FoldersOf(tests, is)
	if !change.TouchesGateFiles(gate) {
		touched := slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool {
			return !slices.ContainsFunc(change.Changed,
				func(p string) bool { d, name := ecosystem.SplitPath(p); return d == dir && is(name) })
		})
		if len(touched) == 0 {
			touched = dirs[:min(len(dirs), 1)]
		}
		dirs = touched
	}
	for _, dir := range dirs {
		names := slices.DeleteFunc(slices.Sorted(slices.Values(change.Dirs[dir])),
			func(name string) bool { return !is(name) })
		file := "%s" + "_" + top + ".rb"
		if top == "test" && strings.HasPrefix(names[0], "test_") {
			file = "test_%s.rb"
		}
		sample := change.ReadManifest(dir, names[0])
		out = append(out, ecosystem.CanaryPlace{
			Dir:  dir,
			Path: func(word string) string { return path.Join(dir, fmt.Sprintf(file, word)) },
			Text: func(word string) string { return loadLines(sample) + testText(gate.Plant, sample, word) },
		})
	}
	return out, ""
}

var (
	loadLine  = lazyregexp.New(`(?m)^(?:require|require_relative|load) *\(?["'][\w./-]+["']\)?[ \t]*$`)
	testClass = lazyregexp.New(`(?m)^\s*class\s+[\w:]+\s*<\s*([A-Z][\w:]*)`)
)

const maxLoads = 20

// loadLines returns the load and require lines of a test file. The failing test needs them, since a loaded
// file may end the process.
func loadLines(sample string) string {
	lines := loadLine.FindAllString(sample, maxLoads)
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// testText returns a failing test in the style of sample, the test file next to it.
func testText(plant, sample, word string) string {
	const fails = "raise \"this test of the company's must fail\""
	class := ""
	if m := testClass.FindStringSubmatch(sample); m != nil {
		class = m[1]
	}
	switch {
	case plant == plantSpec:
		return fmt.Sprintf("RSpec.describe(%q) { it(%q) { %s } }\n", word, word, fails)
	case class == "" && strings.Contains(sample, "describe"):
		return fmt.Sprintf("describe(%q) { it(%q) { %s } }\n", word, word, fails)
	}
	return fmt.Sprintf("class C%s < %s\n  def test_%s\n    %s\n  end\nend\n", word[1:], cmp.Or(class, "Minitest::Test"),
		word, fails)
}
