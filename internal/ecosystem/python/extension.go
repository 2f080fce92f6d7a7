package python

import (
	"slices"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// headers is the toolchain that extensions of Python are built with, beside a C
// compiler.
const headers = "python-dev"

var (
	extensionRE = lazyregexp.New(`(?m)^[^#\n]*\b(ext_modules\s*=\s*[^N\s]|cffi_modules\s*=|cythonize\s*\(|Extension\s*\()`)
	cythonRE    = lazyregexp.New(`(?m)^\s*(?:from|import)\s+Cython\b`)
	numpyRE     = lazyregexp.New(`(?m)^\s*(?:from|import)\s+numpy\b`)
)

// extensionBuild is the command that builds the extensions of a project where its
// modules lie; empty: it has none that setuptools builds.
func extensionBuild(setup string, m pyproject) string {
	switch {
	case extensionRE.MatchString(setup):
		return "python3 setup.py -q build_ext --inplace"
	case setup == "" && len(m.Tool.Setuptools.Extensions) > 0:
		return "python3 -c 'import setuptools; setuptools.setup()' -q build_ext --inplace"
	}
	return ""
}

// extensionNeeds are the packages that such a build imports.
func extensionNeeds(setup string, m pyproject) []string {
	if extensionBuild(setup, m) == "" {
		return nil
	}
	needs := slices.Clone(m.Build.Requires)
	if cythonRE.MatchString(setup) && len(needs) == 0 {
		needs = append(needs, "cython")
	}
	if numpyRE.MatchString(setup) && len(needs) == 0 {
		needs = append(needs, "numpy")
	}
	return needs
}

// otherBuilders are backends that build extensions with tools of their own.
var otherBuilders = map[string]string{
	"mesonpy": "Meson", "scikit_build_core.build": "CMake", "skbuild": "CMake", "maturin": "Rust", "py_build_cmake.build": "CMake", "setuptools_rust": "Rust",
}

// buildFirst has the gates of a project build its extensions before the tests: a
// gate has the tree alone, and the change may be in them.
func buildFirst(t *ecosystem.Tree, dir string, test *company.GateCommand) {
	m, _ := readPyproject([]byte(t.ReadManifest(dir, "pyproject.toml")))
	if tool := otherBuilders[m.Build.Backend]; tool != "" {
		t.AddNote("%s builds its extensions by %s (%s), which is not done: tests that import them are red (gates.test can build them first)",
			ecosystem.DisplayDir(dir), tool, m.Build.Backend)
	}
	build := extensionBuild(t.ReadManifest(dir, "setup.py"), m)
	if build == "" || test == nil {
		return
	}
	for _, command := range []*string{&test.Command, &test.Report, &test.Canary} {
		if *command != "" {
			*command = build + " && " + *command
		}
	}
}

// Needs is a C compiler with Python's headers where a project has extensions, and mypy where a command calls it.
func (e Ecosystem) Needs(t *ecosystem.Tree, need func(string) bool, commands []string) (out []string) {
	if !need(e.Name()) {
		return nil
	}
	if slices.ContainsFunc(commands, mypyCommands.MatchString) {
		out = append(out, mypy)
	}
	dirs := t.FoldersWith("setup.py")
	for _, dir := range t.FoldersWith("pyproject.toml") {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		m, _ := readPyproject([]byte(t.ReadManifest(dir, "pyproject.toml")))
		if extensionBuild(t.ReadManifest(dir, "setup.py"), m) != "" {
			return append(out, "c", headers)
		}
	}
	return out
}
