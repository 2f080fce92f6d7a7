// Package python is the ecosystem of Python: pytest and unittest, ruff and
// flake8, mypy, pip.
package python

import (
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
	"company/internal/testreport"
)

// Ecosystem is Python.
type Ecosystem struct{}

// Name is the toolchain.
func (Ecosystem) Name() string { return "python" }

// Programs are the programs that need the toolchain.
func (Ecosystem) Programs() []string { return []string{"python3", "python", "pytest", "pip"} }

// Manifest is the file by which a project is known.
func (Ecosystem) Manifest() string { return "pyproject.toml" }

var manifests = []string{"pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", "noxfile.py", "requirements.txt", "requirements-dev.txt", "requirements_dev.txt"}

// Detect finds the Python projects of a repository.
func (e Ecosystem) Detect(t *ecosystem.Tree, _ []ecosystem.Component) []ecosystem.Component {
	var dirs []string
	for _, name := range manifests {
		for _, dir := range t.FoldersWith(name) {
			if !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	slices.SortFunc(dirs, ecosystem.CompareDepth)
	var out []ecosystem.Component
	for _, dir := range dirs {
		if above := ecosystem.Covering(out, dir); above != nil && above.Test != nil && !t.HasFile(dir, "pyproject.toml") && !t.HasFile(dir, "setup.py") {
			continue // docs/requirements.txt and its like
		}
		t.AddProject(e.Name(), dir)
		test, from := findTest(t, dir)
		buildFirst(t, dir, test)
		p := ecosystem.Component{Dir: dir, Kind: e.Name(), Description: "Python project", Lint: findLint(t, dir), Types: findTypes(t, dir), Test: test}
		if from != "" {
			p.Description += " (tested as " + from + " says)"
		}
		if p.HasCheck() {
			out = append(out, p)
		} else if dir == "" {
			t.AddNote("a Python project without tests or a configured lint")
		}
	}
	return out
}

var (
	pytestWords = lazyregexp.New(`\[tool\.pytest|\[tool:pytest\]|\[pytest\]|(?i)\bpytest\b`)
	ruffTable   = lazyregexp.New(`(?m)^\s*\[tool\.ruff[.\]]`)
	flakeTable  = lazyregexp.New(`(?m)^\s*\[flake8\]`)
)

func findLint(t *ecosystem.Tree, dir string) *company.GateCommand {
	switch {
	case t.HasFile(dir, "ruff.toml"), t.HasFile(dir, ".ruff.toml"), ruffTable.MatchString(t.ReadManifest(dir, "pyproject.toml")):
		return &company.GateCommand{Command: "ruff check .", Report: "ruff check --output-format=concise .", Probe: "command -v ruff", Parse: testreport.FormatFindings}
	case t.HasFile(dir, ".flake8"), flakeTable.MatchString(t.ReadManifest(dir, "setup.cfg")), flakeTable.MatchString(t.ReadManifest(dir, "tox.ini")):
		return &company.GateCommand{Command: "flake8", Probe: "command -v flake8", Parse: testreport.FormatFindings}
	}
	return nil
}

// findTest is what tox or nox run, where one of them tells; else pytest, which runs
// the tests of unittest as well. Only where nothing speaks of pytest and all tests
// are unittest's, that runs them. from is the file that tells.
func findTest(t *ecosystem.Tree, dir string) (_ *company.GateCommand, from string) {
	run := findRun(t, dir)
	told, ok := run.findCommand()
	set := run.formatVariables()
	switch {
	case ok && told.runner == "":
		return &company.GateCommand{Command: told.plain, Parse: testreport.FormatPlain}, told.file
	case ok && told.runner == plantUnittest:
		return unittestGate(set, told.args), told.file
	case ok:
		return pytestGate(t, dir, told.below, set, told.args), told.file
	}
	pytest := t.HasFile(dir, "pytest.ini") || t.HasFile(dir, "conftest.py")
	for _, name := range manifests {
		pytest = pytest || pytestWords.MatchString(t.ReadManifest(dir, name))
	}
	var tests []string
	for _, p := range t.FilesBelow(dir) {
		if d, name := ecosystem.SplitPath(p); !ecosystem.IsForeignDir(d) && isTestFile(name) {
			tests = append(tests, p)
		}
	}
	if len(tests) == 0 && !pytest {
		return nil, ""
	}
	if !pytest {
		unit := 0
		for _, p := range tests[:min(len(tests), 20)] {
			d, name := ecosystem.SplitPath(p)
			if text := t.ReadManifest(d, name); strings.Contains(text, "unittest") && !strings.Contains(text, "pytest") {
				unit++
			}
		}
		if args, ok := discoverArgs(t, dir, tests); ok && unit == min(len(tests), 20) {
			return unittestGate("", args), ""
		}
	}
	return pytestGate(t, dir, "", "", nil), ""
}

// discoverArgs are the arguments with which unittest finds the tests: it goes into
// packages alone, so folders without an __init__.py must be named to it, and only one
// of them can be. Where there are several, ok is false: pytest finds them.
func discoverArgs(t *ecosystem.Tree, dir string, tests []string) (args []string, ok bool) {
	start := ""
	for i, p := range tests {
		d, _ := ecosystem.SplitPath(p)
		for d != dir && t.HasFile(d, "__init__.py") {
			d, _ = ecosystem.SplitPath(d)
		}
		if i > 0 && d != start {
			return nil, false
		}
		start = d
	}
	if start == dir {
		return []string{"discover"}, true
	}
	return []string{"discover", "-s", strings.TrimPrefix(strings.TrimPrefix(start, dir), "/")}, true
}

// unittestGate runs unittest with arguments; set are variables for it.
func unittestGate(set string, args []string) *company.GateCommand {
	words := quoteWords(append(slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "-v" }), "-v"))
	return &company.GateCommand{Command: set + "python3 -m unittest" + words, Report: set + unittestCommand + words + " 2>&1", Parse: formatUnittest,
		Plant: plantUnittest, Canary: set + unittestCommand + words + " -k " + ecosystem.CanaryPlaceholder + " 2>&1"}
}

// pytestGate runs pytest with arguments, in a folder below the project's; set are variables for it.
func pytestGate(t *ecosystem.Tree, dir, below, set string, args []string) *company.GateCommand {
	src, change := "", ""
	if hasSrcLayout(t, dir) {
		src = "src"
	}
	if below != "" {
		src, change = path.Join(strings.Repeat("../", strings.Count(below, "/")+1), src), "cd "+quoteWord(below)+" && "
	}
	run, first := "python3 -m pytest", pytestCommand(src)
	if src != "" {
		run = "PYTHONPATH=" + src + " " + run
	}
	words := quoteWords(args)
	// The project's settings may stop at the first failure (-x), which hides the others.
	first = change + set + first + words + " --maxfail=0 --continue-on-collection-errors --junitxml=" + testreport.File
	// 5 means that there are no tests: that is reported, and is no failure.
	return &company.GateCommand{Command: change + set + run + words, Report: first + "; code=$?; test $code -eq 5 || exit $code", Probe: pytestProbe, Parse: testreport.FormatJUnit,
		Plant: plantPytest, Canary: first + " -k " + ecosystem.CanaryPlaceholder}
}

// quoteWords quotes the arguments of a command.
func quoteWords(words []string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(" " + quoteWord(w))
	}
	return b.String()
}

// pytestCommand is python3 -m pytest with one difference: the runner is imported
// before the tree is on its path, so that no folder of the tree is taken for
// it.
func pytestCommand(src string) string {
	more := ""
	if src != "" {
		more = `os.environ["PYTHONPATH"] = "` + src + `"; sys.path.insert(1, os.path.join(os.getcwd(), "` + src + `")); `
	}
	return `python3 -c 'import sys; sys.path[:] = [p for p in sys.path if p]; import os, pytest; sys.path.insert(0, os.getcwd()); ` + more +
		`sys.argv[0] = "pytest"; sys.exit(pytest.console_main())'`
}

// unittestCommand is the same for python3 -m unittest.
const unittestCommand = `python3 -c 'import sys; sys.path[:] = [p for p in sys.path if p]; import os, unittest; from unittest.main import main; ` +
	`sys.path.insert(0, os.getcwd()); sys.argv[0] = "python3 -m unittest"; main(module=None)'`

// pytestProbe asks for the module itself, from a folder that holds nothing: its
// --version reads the conftest.py of the tree, and one import that is missing
// there is no missing pytest.
const pytestProbe = `cd / && python3 -c "import pytest"`

// hasSrcLayout says whether the package lies in src: a checkout is not
// installed, so the tests need its path.
func hasSrcLayout(t *ecosystem.Tree, dir string) bool {
	return t.HasBelow(path.Join(dir, "src"), ".py")
}
