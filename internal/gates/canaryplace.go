package gates

import (
	"context"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/gitops"
)

// readText returns the text of a file of the tree; empty where it is too large.
func (g changedTree) readText(ctx context.Context, p string) (string, error) {
	e, ok := g.files[p]
	if !ok || e.Size > ecosystem.MaxManifest {
		return "", nil
	}
	var text string
	err := g.mirror.ReadFiles(ctx, []gitops.Entry{e}, func(_ gitops.Entry, b []byte) error {
		text = string(b)
		return nil
	})
	return text, err
}

// hasFile says whether a folder has a file of this name.
func (g changedTree) hasFile(dir, name string) bool {
	_, ok := g.files[path.Join(dir, name)]
	return ok
}

// nearestWith is the folder, this one or above it, that has such a file.
func (g changedTree) nearestWith(dir, name string) (string, bool) {
	for {
		if g.hasFile(dir, name) {
			return dir, true
		}
		if dir == "" {
			return "", false
		}
		dir, _ = ecosystem.SplitPath(dir)
	}
}

// touchedFolders are the folders below a gate's in which files of these endings are
// changed and some are left, each once, sorted.
func (g changedTree) touchedFolders(gate company.GateCommand, endings ...string) []string {
	of := func(name string) bool {
		return slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(name, e) })
	}
	var out []string
	for _, p := range g.changed {
		dir, name := ecosystem.SplitPath(p)
		if of(name) && ecosystem.IsUnder(dir, gate.Dir) && !ecosystem.IsForeignDir(dir) && slices.ContainsFunc(g.dirs[dir], of) {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// hasOldFile says whether a folder has a file of this ending that the base had.
func (g changedTree) hasOldFile(dir, ending string) bool {
	return slices.ContainsFunc(g.dirs[dir], func(n string) bool { return strings.HasSuffix(n, ending) && !g.added[path.Join(dir, n)] })
}

// touchesGateFiles says whether the change touches a file that says what the gate does.
func (g changedTree) touchesGateFiles(gate company.GateCommand) bool {
	return slices.ContainsFunc(g.changed, func(p string) bool { return ecosystem.IsUnder(p, gate.Dir) && company.IsGateFile(p) })
}

// goCanaryPlaces are the packages that the change touches; where it only touches what
// steers the gate, one package that has tests.
func (g changedTree) goCanaryPlaces(ctx context.Context, gate company.GateCommand) (_ []canaryPlace, reason string, err error) {
	dark := map[string]bool{}
	dirs := slices.DeleteFunc(g.touchedFolders(gate, ".go"), func(dir string) bool {
		module, ok := g.nearestWith(dir, "go.mod")
		if !ok || module == gate.Dir || !ecosystem.IsUnder(module, gate.Dir) {
			return false
		}
		// A module that the change makes takes its old files out of the gate;
		// for its new files the gate promises nothing.
		own := g.added[path.Join(module, "go.mod")]
		dark[dir] = own && !g.hasOldFile(dir, ".go")
		return !own
	})
	if len(dirs) == 0 && g.touchesGateFiles(gate) {
		dirs = g.firstWith(gate, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	}
	folders, err := g.goFolders(ctx, gate, g.files, dirs)
	if err != nil {
		return nil, "", err
	}
	emptied, err := g.emptied(ctx, gate, folders)
	if err != nil {
		return nil, "", err
	}
	var out []canaryPlace
	for _, dir := range dirs {
		if emptied[dir] {
			out = append(out, canaryPlace{dir: dir, hollow: true})
			continue
		}
		pkg := folders[dir].pkg
		if folders[dir].built == 0 || pkg == "" {
			continue
		}
		out = append(out, canaryPlace{
			dir:         dir,
			unreachable: dark[dir],
			path:        func(word string) string { return path.Join(dir, word+"_test.go") },
			// It asks for itself alone from within: a suite that looks at its
			// flags before they are parsed sees those of the gate.
			text: func(word string) string {
				return fmt.Sprintf("package %s\n\nimport (\n\tos%[2]s \"os\"\n\ttesting%[2]s \"testing\"\n)\n\nfunc init() { os%[2]s.Args = append(os%[2]s.Args, \"-test.run=^Test_%[2]s$\") }\n\nfunc Test_%[2]s(t *testing%[2]s.T) { t.Fatal(\"this test of the company's must fail\") }\n", pkg, word)
			},
		})
	}
	return out, omittedFiles(folders), nil
}

// emptied are the folders of which a gate built something on the base, and of
// which it builds nothing any more, though Go files lie there: a build
// constraint takes a folder out of the gate as a line in go.mod does.
func (g changedTree) emptied(ctx context.Context, gate company.GateCommand, folders map[string]*goFolder) (map[string]bool, error) {
	var dirs []string
	for dir, f := range folders {
		if f.built == 0 {
			dirs = append(dirs, dir)
		}
	}
	out := map[string]bool{}
	if len(dirs) == 0 {
		return out, nil
	}
	was, err := g.mirror.List(ctx, g.base)
	if err != nil {
		return nil, err
	}
	files := map[string]gitops.Entry{}
	for _, e := range was {
		if e.Mode == gitops.ModeFile || e.Mode == gitops.ModeExec {
			files[e.Path] = e
		}
	}
	before, err := g.goFolders(ctx, gate, files, dirs)
	for dir, f := range before {
		out[dir] = f.built > 0
	}
	return out, err
}

// firstWith is the first folder below a gate's that has such a file, or none.
func (g changedTree) firstWith(gate company.GateCommand, of func(name string) bool) []string {
	all := g.foldersWith(gate, of)
	return all[:min(len(all), 1)]
}

// foldersWith are the folders below a gate's that have such a file, the upper
// ones first.
func (g changedTree) foldersWith(gate company.GateCommand, of func(name string) bool) []string {
	var all []string
	for dir, names := range g.dirs {
		if ecosystem.IsUnder(dir, gate.Dir) && !ecosystem.IsForeignDir(dir) && slices.ContainsFunc(names, of) {
			all = append(all, dir)
		}
	}
	slices.SortFunc(all, ecosystem.CompareDepth)
	return all
}

// goCanaryCommand runs a go test command on those of these folders that its patterns
// mean: what go.mod or a tag leaves out stays out. The command has a line for
// each: go list, and go test.
func goCanaryCommand(commands string, folders []string) string {
	list, test, _ := strings.Cut(commands, "\n")
	var b strings.Builder
	fmt.Fprintf(&b, "all=$(%s 2>/dev/null)\nset --\n", list)
	for _, f := range folders {
		full := `"$PWD"`
		if f != "." {
			full = `"$PWD"/` + shellQuote(strings.TrimPrefix(f, "./"))
		}
		fmt.Fprintf(&b, "if printf '%%s\\n' \"$all\" | grep -qxF -- %s; then set -- \"$@\" %s; fi\n", full, shellQuote(f))
	}
	b.WriteString("test $# -gt 0 || exit 0\n" + test + ` "$@"`)
	return b.String()
}

// pythonCanaryPlaces are the folders of tests that the change touches, or else the
// first one of all; and all of them where it touches what steers the gate.
func (g changedTree) pythonCanaryPlaces(gate company.GateCommand) []canaryPlace {
	if len(g.touchedFolders(gate, ".py")) == 0 && !g.touchesGateFiles(gate) {
		return nil
	}
	isTest := func(name string) bool {
		return strings.HasPrefix(name, "test_") && strings.HasSuffix(name, ".py") || strings.HasSuffix(name, "_test.py")
	}
	var dirs []string
	for _, p := range g.changed {
		if dir, name := ecosystem.SplitPath(p); isTest(name) && ecosystem.IsUnder(dir, gate.Dir) && !ecosystem.IsForeignDir(dir) && len(g.dirs[dir]) > 0 {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	switch dirs = slices.Compact(dirs); {
	case g.touchesGateFiles(gate):
		for _, dir := range g.foldersWith(gate, isTest) {
			if !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	case len(dirs) == 0:
		dirs = g.firstWith(gate, isTest)
	}
	var out []canaryPlace
	for _, dir := range dirs {
		file := "test_%s.py"
		if !slices.ContainsFunc(g.dirs[dir], func(n string) bool { return strings.HasPrefix(n, "test_") }) && slices.ContainsFunc(g.dirs[dir], isTest) {
			file = "%s_test.py"
		}
		out = append(out, canaryPlace{
			dir:  dir,
			path: func(word string) string { return path.Join(dir, fmt.Sprintf(file, word)) },
			text: func(word string) string {
				if gate.Plant == ecosystem.PlantUnittest {
					return fmt.Sprintf("import unittest\n\n\nclass Test_%[1]s(unittest.TestCase):\n    def test_%[1]s(self):\n        raise AssertionError(\"this test of the company's must fail\")\n", word)
				}
				return fmt.Sprintf("def test_%s():\n    raise AssertionError(\"this test of the company's must fail\")\n", word)
			},
		})
	}
	return out
}

var scriptEndings = []string{".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"}

// scriptTestRE takes the name of a test file apart: what comes before its own
// name and what comes after it, ending included.
var scriptTestRE = regexp.MustCompile(`^(test[-_.])?.*?([._-](?:test|spec))?(\.[cm]?[jt]sx?)$`)

var importRE = regexp.MustCompile(`(?m)^\s*import[\s{*'"]`)

// scriptCanaryPlaces are beside the test files that the change touches, or else
// beside the first one of all: a file with a similar name is taken for a test,
// too. Where the change touches files that steer the gate, they are in every
// folder of tests.
func (g changedTree) scriptCanaryPlaces(ctx context.Context, gate company.GateCommand) ([]canaryPlace, error) {
	if !g.concernsScripts(gate) {
		return nil, nil
	}
	isTest := func(p string) bool {
		dir, name := ecosystem.SplitPath(p)
		return slices.Contains(scriptEndings, path.Ext(name)) && company.IsTest(p) && !strings.Contains("/"+dir+"/", "/testdata/") &&
			!strings.Contains("/"+dir+"/", "/__snapshots__/") && ecosystem.IsUnder(dir, gate.Dir) && !ecosystem.IsForeignDir(strings.ReplaceAll(dir, "__tests__", "tests"))
	}
	samples := map[string]string{} // by folder
	for _, p := range slices.Sorted(slices.Values(g.changed)) {
		if dir, _ := ecosystem.SplitPath(p); isTest(p) && g.files[p].Path != "" && samples[dir] == "" {
			samples[dir] = p
		}
	}
	if steered := g.touchesGateFiles(gate); steered || len(samples) == 0 {
		var all []string
		for p := range g.files {
			if isTest(p) {
				all = append(all, p)
			}
		}
		slices.Sort(all)
		// A file that is called a test comes before one that only lies there.
		slices.SortStableFunc(all, func(a, b string) int { return countTestName(b) - countTestName(a) })
		for _, p := range all {
			if dir, _ := ecosystem.SplitPath(p); samples[dir] == "" && (steered && countTestName(p) > 0 || len(samples) == 0) {
				samples[dir] = p
			}
		}
	}
	var out []canaryPlace
	for _, dir := range slices.Sorted(maps.Keys(samples)) {
		sample := samples[dir]
		text, err := g.readText(ctx, sample)
		if err != nil {
			return nil, err
		}
		_, name := ecosystem.SplitPath(sample)
		m := scriptTestRE.FindStringSubmatch(name)
		esm := importRE.MatchString(text)
		out = append(out, canaryPlace{
			dir:  dir,
			path: func(word string) string { return path.Join(dir, m[1]+word+m[2]+m[3]) },
			text: func(word string) string { return scriptCanaryText(gate, text, esm, word) },
		})
	}
	return out, nil
}

// concernsScripts says whether the change is one that a gate of JavaScript or
// TypeScript must look at.
func (g changedTree) concernsScripts(gate company.GateCommand) bool {
	return len(g.touchedFolders(gate, scriptEndings...)) > 0 || g.touchesGateFiles(gate)
}

func countTestName(p string) int {
	_, name := ecosystem.SplitPath(p)
	if m := scriptTestRE.FindStringSubmatch(name); m != nil && m[1]+m[2] != "" {
		return 1
	}
	return 0
}

// scriptCanaryText is a failing test in the manner of the file that it lies beside.
func scriptCanaryText(gate company.GateCommand, sample string, esm bool, word string) string {
	// What its neighbour loads may end the process, too.
	loads := ""
	for _, m := range relativeImportRE.FindAllStringSubmatch(sample, maxLoads) {
		if esm {
			loads += "import '" + m[1] + "';\n"
		} else {
			loads += "require('" + m[1] + "');\n"
		}
	}
	return loads + scriptTestOf(gate, sample, esm, word)
}

const maxLoads = 20

var relativeImportRE = regexp.MustCompile(`(?:\bfrom\s*|\bimport\s*|\brequire\(\s*)['"](\.{1,2}/[\w./@-]+)['"]`)

// The calls that declare mocha's tests, in its two styles.
var (
	bddTest = regexp.MustCompile(`(?m)^\s*it(?:\.\w+)?\(`)
	tddTest = regexp.MustCompile(`(?m)^\s*test(?:\.\w+)?\(`)
)

func scriptTestOf(gate company.GateCommand, sample string, esm bool, word string) string {
	body := fmt.Sprintf("('%s', () => { throw new Error(\"this test of the company's must fail\"); });\n", word)
	from := ""
	for _, module := range []string{"node:test", "vitest", "@jest/globals", "ava", "bun:test"} {
		if strings.Contains(sample, "'"+module+"'") || strings.Contains(sample, `"`+module+`"`) {
			from = module
			break
		}
	}
	switch {
	case from == "ava" && esm:
		return "import test from 'ava';\ntest" + body
	case from == "ava":
		return "const test = require('ava');\ntest" + body
	case from != "" && esm:
		return "import { test } from '" + from + "';\ntest" + body
	case from != "":
		return "const { test } = require('" + from + "');\ntest" + body
	case gate.Parse == "tap" && tddTest.MatchString(sample) && !bddTest.MatchString(sample): // mocha --ui tdd or qunit
		return "test" + body
	case gate.Parse == "tap": // mocha's own manner
		return "it" + body
	case strings.Contains(gate.Canary, "vitest"):
		return "import { test } from 'vitest';\ntest" + body
	}
	return "test" + body
}

// cargoCanaryPlaces are the crates that the change touches.
func (g changedTree) cargoCanaryPlaces(ctx context.Context, gate company.GateCommand) ([]canaryPlace, error) {
	var dirs []string
	for _, dir := range g.touchedFolders(gate, ".rs") {
		if crate, ok := g.nearestWith(dir, "Cargo.toml"); ok && ecosystem.IsUnder(crate, gate.Dir) {
			dirs = append(dirs, crate)
		}
	}
	if len(dirs) == 0 && g.touchesGateFiles(gate) {
		dirs = []string{gate.Dir}
	}
	slices.Sort(dirs)
	var out []canaryPlace
	for _, dir := range slices.Compact(dirs) {
		text, err := g.readText(ctx, path.Join(dir, "Cargo.toml"))
		if err != nil {
			return nil, err
		}
		if !packageTable.MatchString(text) {
			continue // the root of a workspace has no tests of its own
		}
		out = append(out, canaryPlace{
			dir:  dir,
			path: func(word string) string { return path.Join(dir, "tests", word+".rs") },
			text: func(word string) string {
				return fmt.Sprintf("#[test]\nfn %s() {\n    panic!(\"this test of the company's must fail\");\n}\n", word)
			},
		})
	}
	return out, nil
}

var packageTable = regexp.MustCompile(`(?m)^\s*\[package\]`)
