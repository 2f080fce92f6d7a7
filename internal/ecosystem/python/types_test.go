package python

import (
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
		"a table":        {map[string]string{"pyproject.toml": "[tool.mypy]\nstrict = true\n\n[tool.other]\nfiles = ['x']\n", "src/a/__init__.py": ""}, "mypy src"},
		"with files":     {map[string]string{"pyproject.toml": "[tool.mypy]\nfiles = ['a']\n", "src/a/__init__.py": ""}, "mypy"},
		"its own file":   {map[string]string{"setup.py": "", "mypy.ini": "[mypy]\n", "a/__init__.py": "", "b/__init__.py": "", "tests/__init__.py": "", "a/c/__init__.py": ""}, "mypy a b"},
		"of setup.cfg":   {map[string]string{"setup.cfg": "[mypy]\npackages = a\n[flake8]\n"}, "mypy"},
		"loose modules":  {map[string]string{"setup.py": "", ".mypy.ini": "[mypy]\n", "a.py": ""}, "mypy ."},
		"of one package": {map[string]string{"pyproject.toml": "[[tool.mypy.overrides]]\nmodule = 'x'\n", "test_a.py": ""}, ""},
		"not configured": {map[string]string{"pyproject.toml": "[project]\ndependencies = ['mypy']\n", "test_a.py": ""}, ""},
	} {
		got := ""
		tree := ecosystemtest.Tree(c.files)
		for _, part := range (Ecosystem{}).Detect(tree, nil) {
			if part.Types != nil {
				got = part.Types.Command
				if !part.Types.Provisional || !strings.HasSuffix(part.Types.Report, strings.TrimPrefix(got, "mypy")) {
					t.Errorf("%s: %+v", name, part.Types)
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if need := (Ecosystem{}).Needs(tree, func(string) bool { return true }, []string{"python3 -m pytest", got}); slices.Contains(need, mypy) != (c.want != "") {
			t.Errorf("%s needs %q", name, need)
		}
	}
}
