package python

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

// The ways to add a failing test for a change.
const (
	plantPytest   = "pytest"
	plantUnittest = "unittest"
)

// Plants lists the ways to add a failing test for a change.
func (Ecosystem) Plants() []string { return []string{plantPytest, plantUnittest} }

// CanaryPlaces returns the folders of tests that the change touches. If it touches none, CanaryPlaces
// returns the first folder of tests. If it touches a file that configures the gate, CanaryPlaces returns
// all of them.
func (Ecosystem) CanaryPlaces(
	change *ecosystem.Change, gate company.GateCommand,
) (out []ecosystem.CanaryPlace, reason string) {
	if len(change.TouchedFolders(gate, ".py")) == 0 && !change.TouchesGateFiles(gate) {
		return nil, ""
	}
	var dirs []string
	for _, p := range change.Changed {
		if dir, name := ecosystem.SplitPath(p); isTestFile(name) && ecosystem.IsUnder(dir, gate.Dir) &&
			!ecosystem.IsForeignDir(dir) && len(change.Dirs[dir]) > 0 {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	switch dirs = slices.Compact(dirs); {
	case change.TouchesGateFiles(gate):
		for _, dir := range change.FoldersOf(gate, isTestFile) {
			if !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	case len(dirs) == 0:
		dirs = change.FirstFolderOf(gate, isTestFile)
	}
	for _, dir := range dirs {
		file := "test_%s.py"
		if !slices.ContainsFunc(change.Dirs[dir], func(n string) bool { return strings.HasPrefix(n, "test_") }) &&
			slices.ContainsFunc(change.Dirs[dir], isTestFile) {
			file = "%s_test.py"
		}
		out = append(out, ecosystem.CanaryPlace{
			Dir:  dir,
			Path: func(word string) string { return path.Join(dir, fmt.Sprintf(file, word)) },
			Text: func(word string) string {
				if gate.Plant == plantUnittest {
					return fmt.Sprintf("import unittest\n\n\nclass Test_%[1]s(unittest.TestCase):\n    def test_%[1]s(self):\n      "+
						"  raise AssertionError(\"this test of the company's must fail\")\n", word)
				}
				return fmt.Sprintf("def test_%s():\n    raise AssertionError(\"this test of the company's must fail\")\n", word)
			},
		})
	}
	return out, ""
}

func isTestFile(name string) bool {
	return strings.HasPrefix(name, "test_") && strings.HasSuffix(name, ".py") || strings.HasSuffix(name, "_test.py")
}
