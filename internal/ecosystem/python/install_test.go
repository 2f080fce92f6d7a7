package python

import (
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// Lists of requirements and manifests, hostile ones among them: what is pinned with
// digests, what pip resolves, within which versions.
func TestRequirements(t *testing.T) {
	const digest = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
	for name, c := range map[string]struct {
		files             map[string]string
		locked, open, pin string
		notes             string
	}{
		"digests everywhere": {map[string]string{"requirements.txt": "a==1 \\\n  --hash=sha256:00 \\\n  --hash=sha256:11\n"},
			"a==1 --hash=sha256:00 --hash=sha256:11", "", "a==1", ""},
		"digests in part": {map[string]string{"requirements.txt": "a==1 --hash=sha256:00\nc>1 --hash=sha256:00\n",
			"requirements-dev.txt": "b\na\n"}, "a==1 --hash=sha256:00", "b|c>1", "a==1", ""},
		"for other Pythons": {map[string]string{"requirements.txt": "a==1 ; python_version < '3.8' --hash=sha256:00\n"}, "",
			"", "", ""},
		"includes": {map[string]string{
			"requirements.txt":      "-r requirements/base.txt\n-r requirements.txt\n-r ../../etc/passwd\n-r /etc/passwd\n",
			"requirements/base.txt": "a>=1,<2 ; python_version > '3'\n"}, "", "a>=1,<2 ; python_version > '3'", "", ""},
		"constraints": {map[string]string{"test-requirements.txt": "-cpins/constraints.txt\na\n",
			"pins/constraints.txt": "a==1\n"}, "", "a", "a==1", ""},
		"options": {map[string]string{
			"requirements.txt": "--extra-index-url http://x\n--config-settings=a\n-i http://x\n-f y\na[b,c]~=1.0\n"}, "",
			"a[b,c]~=1.0", "", ""},
		"not of a registry": {map[string]string{
			"requirements.txt": "git+https://x/y.git\n./local\na @ file:///etc/passwd\n$(touch x)\n"}, "", "", "",
			"git+https://x/y.git"},
		"of the tree": {map[string]string{"requirements.txt": "./lib\n-e ./other[x]\n-e .[fast]\n",
			"lib/src/lib/a.py": "", "other/other.py": "",
			"setup.cfg": "[options.extras_require]\nfast =\n  quick\ndocs =\n  sphinx\n"}, "", "quick", "",
			"setup.cfg has no lock file"},
		"groups": {map[string]string{
			"pyproject.toml": "[project]\ndependencies=['a']\n[project.optional-dependencies]\ntest=['b']\ndocs=['c']\n[dependency-groups]\ndev=['d',{include-group='x'}]\nx=['e']\ny=['f']\n"}, "", "a|b|d|e", "", "pyproject.toml has no lock file"},
		"a group in a ring": {map[string]string{
			"pyproject.toml": "[dependency-groups]\ndev=[{include-group='Test_It'}]\ntest-it=['a',{include-group='dev'}]\n"}, "",
			"a", "", "no lock file"},
		"own extras": {map[string]string{
			"pyproject.toml": "[project]\nname='Own_It'\n[project.optional-dependencies]\ntest=['own-it[fast]','a']\nfast=['b']\n"}, "", "a|b", "", "no lock file"},
		"setup.py": {map[string]string{
			"setup.py": "base = ['a']\nsetup(install_requires=base, extras_require={'tests': ['b'], 'docs': ['c']})\n"}, "",
			"a|b", "", "setup.py has no lock file"},
		"poetry alone": {map[string]string{
			"pyproject.toml": "[tool.poetry.dependencies]\npython='^3'\na='^1.2'\nloc={path='x'}\nopt={version='1',optional=true}\nold={version='*',python='<3.8'}\n[tool.poetry.group.dev.dependencies]\nb={version='~2',extras=['x']}\n[tool.poetry.group.docs.dependencies]\nc='*'\n"}, "", "a>=1.2,<2|old ; python_version < '3.8'|b[x]>=2,<3", "", "no lock file"},
		"pdm and uv alone": {map[string]string{
			"pyproject.toml": "[tool.pdm.dev-dependencies]\ntest=['a']\ndoc=['c']\n[tool.uv]\ndev-dependencies=['b']\n"}, "",
			"b|a", "", "no lock file"},
		"hatch": {map[string]string{
			"pyproject.toml": "[project]\nname='x'\n[project.optional-dependencies]\ncli=['d']\n[tool.hatch.envs.default]\ndependencies=['a']\n[tool.hatch.envs.test]\nextra-dependencies=['b']\nfeatures=['cli']\n[tool.hatch.envs.docs]\ndependencies=['c']\n"}, "", "a|b|d", "", "no lock file"},
		"setuptools": {map[string]string{
			"pyproject.toml": "[tool.setuptools.dynamic]\ndependencies={file=['deps/requirements-core.txt']}\noptional-dependencies.test={file=['deps/requirements-t.txt']}\n", "deps/requirements-core.txt": "a\n", "deps/requirements-t.txt": "b\n"}, "", "a|b", "", ""},
		"tox": {map[string]string{
			"tox.ini": "[testenv]\ndeps =\n  a\n  -rmore-requirements.txt\n  py27: old\nextras = fast\ncommands = " +
				"pytest\n[testenv:docs]\ndeps = sphinx\n", "more-requirements.txt": "b\n",
			"setup.cfg": "[options.extras_require]\nfast =\n  c\n"}, "", "b|a|c", "", "no lock file"},
		"nox": {map[string]string{
			"noxfile.py": "import nox\n@nox.session\ndef tests(session):\n    session.install('a', '-r', " +
				"'requirements-x.txt')\n    session.run('pytest')\n", "requirements-x.txt": "b\n"}, "", "b|a", "", "no lock file"},
		"garbage": {map[string]string{"pyproject.toml": "[[["}, "", "", "", "cannot be read"},
		"of others": {map[string]string{"vendor/x/requirements.txt": "a\n", "x y/requirements.txt": "a\n"}, "",
			"", "", ""},
		"two of one name": {map[string]string{"requirements.txt": "a==1 --hash=" + digest + "\n",
			"lib/requirements.txt": "a==2 --hash=" + digest + "\n"}, "a==1 --hash=" + digest, "", "a==1",
			"lib/requirements.txt asks for a 2, and the image has 1"},
		"against a lock": {map[string]string{"requirements.txt": "a>=2\n",
			"pyproject.toml": "[project]\ndependencies=['a']\n",
			"uv.lock":        "[[package]]\nname='a'\nversion='1'\nwheels=[{hash='" + digest + "'}]\n"}, "a==1 --hash=" + digest,
			"", "a==1", "requirements.txt asks for a>=2, and the image has 1 of uv.lock"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &ecosystemtest.Sources{Texts: c.files}
			r, err := readRequirements(s)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(r.pins, "|"); got != c.locked {
				t.Errorf("locked %q, want %q", got, c.locked)
			}
			if got := strings.Join(r.lines, "|"); got != c.open {
				t.Errorf("open %q, want %q", got, c.open)
			}
			if got := strings.Join(r.constraints, "|"); got != c.pin {
				t.Errorf("constraints %q, want %q", got, c.pin)
			}
			if got := strings.Join(s.Notes, "\n"); !strings.Contains(got, c.notes) || c.notes == "" && got != "" {
				t.Errorf("notes %q, want %q", got, c.notes)
			}
			for _, line := range append(r.pins, r.lines...) {
				if r.fileOf[stripHashes(line)] == "" {
					t.Errorf("no file asks for %s", line)
				}
			}
		})
	}
}

// Modules of the tree that others import lie on the path, those of src among them.
func TestSources(t *testing.T) {
	s := &ecosystemtest.Sources{Texts: map[string]string{
		"pyproject.toml":    "[tool.poetry.dependencies]\nnear={path='libs/near',develop=true}\nfar={path='../../etc'}\n",
		"src/own/a.py":      "",
		"libs/near/near.py": "", "requirements-dev.txt": "-e libs/third\n", "libs/third/src/third/__init__.py": "",
		"libs/unused/unused.py": "",
	}}
	r, err := readRequirements(s)
	if got := strings.Join(r.sources, " "); err != nil || got != "libs/third/src src libs/near" {
		t.Errorf("%q, %v", got, err)
	}
}
