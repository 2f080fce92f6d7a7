package python

import (
	"fmt"
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// The test command is that of tox or nox, whose files are only read: a runner that
// is known reports by its own means, other commands stand as they are.
func TestCommandsOfRunners(t *testing.T) {
	const nothing = "\n[testenv:docs]\ncommands = sphinx-build docs out\n"
	for name, c := range map[string]struct {
		files      map[string]string
		want, from string
	}{
		"pytest": {map[string]string{
			"tox.ini": "[tox]\nenvlist = py27,py311\n[testenv]\ndeps = pytest\ncommands =\n    pytest --cov=own --cov-report " +
				"xml -n auto -q {posargs:tests/unit}\n    coverage report\n" + nothing}, "python3 -m pytest tests/unit", "tox.ini"},
		"coverage": {map[string]string{
			"tox.ini": "[testenv]\ncommands = coverage run --source own -m pytest -m \"not slow\" \\\n   tests {posargs}\n"},
			"python3 -m pytest -m 'not slow' tests", "tox.ini"},
		"unittest": {map[string]string{
			"tox.ini": "[testenv]\ncommands = {envpython} -W error -m unittest discover -s {toxinidir}/tests -v\n"},
			"python3 -m unittest discover -s ./tests -v", "tox.ini"},
		"a script": {map[string]string{
			"tox.ini": "[testenv]\nsetenv =\n  DJANGO_SETTINGS_MODULE = tests.settings\n  PYTHONPATH = {toxinidir}\nchangedir " +
				"= tests\ncommands = python runtests.py {posargs}\n"},
			"cd tests && DJANGO_SETTINGS_MODULE=tests.settings python3 runtests.py", "tox.ini"},
		"two of them": {map[string]string{
			"tox.ini": "[testenv]\ncommands =\n  flake8 own\n  pytest unit\n  - pytest integration\n"},
			"python3 -m pytest unit && python3 -m pytest integration", "tox.ini"},
		"a section": {map[string]string{
			"tox.ini": "[base]\ncommands = pytest b\n[testenv]\ncommands = echo no\n[testenv:lint]\ncommands = pytest " +
				"--flake8\n[testenv:py3]\ncommands = {[base]commands}\n"}, "python3 -m pytest b", "tox.ini"},
		"factors": {map[string]string{
			"tox.ini": "[testenv]\ncommands =\n  py27: pytest old\n  py311,py312: pytest new\n  !cov: pytest more\n  " +
				"py311-cov: pytest cov\n"}, "python3 -m pytest new && python3 -m pytest more", "tox.ini"},
		"pyproject": {map[string]string{
			"pyproject.toml": "[tool.tox.env_run_base]\ncommands = [['pytest', '-W', 'error', { replace = 'posargs', default " +
				"= ['tests'], extend = true }]]\n"}, "python3 -m pytest -W error tests", "pyproject.toml"},
		"old pyproject": {map[string]string{
			"pyproject.toml": "[tool.tox]\nlegacy_tox_ini = \"\"\"\n[testenv]\ncommands = pytest x\n\"\"\"\n"},
			"python3 -m pytest x", "pyproject.toml"},
		"nox": {map[string]string{
			"noxfile.py": "import nox\n\n@nox.session(python=['3.9', '3.11'])\ndef lint(session: nox.Session) -> None:\n    " +
				"session.run('pytest', '--flake8')\n\n@nox.session\n@nox.parametrize('x', [1])\ndef tests(session, x):\n    # " +
				"\"why\", in a comment of some length\n    session.install('-e', '.[test]', env={'A': 'b'})\n    " +
				"session.run('pytest', '--cov=own', *session.posargs, 'tests', env={'C': 'd'})\n"}, "python3 -m pytest tests",
			"noxfile.py"},
		"pytest by the set-up script": {map[string]string{"tox.ini": "[testenv]\ncommands = python setup.py test\n",
			"setup.cfg": "[metadata]\nname = a\n[aliases]\nrelease = sdist\ntest=pytest\n",
			"setup.py":  "setup(setup_requires=['pytest-runner'])\n", "test_a.py": ""}, "python3 -m pytest", "tox.ini"},
		"a set-up script's own tests": {map[string]string{"tox.ini": "[testenv]\ncommands = python setup.py test\n",
			"setup.cfg": "[aliases]\ntests=pytest\n", "setup.py": "setup(setup_requires=['pytest-runner'])\n", "test_a.py": ""},
			"python3 setup.py test", "tox.ini"},
		"nose": {map[string]string{
			"tox.ini": "[testenv]\ndeps = nose2\ncommands = nose2 --coverage=own.py\n", "test_a.py": "import unittest\n"},
			"python3 -m unittest discover -v", ""},
		"not known": {map[string]string{"tox.ini": "[testenv]\ncommands = {mystery}/run pytest\n",
			"test_a.py": "import pytest\n"}, "python3 -m pytest", ""},
		"hostile": {map[string]string{
			"tox.ini": "[testenv]\nchangedir = ../../etc\nsetenv =\n  A=$(touch x)\n  B C=d\ncommands = pytest '$(touch x)' ; " +
				"rm -rf /\n", "test_a.py": "import pytest\n"}, "python3 -m pytest", ""},
		"in a shell": {map[string]string{
			"tox.ini": "[testenv]\nsetenv =\n  A=$(touch x)\ncommands = pytest '$(touch x)' ; rm -f /\n"},
			"A='$(touch x)' python3 -m pytest '$(touch x)' ';' rm -f /", "tox.ini"},
		"poetry": {map[string]string{
			"tox.ini": "[testenv]\ncommands =\n  poetry install -v\n  poetry run pytest tests/ {posargs}\n"},
			"python3 -m pytest tests/", "tox.ini"},
		"installs": {map[string]string{
			"tox.ini": "[testenv]\ncommands =\n  poetry install\n  pdm sync\n  uv pip install -e .\n  pytest -W error tests\n"},
			"python3 -m pytest -W error tests", "tox.ini"},
		"uv": {map[string]string{
			"tox.ini": "[testenv]\ncommands = uv run --frozen --group test -m pytest t\n"}, "python3 -m pytest t", "tox.ini"},
		"a script of a manager": {map[string]string{"tox.ini": "[testenv]\ncommands = hatch run\n",
			"test_a.py": "import pytest\n"}, "python3 -m pytest", ""},
		"a folder": {map[string]string{
			"tox.ini":             "[testenv]\nsetenv = A=b\nchangedir = tests/unit\ncommands = pytest -W error x\n",
			"src/own/__init__.py": "", "setup.py": ""}, "cd tests/unit && A=b PYTHONPATH=../../src python3 -m pytest -W error x",
			"tox.ini"},
		"two with variables": {map[string]string{
			"tox.ini": "[testenv]\nsetenv = A=b\ncommands =\n  pytest x\n  pytest y\n"},
			"A=b python3 -m pytest x && A=b python3 -m pytest y", "tox.ini"},
		"make": {map[string]string{"setup.py": "",
			"Makefile": "test:\n\t@cd tests; PYTHONPATH=.. py.test --tb=native\n", "tests/test_a.py": "import pytest\n"},
			"cd tests && PYTHONPATH=.. python3 -m pytest", "Makefile"},
		"variables of make": {map[string]string{"setup.py": "",
			"Makefile": "PY ?= python3\ntest: lint\n\tDJANGO_SETTINGS_MODULE=own.settings $(PY) -m pytest -m fast " +
				"tests/\n",
			"tests/test_a.py": ""}, "DJANGO_SETTINGS_MODULE=own.settings python3 -m pytest -m fast tests/", "Makefile"},
		"make, and more": {map[string]string{"setup.py": "",
			"Makefile": "test:\n\tdocker compose up -d\n\tpytest -m slow\n", "test_a.py": "import pytest\n"},
			"python3 -m pytest", ""},
		"make, in a shell": {map[string]string{"setup.py": "", "Makefile": "test:\n\tpytest $$(cat list) | tee log\n",
			"test_a.py": "import pytest\n"}, "python3 -m pytest", ""},
		"make, out of the tree": {map[string]string{"setup.py": "", "Makefile": "test:\n\tcd ../../etc; pytest\n",
			"test_a.py": "import pytest\n"}, "python3 -m pytest", ""},
		"tox before make": {map[string]string{"tox.ini": "[testenv]\ncommands = pytest x\n",
			"Makefile": "test:\n\tpytest y\n"}, "python3 -m pytest x", "tox.ini"},
		"none": {map[string]string{"tox.ini": nothing, "noxfile.py": "x = 1\n", "test_a.py": "import pytest\n"},
			"python3 -m pytest", ""},
	} {
		t.Run(name, func(t *testing.T) {
			found := Ecosystem{}.Detect(ecosystemtest.Tree(c.files), nil)
			if len(found) != 1 || found[0].Test == nil {
				t.Fatalf("%+v", found)
			}
			if got := found[0].Test.Command; got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if got := found[0].Description; !strings.Contains(got, c.from) || c.from == "" && strings.Contains(got, "says") {
				t.Errorf("%q, want it from %q", got, c.from)
			}
		})
	}
}

// What tox.ini proposes is read as the test command is, for all factors.
func TestProposalsOfTox(t *testing.T) {
	const text = "[base]\ncommands = pytest b\n\n[testenv]\ndeps = x\ncommands =\n  py27: pytest old\n  - " +
		"{envbindir}/pytest {posargs:tests}\\\n      -q\n" +
		"[testenv:lint]\ncommands = ruff check {toxinidir}/own # all\n[testenv:more]\ncommands =\n  {[base]commands}\n  " +
		"{mystery}/run\n" +
		"[testenv:py{27,311}]\ncommands = pytest no\n[testenv:empty]\ndeps = y\n[flake8]\ncommands = no\n"
	var got []string
	for _, p := range (Ecosystem{}).Propose(ecosystemtest.Tree(map[string]string{"tox.ini": text})) {
		got = append(got, fmt.Sprintf("%s:%d %s: %s", p.File, p.Line, p.Command, strings.Join(p.Runs, "; ")))
	}
	want := "tox.ini:4 tox: pytest old; pytest tests -q\ntox.ini:10 tox -e lint: ruff check ./own\ntox.ini:12 tox -e " +
		"more: pytest b"
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("%s\nwant\n%s", s, want)
	}
}
