// Package python supports Python: pytest and unittest, ruff and flake8, mypy, pip.
package python

import (
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// Ecosystem is Python.
type Ecosystem struct{}

// Name returns the toolchain's name.
func (Ecosystem) Name() string { return "python" }

// Programs lists the programs that need the toolchain.
func (Ecosystem) Programs() []string { return []string{"python3", "python", "pytest", "pip"} }

// Manifest returns the file name that marks a Python project.
func (Ecosystem) Manifest() string { return "pyproject.toml" }

var manifests = []string{"pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", "noxfile.py",
	"requirements.txt", "requirements-dev.txt", "requirements_dev.txt"}

// Detect finds the Python projects of a repository.
func (e Ecosystem) Detect(tree *ecosystem.Tree, _ []ecosystem.Component) []ecosystem.Component {
	var dirs []string
	for _, name := range manifests {
		for _, dir := range tree.FoldersWith(name) {
			if !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	slices.SortFunc(dirs, ecosystem.CompareDepth)
	var out []ecosystem.Component
	for _, dir := range dirs {
		if above := ecosystem.Covering(out, dir); above != nil && above.Test != nil && !tree.HasFile(dir, "pyproject.toml") &&
			!tree.HasFile(dir, "setup.py") {
			continue // for example docs/requirements.txt
		}
		tree.AddProject(e.Name(), dir)
		test, from := findTest(tree, dir)
		buildFirst(tree, dir, test)
		component := ecosystem.Component{Dir: dir, Kind: e.Name(), Description: "Python project", Lint: findLint(tree, dir),
			Types: findTypes(tree, dir), Test: test}
		if from != "" {
			component.Description += " (tested as " + from + " says)"
		}
		if component.HasCheck() {
			out = append(out, component)
		} else if dir == "" {
			tree.AddNote("a Python project without tests or a configured lint")
		}
	}
	return out
}

var (
	pytestWords = lazyregexp.New(`\[tool\.pytest|\[tool:pytest\]|\[pytest\]|(?i)\bpytest\b`)
	ruffTable   = lazyregexp.New(`(?m)^\s*\[tool\.ruff[.\]]`)
	flakeTable  = lazyregexp.New(`(?m)^\s*\[flake8\]`)
)

func findLint(tree *ecosystem.Tree, dir string) *company.GateCommand {
	switch {
	case tree.HasFile(dir, "ruff.toml"), tree.HasFile(dir, ".ruff.toml"),
		ruffTable.MatchString(tree.ReadManifest(dir, "pyproject.toml")):
		return &company.GateCommand{Command: "ruff check .", Report: "ruff check --output-format=concise .",
			Probe: "command -v ruff", Parse: testreport.FormatFindings}
	case tree.HasFile(dir, ".flake8"), flakeTable.MatchString(tree.ReadManifest(dir, "setup.cfg")),
		flakeTable.MatchString(tree.ReadManifest(dir, "tox.ini")):
		return &company.GateCommand{Command: "flake8", Probe: "command -v flake8", Parse: testreport.FormatFindings}
	}
	return nil
}

// findTest returns the test command of tox or nox, if one of them defines it. Otherwise it returns pytest,
// which also runs tests of unittest. It returns unittest only if no file mentions pytest and all tests use
// unittest. from is the file that defines the command, or empty.
func findTest(tree *ecosystem.Tree, dir string) (_ *company.GateCommand, from string) {
	run := findRun(tree, dir)
	told, ok := run.findCommand()
	set := run.formatVariables()
	switch {
	case ok && told.runner == "" && setupTestRE.MatchString(told.plain) && runsPytest(tree, dir, told.plain):
		return pytestGate(tree, dir, "", set, nil), told.file
	case ok && told.runner == "":
		return &company.GateCommand{Command: told.plain, Parse: testreport.FormatPlain}, told.file
	case ok && told.runner == plantUnittest:
		return unittestGate(set, told.args), told.file
	case ok:
		return pytestGate(tree, dir, told.below, set, told.args), told.file
	}
	pytest := tree.HasFile(dir, "pytest.ini") || tree.HasFile(dir, "conftest.py")
	for _, name := range manifests {
		pytest = pytest || pytestWords.MatchString(tree.ReadManifest(dir, name))
	}
	if pytest {
		return pytestGate(tree, dir, "", "", nil), ""
	}
	// Both runners read test_a.py, only pytest reads a_test.py, and only unittest reads test.py, which is
	// often not a test.
	var both, pytests, unittests []string
	for _, p := range tree.FilesBelow(dir) {
		d, name := ecosystem.SplitPath(p)
		begins := strings.HasPrefix(name, "test") && strings.HasSuffix(name, ".py")
		switch {
		case ecosystem.IsForeignDir(d):
		case isTestFile(name) && begins:
			both = append(both, p)
		case isTestFile(name):
			pytests = append(pytests, p)
		case begins && len(unittests) < 20 && usesUnittestAlone(tree, p):
			unittests = append(unittests, p)
		}
	}
	if len(both)+len(pytests)+len(unittests) == 0 {
		return nil, ""
	}
	if args, ok := discoverArgs(tree, dir, append(unittests, both...)); ok && len(pytests) == 0 &&
		!slices.ContainsFunc(both[:min(len(both), 20)], func(p string) bool { return !usesUnittestAlone(tree, p) }) {
		return unittestGate("", args), ""
	}
	return pytestGate(tree, dir, "", "", nil), ""
}

var (
	setupTestRE   = lazyregexp.New(`^(?:\w+=\S* )*python3? setup\.py (test|pytest)$`)
	setupAliasRE  = lazyregexp.New(`(?m)^\[aliases\]\s*(?:^[^\[].*\s*)*?^test\s*=\s*pytest\s*$`)
	setupRunnerRE = lazyregexp.New(`\bpytest[-_]runner\b`)
)

// runsPytest reports whether the test command of a setup script is pytest. The package pytest-runner makes
// it so, and fetches itself from PyPI if it is missing.
func runsPytest(tree *ecosystem.Tree, dir, command string) bool {
	return strings.HasSuffix(command, " pytest") ||
		setupAliasRE.MatchString(tree.ReadManifest(dir, "setup.cfg")) &&
			setupRunnerRE.MatchString(tree.ReadManifest(dir, "setup.py")+tree.ReadManifest(dir, "setup.cfg"))
}

// usesUnittestAlone reports whether a test file mentions unittest and not pytest.
func usesUnittestAlone(tree *ecosystem.Tree, p string) bool {
	d, name := ecosystem.SplitPath(p)
	text := tree.ReadManifest(d, name)
	return strings.Contains(text, "unittest") && !strings.Contains(text, "pytest")
}

// discoverArgs returns the arguments with which unittest finds the tests. unittest only enters packages, so
// a folder without an __init__.py must be named, and only one can be. If there are several, ok is false and
// pytest must be used.
func discoverArgs(tree *ecosystem.Tree, dir string, tests []string) (args []string, ok bool) {
	start := ""
	for i, p := range tests {
		d, _ := ecosystem.SplitPath(p)
		for d != dir && tree.HasFile(d, "__init__.py") {
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

// unittestGate returns a check that runs unittest with the given arguments. set holds variables for it.
func unittestGate(set string, args []string) *company.GateCommand {
	words := quoteWords(append(slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "-v" }), "-v"))
	return &company.GateCommand{Command: set + "python3 -m unittest" + words,
		Report: set + unittestCommand + words + " 2>&1", Parse: formatUnittest,
		Plant: plantUnittest, Canary: set + unittestCommand + words + " -k " + ecosystem.CanaryPlaceholder + " 2>&1"}
}

// pytestGate returns a check that runs pytest with the given arguments in below, a folder relative to the
// project's. set holds variables for it.
func pytestGate(tree *ecosystem.Tree, dir, below, set string, args []string) *company.GateCommand {
	src, change := "", ""
	if hasSrcLayout(tree, dir) {
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
	// The project's settings may stop at the first failure (-x), which would hide others.
	first = change + set + first + words + " --maxfail=0 --continue-on-collection-errors --junitxml=" + testreport.File
	// Exit code 5 means that there are no tests. That is reported and is not a failure.
	return &company.GateCommand{Command: change + set + run + words,
		Report: first + "; code=$?; test $code -eq 5 || exit $code", Probe: pytestProbe, Parse: testreport.FormatJUnit,
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

// pytestCommand returns python3 -m pytest with one difference. It imports the runner before the tree is on
// the path, so that a folder of the tree cannot replace the runner.
func pytestCommand(src string) string {
	more := ""
	if src != "" {
		more = `os.environ["PYTHONPATH"] = "` + src + `"; sys.path.insert(1, os.path.join(os.getcwd(), "` + src + `")); `
	}
	return `python3 -c 'import sys; sys.path[:] = [p for p in sys.path if p]; import os, pytest; sys.path.insert(0, os.getcwd()); ` + more +
		`sys.argv[0] = "pytest"; sys.exit(pytest.console_main())'`
}

// unittestCommand is python3 -m unittest with the same difference.
const unittestCommand = `python3 -c 'import sys; sys.path[:] = [p for p in sys.path if p]; import os, unittest; from unittest.main import main; ` +
	`sys.path.insert(0, os.getcwd()); sys.argv[0] = "python3 -m unittest"; main(module=None)'`

// pytestProbe imports the module itself, in a folder outside of the tree. pytest --version would read the
// tree's conftest.py, and a failed import there does not mean that pytest is missing.
const pytestProbe = `cd / && python3 -c "import pytest"`

// hasSrcLayout reports whether the package is in src. A checkout is not installed, so the tests need its
// path.
func hasSrcLayout(t *ecosystem.Tree, dir string) bool {
	return t.HasBelow(path.Join(dir, "src"), ".py")
}
