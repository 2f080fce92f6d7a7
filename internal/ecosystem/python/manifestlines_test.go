package python

import (
	"slices"
	"strings"
	"testing"
)

// What a tool installs by itself for a manifest is named, wherever the manifest says it.
func TestPackagesOfManifests(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"builds": {"pyproject.toml",
			"[build-system]\nrequires = [\"a\"]\n[Build-System]\nrequires = [\"b\"]\n", "a"},
		"a project": {"pyproject.toml",
			"[project]\ndependencies = [\"a==1.0\"]\n[project.optional-dependencies]\nX = [\"b\"]\nx = " +
				"[\"c\"]\n[dependency-groups]\ng = [\"d\", {include-group = \"h\"}]\n", "a@1.0 b c d"},
		"uv": {"pyproject.toml",
			"[tool.uv]\ndev-dependencies = [\"a\"]\n[tool.uv.extra-build-dependencies]\nx = [\"b\", { requirement = \"c\", " +
				"match-runtime = true }]\n", "a b c"},
		"uv, its own file": {"uv.toml", "[extra-build-dependencies]\nx = [\"a\"]\n", "a"},
		"poetry": {"pyproject.toml",
			"[tool.poetry.dependencies]\npython = \"*\"\na = \"*\"\n[tool.poetry.dev-dependencies]\nb = " +
				"\"*\"\n[tool.poetry.group.g.dependencies]\nc = \"*\"\n[tool.poetry.requires-plugins]\nd = \"*\"\n", "a b c d"},
		"pdm": {"pyproject.toml",
			"[tool.pdm]\nplugins = [\"a\"]\n[tool.pdm.dev-dependencies]\ng = [\"b\"]\n", "a b"},
		"flit": {"pyproject.toml",
			"[tool.flit.metadata]\nrequires = [\"a\"]\n[tool.flit.metadata.requires-extra]\nx = [\"b\"]\n", "a b"},
		"Hatch": {"pyproject.toml",
			"[tool.hatch.env]\nrequires = [\"a\"]\n[tool.hatch.envs.x]\ndependencies = [\"b\"]\nextra-dependencies = " +
				"[\"c\"]\n[tool.hatch.envs.x.overrides.platform.linux]\ndependencies = [\"d\", { value = \"e\", if = [\"x\"] }]\n",
			"a b c d e"},
		"Hatch's builds": {"pyproject.toml",
			"[tool.hatch.build]\ndependencies = [\"a\"]\n[tool.hatch.build.hooks.custom]\ndependencies = " +
				"[\"b\"]\n[tool.hatch.build.targets.wheel]\ndependencies = " +
				"[\"c\"]\n[tool.hatch.build.targets.wheel.hooks.vcs]\ndependencies = [\"d\"]\n", "a b c d"},
		"Hatch, its own file": {"hatch.toml", "[build.hooks.custom]\ndependencies = [\"a\"]\n", "a"},
		"tox": {"pyproject.toml",
			"[tool.tox]\nrequires = [\"a\"]\n[tool.tox.env_run_base]\ndeps = [\"b\"]\n[tool.tox.env.docs]\ndeps = [\"-r " +
				"docs.txt\", { replace = \"if\", then = [\"c\"], else = [\"d\"] }]\n[tool.tox.env_pkg_base]\ndeps = [\"e\"]\n",
			"a b c d e"},
		"tox, its own file": {"tox.toml", "requires = [\"a\"]\n[env.docs]\ndeps = [\"b\"]\n", "a b"},
		"tox, in its old form": {"pyproject.toml",
			"[tool.tox]\nlegacy_tox_ini = \"\"\"\n[tox]\nrequires = a\n[testenv]\ndeps = b\n\"\"\"\n", "a b"},
		"tox.ini": {"tox.ini",
			"[tox]\nrequires = a>=1, b\n[testenv]\ndeps =\n  -rdocs.txt\n  py27: c\n[testenv:docs]\ndeps =\n  " +
				"{[testenv]deps}\n  {[more]all}\n[more]\nall = d\n", "a b c d"},
		"tox, in setup.cfg": {"setup.cfg", "[tox:tox]\nrequires = a\n[tox:testenv:docs]\ndeps = b\n", "a b"},
		"setup.cfg": {"setup.cfg",
			"[options]\nInstall-Requires = a\nsetup_requires =\n  b; python_version < '3'\n  c\ntests_require = d; " +
				"e\n[options.extras_require]\nx = f\n", "a b c d e f"},
		"setup.cfg, for all": {"setup.cfg", "[DEFAULT]\nsetup_requires = a\n[options]\n", "a"},
		"setup.py": {"setup.py",
			"setup(setup_requires=['a'], install_requires=['b'], tests_require=['c'], extras_require={'x': ['d']})\n",
			"a b c d"},
		// setuptools and tox read these files by Python's configparser.
		"indented keys":          {"setup.cfg", "[options]\n  python_requires = >=3\n  install_requires = a\n", "a"},
		"keys of an indent less": {"setup.cfg", "[options]\n    x = y\n  install_requires =\n    a\n  z = b\n", "a"},
		"a remark behind a head": {"setup.cfg", "[options] ; the usual\ninstall_requires = a\n", "a"},
		"a head of extras":       {"setup.cfg", "[options.extras_require] # more\nq = a\n", "a"},
		"a carriage return":      {"setup.cfg", "[options]\npython_requires = >=3 \rinstall_requires = a\n", "a"},
		"a head behind one":      {"setup.cfg", "[metadata]\nname = p\r[options]\nsetup_requires = a\n", "a"},
		"white space of Python's": {"setup.cfg", "[options]\n\u00a0install_requires = a\n\u00a0\n\x1fsetup_requires = b\n",
			"a b"},
		"a remark among lines": {"setup.cfg", "[options]\ninstall_requires =\n  a\n# x\n\n  b\n", "a b"},
		"a key in two cases":   {"setup.cfg", "[options]\ninstall_requires = a\nInstall_Requires = b\n", "a b"},
		"semicolons before remarks": {"setup.cfg",
			"[options]\ninstall_requires = a; b # ; c\nsetup_requires =\n  d # x; y\n",
			"a b c d"},
		"for all, of extras": {"setup.cfg", "[DEFAULT]\nq = a\n[options.extras_require]\n", "a"},
		"for all, of tox":    {"setup.cfg", "[DEFAULT]\ndeps = a\n[tox:testenv]\n", "a"},
		"sections that setuptools takes for its own": {"setup.cfg", "[options.]\ninstall_requires = a\n[global]\n" +
			"setup_requires = b\n[optionsextras_require]\nq = c\n[options.extras_optionsrequire]\nq = d\n", "a b c d"},
		"pbr":                         {"setup.cfg", "[metadata]\nrequires_dist = a\n[extras]\ntest = b\n", "a b"},
		"tox, indented keys":          {"tox.ini", "[testenv]\n  skip_install = true\n  deps = a\n", "a"},
		"tox, a remark behind a head": {"tox.ini", "[tox]\nenvlist = py\n[testenv] ; all\ndeps = a\n", "a"},
		"tox, commas": {"tox.ini",
			"[tox]\nrequires = a[x,y]>=1,<2, b; python_version in '3,4', c\n[testenv]\ndeps = d[x,y]\n", "a b c d"},
		"tox, any condition": {"tox.ini", "[testenv]\ndeps =\n  x y: a\n  py{3,4}-ä: b\n", "a b"},
		"a Pipfile": {"Pipfile",
			"[[source]]\nname = \"pypi\"\nurl = \"x\"\n[packages]\na = \"*\"\nb = { path = \".\" }\nc = { version = \"==1\", " +
				"extras = [\"x\"] }\n[dev-packages]\nd = \"*\"\n[docs]\ne = \"*\"\n[requires]\npython_version = " +
				"\"3\"\n[scripts]\nrun = \"x\"\n[pipenv]\nsort_pipfile = true\n", "a c d e"},
		"markers on several lines": {"setup.cfg",
			"[options]\ninstall_requires =\n  a; (sys_platform == 'x') and extra == 'y'\n  b ; platform_system=='x'\n", "a b"},
	} {
		if !(Ecosystem{}).IsLockFile(c.file) {
			t.Errorf("%s: %s is not judged", name, c.file)
		}
		all, err := Ecosystem{}.ParseLock(c.file, []byte(c.text))
		var got []string
		for _, d := range all {
			one := d.Name
			if d.Version != "" {
				one += "@" + d.Version
			}
			got = append(got, one)
		}
		slices.Sort(got)
		if got := strings.Join(slices.Compact(got), " "); got != c.want || err != nil {
			t.Errorf("%s: %q, want %q, %v", name, got, c.want, err)
		}
	}
}

// Each value of a tox.ini is listed once, however many others refer to it.
func TestReferencesThatAreFollowed(t *testing.T) {
	for name, c := range map[string]struct {
		text     string
		packages int
	}{
		"deep": {"[testenv]\ndeps = {[a]x}\n[a]\nx = {[b]x}\n[b]\nx = {[c]x}\n[c]\nx = {[d]x}\n[d]\nx = {[e]x}\n[e]\nx " +
			"= a\n", 1},
		"in a circle": {"[testenv]\ndeps =\n  a\n  {[testenv]deps}\n", 2},
		"many": {"[testenv]\ndeps =\n" + strings.Repeat("  {[a]x}\n", 3000) + "[a]\nx = \n" +
			strings.Repeat("  b\n", 3000), 3000},
	} {
		if all, err := (Ecosystem{}).ParseLock("tox.ini", []byte(c.text)); err != nil || len(all) != c.packages {
			t.Errorf("%s: %d packages, %v", name, len(all), err)
		}
	}
}

// A manifest that its readers may take for another one than is read here is one text, which must be the base's.
func TestManifestsThatReadersTakeInTwoWays(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		odd        bool
	}{
		"setup.cfg": {"setup.cfg", "[metadata]\nname = p\n\n[options]\n# x\ninstall_requires =\n\ta>=1; os_name < '3'\n" +
			"\n    # y\n    b # z\n[tool:pytest]\n  log_format = %(message)s\\n\n[bumpversion:file:a.py]\n", false},
		"Windows' lines": {"setup.cfg", "[options]\r\ninstall_requires =\r\n  a\r\n", false},
		"tox.ini": {"tox.ini", "[tox]\nenvlist = py{38,39}\n[testenv]\ndeps =\n  -r{toxinidir}/x.txt\n  {env:X:a}\n" +
			"  py{38,39}: {[base]deps}\ncommands =\n  pytest \\\n    {mystery}\n[base]\ndeps = b\n", false},
		"tox, in its old form": {"pyproject.toml",
			"[tool.tox]\nlegacy_tox_ini = \"\"\"\n[testenv]\ndeps = b\n\"\"\"\n", false},
		"more behind a head":           {"setup.cfg", "[options] ; x\ninstall_requires = a\n", true},
		"a bracket in a head":          {"setup.cfg", "[options]]\ninstall_requires = a\n", true},
		"a carriage return":            {"setup.cfg", "[options]\nx = y\rinstall_requires = a\n", true},
		"a line in a line":             {"setup.cfg", "[options]\ninstall_requires =\n  a\u2028evil\n", true},
		"a control character":          {"setup.cfg", "[options]\ninstall_requires =\n  a\x1cevil\n", true},
		"a form feed":                  {"tox.ini", "[testenv]\nx = y\n\fdeps = evil\n", true},
		"a key in two cases":           {"setup.cfg", "[options]\ninstall_requires = a\nInstall_Requires = b\n", true},
		"another value":                {"setup.cfg", "[options]\nx = evil\ninstall_requires = %(x)s\n", true},
		"the end of a name":            {"setup.cfg", "[options.extras_require]\nx = -evil\nq = six%(x)s\n", true},
		"a line that goes on":          {"setup.cfg", "[options]\ninstall_requires =\n  evi \\\n  l\n", true},
		"tox, another key":             {"tox.ini", "[testenv]\nx = evil\ndeps = {x}\n", true},
		"tox, another value in a name": {"tox.ini", "[testenv]\ndeps = six{[a]x}\n[a]\nx = -evil\n", true},
		"tox, a value by default":      {"tox.ini", "[testenv]\ndeps = {[a]x:evil}\n", true},
		"tox, at a terminal":           {"tox.ini", "[testenv]\ndeps = {tty:evil:evil}\n", true},
		"tox, a line that goes on":     {"tox.ini", "[testenv]\ndeps =\n  ev\\\n  il\n", true},
		"tox, in setup.cfg":            {"setup.cfg", "[tox:testenv]\ndeps = {x}\n", true},
		"tox, in its old form, a reference": {"pyproject.toml",
			"[tool.tox]\nlegacy_tox_ini = \"\"\"\n[testenv]\ndeps = {x}\n\"\"\"\n",
			true},
	} {
		if got := (Ecosystem{}).ParseSources(c.file, []byte(c.text)); (len(got) > 0) != c.odd {
			t.Errorf("%s: %q", name, got)
		}
	}
}
