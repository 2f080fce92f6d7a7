package python

import (
	"path"
	"slices"
	"strings"
)

// gateFiles configure runners and linters, or are read before them.
var gateFiles = []string{"tox.ini", "setup.cfg", "setup.py", "pyproject.toml", "conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml",
	"ruff.toml", ".ruff.toml", ".flake8", "sitecustomize.py", "usercustomize.py"}

// runners are modules that run tests; one in the tree could be taken for it.
var runners = []string{"pytest", "_pytest", "unittest", "pluggy", "coverage", "testing"}

// IsGateFile says whether a file configures a check, or is called like a module of
// the runner.
func (Ecosystem) IsGateFile(file string) bool {
	dir, name := path.Split(file)
	module := strings.TrimSuffix(name, ".py")
	if name == "__init__.py" {
		module = path.Base(dir)
	}
	return slices.Contains(gateFiles, name) || path.Ext(name) == ".pth" || path.Ext(name) == ".py" && slices.Contains(runners, module)
}
