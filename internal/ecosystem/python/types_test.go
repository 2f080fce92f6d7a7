package python

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// mypy runs where a project configures it, on what that names or on the project's own packages.
func TestTypesAreChecked(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a table": {map[string]string{"pyproject.toml": "[tool.mypy]\nstrict = true\n\n[tool.other]\nfiles = ['x']\n",
			"src/a/__init__.py": ""}, "mypy src"},
		"with files": {map[string]string{"pyproject.toml": "[tool.mypy]\nfiles = ['a']\n", "src/a/__init__.py": ""},
			"mypy"},
		"its own file": {map[string]string{"setup.py": "", "mypy.ini": "[mypy]\n", "a/__init__.py": "", "b/__init__.py": "",
			"tests/__init__.py": "", "a/c/__init__.py": ""}, "mypy a b"},
		"of setup.cfg":  {map[string]string{"setup.cfg": "[mypy]\npackages = a\n[flake8]\n"}, "mypy"},
		"loose modules": {map[string]string{"setup.py": "", ".mypy.ini": "[mypy]\n", "a.py": ""}, "mypy ."},
		"of one package": {map[string]string{"pyproject.toml": "[[tool.mypy.overrides]]\nmodule = 'x'\n", "test_a.py": ""},
			""},
		"not configured": {map[string]string{"pyproject.toml": "[project]\ndependencies = ['mypy']\n", "test_a.py": ""}, ""},
	} {
		got := ""
		tree := ecosystemtest.Tree(c.files)
		for _, part := range (Ecosystem{}).Detect(tree, nil) {
			if part.Types != nil {
				got = part.Types.Command
				if !part.Types.Provisional || !strings.Contains(part.Types.Report, strings.TrimPrefix(got, "mypy")) {
					t.Errorf("%s: %+v", name, part.Types)
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if need := (Ecosystem{}).Needs(
			tree, func(string) bool {
				return true
			}, []string{"python3 -m pytest", got}); slices.Contains(need, mypy) != (c.want != "") {
			t.Errorf("%s needs %q", name, need)
		}
	}
}

// A change that moves or removes a package is not red by mypy for that: only packages that are still there are checked.
func TestTypesOfMovedPackages(t *testing.T) {
	t.Parallel()
	was := ecosystemtest.Tree(
		map[string]string{"mypy.ini": "[mypy]\n", "setup.py": "", "a/__init__.py": "", "b/__init__.py": ""})
	gate := (Ecosystem{}).Detect(was, nil)[0].Types
	for now, want := range map[string]string{"a b tests": "a b", "a": "a", "c b": "b", "c tests": "c", "": "."} {
		dir, bin := t.TempDir(), t.TempDir()
		for name := range strings.FieldsSeq(now) {
			if err := errors.Join(os.Mkdir(filepath.Join(dir, name), 0o700),
				os.WriteFile(filepath.Join(dir, name, "__init__.py"), nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(bin, "mypy"), []byte("#!/bin/sh\necho \"$@\"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		sh := exec.CommandContext(t.Context(), "sh", "-c", gate.Report)
		sh.Dir, sh.Env = dir, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		out, err := sh.CombinedOutput()
		_, got, _ := strings.Cut(string(out), " -- ")
		if err != nil || strings.TrimSpace(got) != want {
			t.Errorf("of %q: mypy is asked about %q, want %q (%v)\n%s", now, got, want, err, out)
		}
	}
}
