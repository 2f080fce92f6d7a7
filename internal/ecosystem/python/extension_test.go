package python

import (
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// Extensions that setuptools builds are built before the tests, by a compiler with
// Python's headers; what other tools build is named.
func TestExtensions(t *testing.T) {
	const build = "python3 setup.py -q build_ext --inplace && "
	for name, c := range map[string]struct {
		files             map[string]string
		command, needs    string
		packages, refused string
	}{
		"C": {map[string]string{
			"setup.py": "from setuptools import setup, Extension\nsetup(ext_modules=[Extension('own', ['own.c'])])\n"},
			build + "python3 -m pytest", "c python-dev", "", ""},
		"Cython": {map[string]string{
			"setup.py": "from Cython.Build import cythonize\nsetup(ext_modules=cythonize('own.pyx'))\n"},
			build + "python3 -m pytest", "c python-dev", "cython", ""},
		"with its needs": {map[string]string{"setup.py": "setup(cffi_modules=['build.py:x'])\n",
			"pyproject.toml": "[build-system]\nrequires=['setuptools>=60', 'cffi']\n"}, build + "python3 -m pytest",
			"c python-dev", "setuptools>=60|cffi", ""},
		"no setup.py": {map[string]string{
			"pyproject.toml": "[[tool.setuptools.ext-modules]]\nname='own'\nsources=['own.c']\n"},
			"python3 -c 'import setuptools; setuptools.setup()' -q build_ext --inplace && python3 -m pytest",
			"c python-dev", "", ""},
		"with tox": {map[string]string{"setup.py": "setup(ext_modules=x)\n",
			"tox.ini": "[testenv]\ncommands = python -m unittest tests\n"}, build + "python3 -m unittest tests -v",
			"c python-dev", "", ""},
		"none": {map[string]string{"setup.py": "# Extension(x)\nsetup(name='x')\n",
			"pyproject.toml": "[build-system]\nrequires=['flit']\n"}, "python3 -m pytest", "", "", ""},
		"by Meson": {map[string]string{"pyproject.toml": "[build-system]\nbuild-backend='mesonpy'\n"}, "python3 -m pytest",
			"", "", "by Meson (mesonpy)"},
	} {
		t.Run(name, func(t *testing.T) {
			c.files["test_own.py"] = "import pytest\n"
			tree := ecosystemtest.Tree(c.files)
			found := Ecosystem{}.Detect(tree, nil)
			if len(found) != 1 || found[0].Test == nil || found[0].Test.Command != c.command {
				t.Fatalf("%+v", found)
			}
			g := found[0].Test
			for _, command := range []string{g.Report, g.Canary} {
				if strings.Contains(c.command, "build_ext") != strings.Contains(command, "build_ext --inplace && ") {
					t.Errorf("it runs %q", command)
				}
			}
			if got := strings.Join(Ecosystem{}.Needs(tree, func(string) bool { return true }, nil), " "); got != c.needs {
				t.Errorf("needs %q, want %q", got, c.needs)
			}
			if got := strings.Join(tree.Notes(), "|"); !strings.Contains(got, c.refused) || c.refused == "" && got != "" {
				t.Errorf("notes %q", got)
			}
			r, err := readRequirements(&ecosystemtest.Sources{Texts: c.files})
			if got := strings.Join(r.lines, "|"); err != nil || got != c.packages {
				t.Errorf("packages %q, want %q, %v", got, c.packages, err)
			}
		})
	}
}
