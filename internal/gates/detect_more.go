package gates

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"company/internal/company"
)

var pythonManifests = []string{"pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", "requirements.txt", "requirements-dev.txt", "requirements_dev.txt"}

// pythonParts are the Python projects of a repository.
func (s *survey) pythonParts() []part {
	var dirs []string
	for _, name := range pythonManifests {
		for _, dir := range s.foldersWith(name) {
			if !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	slices.SortFunc(dirs, byDepth)
	var out []part
	for _, dir := range dirs {
		if above := coveredBy(out, dir); above != nil && above.test != nil && !s.has(dir, "pyproject.toml") && !s.has(dir, "setup.py") {
			continue // docs/requirements.txt and its like
		}
		p := part{dir: dir, kind: "python", about: "Python project", lint: s.pythonLint(dir), test: s.pythonTest(dir)}
		if p.lint != nil || p.test != nil {
			out = append(out, p)
		} else if dir == "" {
			s.note("a Python project without tests or a configured lint")
		}
	}
	return out
}

var (
	pytestWords = regexp.MustCompile(`\[tool\.pytest|\[tool:pytest\]|\[pytest\]|(?i)\bpytest\b`)
	ruffTable   = regexp.MustCompile(`(?m)^\s*\[tool\.ruff[.\]]`)
	flakeTable  = regexp.MustCompile(`(?m)^\s*\[flake8\]`)
)

func (s *survey) pythonLint(dir string) *company.GateCommand {
	switch {
	case s.has(dir, "ruff.toml"), s.has(dir, ".ruff.toml"), ruffTable.MatchString(s.read(dir, "pyproject.toml")):
		return &company.GateCommand{Command: "ruff check .", Report: "ruff check --output-format=concise .", Probe: "command -v ruff", Parse: Lines}
	case s.has(dir, ".flake8"), flakeTable.MatchString(s.read(dir, "setup.cfg")), flakeTable.MatchString(s.read(dir, "tox.ini")):
		return &company.GateCommand{Command: "flake8", Probe: "command -v flake8", Parse: Lines}
	}
	return nil
}

// pythonTest is pytest, which runs the tests of unittest as well; only where
// nothing speaks of pytest and all tests are unittest's, that runs them.
func (s *survey) pythonTest(dir string) *company.GateCommand {
	pytest := s.has(dir, "pytest.ini") || s.has(dir, "conftest.py")
	for _, name := range pythonManifests {
		pytest = pytest || pytestWords.MatchString(s.read(dir, name))
	}
	var tests []string
	for p := range s.files {
		d, name := split(p)
		if under(d, dir) && !foreign(d) && (strings.HasPrefix(name, "test_") && strings.HasSuffix(name, ".py") || strings.HasSuffix(name, "_test.py")) {
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
			d, name := split(p)
			if text := s.read(d, name); strings.Contains(text, "unittest") && !strings.Contains(text, "pytest") {
				unit++
			}
		}
		if unit == min(len(tests), 20) {
			return &company.GateCommand{Command: "python3 -m unittest discover -v", Report: unittestFirst + " discover -v 2>&1", Parse: Unittest,
				Plant: plantUnittest, Canary: unittestFirst + " discover -v -k " + canaryWord + " 2>&1"}
		}
	}
	run, first := "python3 -m pytest", pytestFirst("")
	if s.layoutSrc(dir) {
		run, first = "PYTHONPATH=src "+run, pytestFirst("src")
	}
	first += " --continue-on-collection-errors --junitxml=" + ReportFile
	// 5 says that there are no tests: that is said, and is no failure.
	return &company.GateCommand{Command: run, Report: first + "; code=$?; test $code -eq 5 || exit $code", Probe: pytestThere, Parse: JUnit,
		Plant: plantPytest, Canary: first + " -k " + canaryWord}
}

// pytestFirst is python3 -m pytest with one difference: the runner is imported
// before the tree is on its path, so that no folder of the tree is taken for
// it.
func pytestFirst(src string) string {
	more := ""
	if src != "" {
		more = `os.environ["PYTHONPATH"] = "` + src + `"; sys.path.insert(1, os.path.join(os.getcwd(), "` + src + `")); `
	}
	return `python3 -c 'import sys; sys.path[:] = [p for p in sys.path if p]; import os, pytest; sys.path.insert(0, os.getcwd()); ` + more +
		`sys.argv[0] = "pytest"; sys.exit(pytest.console_main())'`
}

// unittestFirst is the same for python3 -m unittest.
const unittestFirst = `python3 -c 'import sys; sys.path[:] = [p for p in sys.path if p]; import os, unittest; from unittest.main import main; ` +
	`sys.path.insert(0, os.getcwd()); sys.argv[0] = "python3 -m unittest"; main(module=None)'`

// pytestThere asks for the module itself, from a folder that holds nothing: its
// --version reads the conftest.py of the tree, and one import that is missing
// there is no missing pytest.
const pytestThere = `cd / && python3 -c "import pytest"`

// layoutSrc says whether the package lies in src: a checkout is not installed,
// so the tests must be told where it is.
func (s *survey) layoutSrc(dir string) bool {
	for p := range s.files {
		if strings.HasSuffix(p, ".py") && under(p, path.Join(dir, "src")) {
			return true
		}
	}
	return false
}

var workspaceTable = regexp.MustCompile(`(?m)^\s*\[workspace\]`)

// rustParts are the crates and workspaces of a repository; members of a
// workspace are checked with it.
func (s *survey) rustParts() []part {
	var out []part
	for _, dir := range s.foldersWith("Cargo.toml") {
		all := ""
		if workspaceTable.MatchString(s.read(dir, "Cargo.toml")) {
			all = " --workspace"
		}
		if above := coveredBy(out, dir); above != nil && strings.Contains(above.test.Command, "--workspace") {
			continue
		}
		out = append(out, part{dir: dir, kind: "rust", about: "Rust crate",
			lint: &company.GateCommand{Command: "cargo clippy --offline --all-targets" + all, Probe: "command -v cargo-clippy"},
			test: &company.GateCommand{Command: "cargo test --offline --no-fail-fast" + all, Report: "cargo test --offline --no-fail-fast" + all + " 2>&1", Parse: Cargo,
				Plant: plantCargo, Canary: "cargo test --offline --no-fail-fast" + all + " --test '" + canaryWord + "*' 2>&1"}})
	}
	return out
}

var makeTarget = regexp.MustCompile(`(?m)^(test|check|lint)\s*:([^=]|$)`)

// makeParts is the Makefile at the root of a repository that is of no kind
// that is known better.
func (s *survey) makeParts() []part {
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		if !s.has("", name) {
			continue
		}
		targets := map[string]bool{}
		for _, m := range makeTarget.FindAllStringSubmatch(s.read("", name), -1) {
			targets[m[1]] = true
		}
		p := part{kind: "make", about: name}
		if targets["lint"] {
			p.lint = &company.GateCommand{Command: "make lint"}
		}
		switch {
		case targets["test"]:
			p.test = &company.GateCommand{Command: "make test", Parse: Plain}
		case targets["check"]:
			p.test = &company.GateCommand{Command: "make check", Parse: Plain}
		}
		if p.lint == nil && p.test == nil {
			s.note("%s has no target test, check or lint", name)
			return nil
		}
		return []part{p}
	}
	return nil
}

// unknownKinds says which projects are there that no gate is known for, that
// submodules stay empty, and, where gates come from another kind, that a
// Makefile is left alone.
func (s *survey) unknownKinds(others bool) {
	for _, k := range []struct{ file, kind string }{
		{"pom.xml", "a Maven project"}, {"build.gradle", "a Gradle project"}, {"build.gradle.kts", "a Gradle project"},
		{"CMakeLists.txt", "a CMake project"}, {"mix.exs", "an Elixir project"}, {"Gemfile", "a Ruby project"},
		{"composer.json", "a PHP project"}, {"Package.swift", "a Swift project"}, {"deno.json", "a Deno project"},
	} {
		if s.has("", k.file) {
			s.note("%s (%s): no gate is known for it; gates.test names one", k.kind, k.file)
		}
	}
	if s.has("", ".gitmodules") {
		s.note("there are submodules (.gitmodules): they are not fetched, their folders are empty for checks and workers")
	}
	if others && (s.has("", "Makefile") || s.has("", "GNUmakefile") || s.has("", "makefile")) {
		s.note("the Makefile's targets are not used, since the project's kind is known (gates.test: make test)")
	}
}
