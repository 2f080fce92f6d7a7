package gates

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"company/internal/company"
)

var pythonManifests = []string{"pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", "requirements.txt", "requirements-dev.txt", "requirements_dev.txt"}

// pythonComponents are the Python projects of a repository.
func (s *repoScan) pythonComponents() []component {
	var dirs []string
	for _, name := range pythonManifests {
		for _, dir := range s.foldersWith(name) {
			if !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	slices.SortFunc(dirs, byDepth)
	var out []component
	for _, dir := range dirs {
		if above := findCovering(out, dir); above != nil && above.test != nil && !s.hasFile(dir, "pyproject.toml") && !s.hasFile(dir, "setup.py") {
			continue // docs/requirements.txt and its like
		}
		p := component{dir: dir, kind: "python", description: "Python project", lint: s.pythonLint(dir), test: s.pythonTest(dir)}
		if p.lint != nil || p.test != nil {
			out = append(out, p)
		} else if dir == "" {
			s.addNote("a Python project without tests or a configured lint")
		}
	}
	return out
}

var (
	pytestWords = regexp.MustCompile(`\[tool\.pytest|\[tool:pytest\]|\[pytest\]|(?i)\bpytest\b`)
	ruffTable   = regexp.MustCompile(`(?m)^\s*\[tool\.ruff[.\]]`)
	flakeTable  = regexp.MustCompile(`(?m)^\s*\[flake8\]`)
)

func (s *repoScan) pythonLint(dir string) *company.GateCommand {
	switch {
	case s.hasFile(dir, "ruff.toml"), s.hasFile(dir, ".ruff.toml"), ruffTable.MatchString(s.readManifest(dir, "pyproject.toml")):
		return &company.GateCommand{Command: "ruff check .", Report: "ruff check --output-format=concise .", Probe: "command -v ruff", Parse: FormatFindings}
	case s.hasFile(dir, ".flake8"), flakeTable.MatchString(s.readManifest(dir, "setup.cfg")), flakeTable.MatchString(s.readManifest(dir, "tox.ini")):
		return &company.GateCommand{Command: "flake8", Probe: "command -v flake8", Parse: FormatFindings}
	}
	return nil
}

// pythonTest is pytest, which runs the tests of unittest as well; only where
// nothing speaks of pytest and all tests are unittest's, that runs them.
func (s *repoScan) pythonTest(dir string) *company.GateCommand {
	pytest := s.hasFile(dir, "pytest.ini") || s.hasFile(dir, "conftest.py")
	for _, name := range pythonManifests {
		pytest = pytest || pytestWords.MatchString(s.readManifest(dir, name))
	}
	var tests []string
	for p := range s.files {
		d, name := splitPath(p)
		if isUnder(d, dir) && !isForeignDir(d) && (strings.HasPrefix(name, "test_") && strings.HasSuffix(name, ".py") || strings.HasSuffix(name, "_test.py")) {
			tests = append(tests, p)
		}
	}
	if len(tests) == 0 && !pytest {
		return nil
	}
	slices.Sort(tests)
	if !pytest {
		unit := 0
		for _, p := range tests[:min(len(tests), 20)] {
			d, name := splitPath(p)
			if text := s.readManifest(d, name); strings.Contains(text, "unittest") && !strings.Contains(text, "pytest") {
				unit++
			}
		}
		if unit == min(len(tests), 20) {
			return &company.GateCommand{Command: "python3 -m unittest discover -v", Report: unittestCommand + " discover -v 2>&1", Parse: FormatUnittest,
				Plant: plantUnittest, Canary: unittestCommand + " discover -v -k " + canaryPlaceholder + " 2>&1"}
		}
	}
	run, first := "python3 -m pytest", pytestCommand("")
	if s.hasSrcLayout(dir) {
		run, first = "PYTHONPATH=src "+run, pytestCommand("src")
	}
	first += " --continue-on-collection-errors --junitxml=" + ReportFile
	// 5 says that there are no tests: that is said, and is no failure.
	return &company.GateCommand{Command: run, Report: first + "; code=$?; test $code -eq 5 || exit $code", Probe: pytestProbe, Parse: FormatJUnit,
		Plant: plantPytest, Canary: first + " -k " + canaryPlaceholder}
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

// hasSrcLayout says whether the package lies in src: a checkout is not installed,
// so the tests must be told where it is.
func (s *repoScan) hasSrcLayout(dir string) bool {
	for p := range s.files {
		if strings.HasSuffix(p, ".py") && isUnder(p, path.Join(dir, "src")) {
			return true
		}
	}
	return false
}

var workspaceTable = regexp.MustCompile(`(?m)^\s*\[workspace\]`)

// rustComponents are the crates and workspaces of a repository; members of a
// workspace are checked with it.
func (s *repoScan) rustComponents() []component {
	var out []component
	for _, dir := range s.foldersWith("Cargo.toml") {
		all := ""
		if workspaceTable.MatchString(s.readManifest(dir, "Cargo.toml")) {
			all = " --workspace"
		}
		if above := findCovering(out, dir); above != nil && strings.Contains(above.test.Command, "--workspace") {
			continue
		}
		out = append(out, component{dir: dir, kind: "rust", description: "Rust crate",
			lint: &company.GateCommand{Command: "cargo clippy --offline --all-targets" + all, Probe: "command -v cargo-clippy"},
			test: &company.GateCommand{Command: "cargo test --offline --no-fail-fast" + all, Report: "cargo test --offline --no-fail-fast" + all + " 2>&1", Parse: FormatCargo,
				Plant: plantCargo, Canary: "cargo test --offline --no-fail-fast" + all + " --test '" + canaryPlaceholder + "*' 2>&1"}})
	}
	return out
}

var makeTarget = regexp.MustCompile(`(?m)^(test|check|lint)\s*:([^=]|$)`)

// makeComponents is the Makefile at the root of a repository that is of no kind
// that is known better.
func (s *repoScan) makeComponents() []component {
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		if !s.hasFile("", name) {
			continue
		}
		targets := map[string]bool{}
		for _, m := range makeTarget.FindAllStringSubmatch(s.readManifest("", name), -1) {
			targets[m[1]] = true
		}
		p := component{kind: "make", description: name}
		if targets["lint"] {
			p.lint = &company.GateCommand{Command: "make lint"}
		}
		switch {
		case targets["test"]:
			p.test = &company.GateCommand{Command: "make test", Parse: FormatPlain}
		case targets["check"]:
			p.test = &company.GateCommand{Command: "make check", Parse: FormatPlain}
		}
		if p.lint == nil && p.test == nil {
			s.addNote("%s has no target test, check or lint", name)
			return nil
		}
		return []component{p}
	}
	return nil
}

// noteUnknownKinds says which projects are there that no gate is known for, that
// submodules stay empty, and, where gates come from another kind, that a
// Makefile is left alone.
func (s *repoScan) noteUnknownKinds(others bool) {
	for _, k := range []struct{ file, kind string }{
		{"pom.xml", "a Maven project"}, {"build.gradle", "a Gradle project"}, {"build.gradle.kts", "a Gradle project"},
		{"CMakeLists.txt", "a CMake project"}, {"mix.exs", "an Elixir project"}, {"Gemfile", "a Ruby project"},
		{"composer.json", "a PHP project"}, {"Package.swift", "a Swift project"}, {"deno.json", "a Deno project"},
	} {
		if s.hasFile("", k.file) {
			s.addNote("%s (%s): no gate is known for it; gates.test names one", k.kind, k.file)
		}
	}
	if s.hasFile("", ".gitmodules") {
		s.addNote("there are submodules (.gitmodules): they are not fetched, their folders are empty for checks and workers")
	}
	if others && (s.hasFile("", "Makefile") || s.hasFile("", "GNUmakefile") || s.hasFile("", "makefile")) {
		s.addNote("the Makefile's targets are not used, since the project's kind is known (gates.test: make test)")
	}
}
