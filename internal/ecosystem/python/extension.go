package python

import (
	"slices"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// headers is the toolchain for building Python extensions, in addition to a C compiler.
const headers = "python-dev"

var (
	extensionRE = lazyregexp.New(`(?m)^[^#\n]*\b(ext_modules\s*=\s*[^N\s]|cffi_modules\s*=|cythonize\s*\(|Extension\s*\()`)
	cythonRE    = lazyregexp.New(`(?m)^\s*(?:from|import)\s+Cython\b`)
	numpyRE     = lazyregexp.New(`(?m)^\s*(?:from|import)\s+numpy\b`)
)

// extensionBuild returns the command that builds a project's extensions in place. It returns "" if there
// are none that setuptools builds.
func extensionBuild(setup string, m pyproject) string {
	switch {
	case extensionRE.MatchString(setup):
		return "python3 setup.py -q build_ext --inplace"
	case setup == "" && len(m.Tool.Setuptools.Extensions) > 0:
		return "python3 -c 'import setuptools; setuptools.setup()' -q build_ext --inplace"
	}
	return ""
}

// extensionNeeds returns the packages that the build of the extensions imports.
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

// otherBuilders maps build backends that do not use setuptools for extensions to their build tool.
var otherBuilders = map[string]string{
	"mesonpy": "Meson", "scikit_build_core.build": "CMake", "skbuild": "CMake", "maturin": "Rust",
	"py_build_cmake.build": "CMake", "setuptools_rust": "Rust",
}

// buildFirst makes a gate build a project's extensions before the tests. A gate has only the tree, and the
// change may affect the extensions.
func buildFirst(tree *ecosystem.Tree, dir string, test *company.GateCommand) {
	pyproject, _ := readPyproject([]byte(tree.ReadManifest(dir, "pyproject.toml")))
	if tool := otherBuilders[pyproject.Build.Backend]; tool != "" {
		tree.AddNote("%s builds its extensions by %s (%s), which is not done: tests that import them are red (gates.test "+
			"can "+
			"build them first)",
			ecosystem.DisplayDir(dir), tool, pyproject.Build.Backend)
	}
	build := extensionBuild(tree.ReadManifest(dir, "setup.py"), pyproject)
	if build == "" || test == nil {
		return
	}
	for _, command := range []*string{&test.Command, &test.Report, &test.Canary} {
		if *command != "" {
			*command = build + " && " + *command
		}
	}
}

// Needs returns a C compiler and Python's headers if a project has extensions, and mypy if a command calls
// it.
func (e Ecosystem) Needs(tree *ecosystem.Tree, need func(string) bool, commands []string) (out []string) {
	if !need(e.Name()) {
		return nil
	}
	if slices.ContainsFunc(commands, mypyCommands.MatchString) {
		out = append(out, mypy)
	}
	dirs := tree.FoldersWith("setup.py")
	for _, dir := range tree.FoldersWith("pyproject.toml") {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		m, _ := readPyproject([]byte(tree.ReadManifest(dir, "pyproject.toml")))
		if extensionBuild(tree.ReadManifest(dir, "setup.py"), m) != "" {
			return append(out, "c", headers)
		}
	}
	return out
}
