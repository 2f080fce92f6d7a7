package python

import (
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// Lists of requirements, hostile ones among them.
func TestRequirements(t *testing.T) {
	for name, c := range map[string]struct {
		files       map[string]string
		lines, pins string
		notes       string
	}{
		"digests everywhere": {map[string]string{"requirements.txt": "a==1 \\\n  --hash=sha256:00 \\\n  --hash=sha256:11\n"}, "a==1 --hash=sha256:00 --hash=sha256:11", "", ""},
		"digests in part":    {map[string]string{"requirements.txt": "a==1 --hash=sha256:00\n", "requirements-dev.txt": "b\n"}, "b|a==1", "", ""},
		"includes":           {map[string]string{"requirements.txt": "-r requirements/base.txt\n-r requirements.txt\n-r ../../etc/passwd\n-r /etc/passwd\n", "requirements/base.txt": "a>=1,<2 ; python_version > '3'\n"}, "a>=1,<2 ; python_version > '3'", "", ""},
		"options":            {map[string]string{"requirements.txt": "--extra-index-url http://x\n--config-settings=a\n-i http://x\n-f y\na[b,c]~=1.0\n"}, "a[b,c]~=1.0", "", ""},
		"not of a registry":  {map[string]string{"requirements.txt": "git+https://x/y.git\n./local\na @ file:///etc/passwd\n$(touch x)\n"}, "", "", "git+https://x/y.git"},
		"poetry":             {map[string]string{"pyproject.toml": "[tool.poetry.dependencies]\npython='^3'\na='^1'\nloc={path='x'}\n[tool.poetry.group.dev.dependencies]\nb='*'\n", "poetry.lock": "[[package]]\nname='a'\nversion='1.2'\n[[package]]\nname='c'\nversion='1'\n[[package]]\nname='c'\nversion='2'\n"}, "a|b", "a==1.2", ""},
		"groups":             {map[string]string{"pyproject.toml": "[project]\ndependencies=['a']\n[project.optional-dependencies]\ntest=['b']\ndocs=['c']\n[dependency-groups]\ndev=['d',{include-group='x'}]\n"}, "a|d|b", "", "pyproject.toml has no lock file"},
		"garbage":            {map[string]string{"pyproject.toml": "[[["}, "", "", "cannot be read"},
		"of others":          {map[string]string{"vendor/x/requirements.txt": "a\n", "x y/requirements.txt": "a\n"}, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &ecosystemtest.Sources{Texts: c.files}
			r, err := readRequirements(s)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(r.lines, "|"); got != c.lines {
				t.Errorf("lines %q, want %q", got, c.lines)
			}
			if got := strings.Join(r.constraints, "|"); got != c.pins {
				t.Errorf("constraints %q, want %q", got, c.pins)
			}
			if got := strings.Join(s.Notes, "\n"); !strings.Contains(got, c.notes) || c.notes == "" && got != "" {
				t.Errorf("notes %q, want %q", got, c.notes)
			}
		})
	}
}
