package python

import (
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
)

// gateFiles lists files that configure runners and linters, or that are read before them.
var gateFiles = []string{
	"tox.ini", "tox.toml", "noxfile.py", "setup.cfg", "setup.py", "pyproject.toml", "conftest.py", "pytest.ini",
	".pytest.ini", "pytest.toml", ".pytest.toml",
	"unittest.cfg", "nose.cfg", ".noserc", "nose2.cfg", ".stestr.conf", ".testr.conf", ".coveragerc", ".coveragerc.toml",
	"manage.py",
	"ruff.toml", ".ruff.toml", ".flake8", "mypy.ini", ".mypy.ini", "pyrightconfig.json", "basedpyrightconfig.json",
	"ty.toml", ".isort.cfg", ".pycodestyle", ".pep8", ".pydocstyle", ".bandit", ".style.yapf",
	"pylintrc", ".pylintrc", "pylintrc.toml", ".pylintrc.toml", "Pipfile", "uv.toml", "pdm.toml", "hatch.toml",
	"poetry.toml", "pip.conf",
	"sitecustomize.py", "usercustomize.py", "*.pth",
}

// runners lists modules that run tests. A module of the tree with such a name could replace the runner.
var runners = []string{"pytest", "_pytest", "unittest", "pluggy", "coverage", "testing"}

// IsGateFile reports whether a file configures a check or has the name of a module of the runner.
func (Ecosystem) IsGateFile(file string) bool {
	dir, name := path.Split(file)
	module := strings.TrimSuffix(name, ".py")
	if name == "__init__.py" {
		module = path.Base(dir)
	}
	return ecosystem.HasName(file, gateFiles) || path.Ext(name) == ".py" && slices.Contains(runners, module)
}
