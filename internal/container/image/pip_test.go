package image

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
	"company/internal/lib/hosttest"
)

// What cannot be had is left out and named, and the rest is installed: a package
// without a wheel, whose set-up never runs; one that the registry does not have;
// one of which it gives an error; one that asks for another. pytest starts, with the
// options of a plugin that is not there. The image tells it again to the next task.
func TestPipLeavesOut(t *testing.T) {
	hosttest.Long(t, "TestPip installs, and a unit test of the ecosystem says what is left out")
	t.Parallel()
	be := newTestBuilder(t)
	wheels := ecosystemtest.ServeWheels(t, map[string][]byte{
		"alpha-1.0-py3-none-any.whl": newWheel(t, "alpha", "1.0", "", "word = 'hello'\n"),
		"gamma-1.0-py3-none-any.whl": newWheel(t, "gamma", "1.0", "absent", "word = 'no'\n"),
		"raw-1.0.tar.gz":             []byte("no wheel"),
	})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/simple/broken") {
			http.Error(w, "broken", http.StatusInternalServerError)
			return
		}
		wheels.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	up := upstreams()
	up.Registries[ecosystem.PyPI] = ecosystem.At(ecosystem.Endpoint{URL: srv.URL + "/simple"})
	useRegistries(t, be, up, t.TempDir())
	req := Request{Toolchains: []string{"python"}, Repo: newProject(t).commit(map[string]string{
		"requirements.txt": "raw==1.0\nalpha==1.0\ngone>=2\npytest-cov\n", "requirements-test.txt": "gamma\nbroken==1\n",
		"requirements-docs.txt": "sphinx\n",
		"pytest.ini":            "[pytest]\naddopts = --cov=own --cov-report term -n 2\n",
		"test_alpha.py":         "import alpha\ndef test_word(): assert alpha.word == 'hello'\n",
		"test_raw.py":           "import raw\ndef test_raw(): pass\n",
	})}
	img := be.mustEnsure(t, req)
	notes := strings.Join(img.Notes, "\n")
	for _, want := range []string{
		"raw==1.0 of requirements.txt is not in the image: the registry has its source and no wheel",
		"gone>=2 of requirements.txt is not in the image: the registry does not have it",
		"gamma of requirements-test.txt is not in the image: it needs absent: the registry does not have it",
		"broken==1 of requirements-test.txt is not in the image: the registry cannot be reached now",
		"pytest-cov of requirements.txt is not in the image", "company image prune --all",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes do not say %q:\n%s", want, notes)
		}
	}
	if strings.Contains(notes, "sphinx") || strings.Contains(notes, "alpha") {
		t.Errorf("notes %s", notes)
	}
	out := be.runInTree(
		t, img, `python3 -m pytest -q 2>&1 | tail -20; python3 -m pytest -q test_alpha.py; ls -a /opt/venv`)
	if !strings.Contains(out, "1 passed") || !strings.Contains(out, "ERROR test_raw.py") ||
		!strings.Contains(out, "No module named 'raw'") || strings.Contains(out, ".missing") {
		t.Errorf("%s", out)
	}
	again, err := be.Ensure(newContext(t), req)
	if got := strings.Join(again.Notes, "\n"); err != nil || got != notes || again.ID != img.ID {
		t.Errorf("the next task is told %q, %v", got, err)
	}
}

// A file that is not the one that was locked is not a package to do without: somebody
// has changed it.
func TestPipRefusesAnotherFile(t *testing.T) {
	hosttest.Long(t, "one of many kinds of images")
	be := newTestBuilder(t)
	up := upstreams()
	up.Registries[ecosystem.PyPI] = ecosystem.At(
		newPyPI(t, map[string][]byte{"alpha-1.0-py3-none-any.whl": newWheel(t, "alpha", "1.0", "", "")}))
	useRegistries(t, be, up, t.TempDir())
	req := Request{Toolchains: []string{"python"},
		Repo: newProject(t).commit(
			map[string]string{"requirements.txt": "alpha==1.0 --hash=sha256:" + strings.Repeat("0", 64) + "\n"})}
	be.dropAtEnd(t, req, newBuiltBase())
	_, err := be.Ensure(newContext(t), req)
	requireCode(t, err, company.EImage, "requirements.txt cannot be installed", "DO NOT MATCH THE HASHES")
	if !company.NeedsPerson(err) {
		t.Errorf("it would be tried again: %v", err)
	}
}

// A project of uv's, in a workspace: what uv.lock pins is installed with its digests by
// pip alone, for this Python and with the groups that tests need, and pytest runs.
func TestUVLock(t *testing.T) {
	hosttest.Long(t, "one of many kinds of images")
	be := newTestBuilder(t)
	wheels := map[string][]byte{
		"alpha-1.0-py3-none-any.whl": newWheel(
			t, "alpha", "1.0", "beta; python_version < '3'", "import gamma\nword = gamma.word\n"),
		"gamma-1.0-py3-none-any.whl": newWheel(t, "gamma", "1.0", "", "word = 'locked'\n"),
		"gamma-2.0-py3-none-any.whl": newWheel(t, "gamma", "2.0", "", "word = 'newest'\n"),
		"delta-3.0-py3-none-any.whl": newWheel(t, "delta", "3.0", "", "word = 'of the tests'\n"),
		"docs-1.0-py3-none-any.whl":  newWheel(t, "docs", "1.0", "", ""),
	}
	lock := "version = 1\nrequires-python = \">=3.9\"\n[manifest]\nmembers = [\"own\", \"part\"]\n" +
		"[[package]]\nname = \"own\"\nversion = \"0.1.0\"\nsource = { editable = \".\" }\ndependencies = [{ name = " +
		"\"alpha\" }, { name = \"part\" }]\n" +
		"[[package]]\nname = \"part\"\nversion = \"0.1.0\"\nsource = { editable = \"packages/part\" }\ndependencies = [{ " +
		"name = \"gamma\" }]\n"
	for _, p := range [][3]string{{"alpha", "1.0",
		`[{ name = "gamma" }, { name = "beta", marker = "python_full_version < '3'" }]`}, {"gamma", "1.0", "[]"},
		{"delta", "3.0", "[]"}, {"docs", "1.0", "[]"}} {
		sum := sha256.Sum256(wheels[p[0]+"-"+p[1]+"-py3-none-any.whl"])
		lock += fmt.Sprintf("[[package]]\nname = %q\nversion = %q\nsource = { registry = \"https://pypi.org/simple\" "+
			"}\ndependencies = %s\nwheels = [{ url = \"https://files.example/x.whl\", hash = \"sha256:%s\" }]\n",
			p[0], p[1], p[2], hex.EncodeToString(sum[:]))
	}
	up := upstreams()
	up.Registries[ecosystem.PyPI] = ecosystem.At(newPyPI(t, wheels))
	useRegistries(t, be, up, t.TempDir())
	img := be.mustEnsure(t, Request{Toolchains: []string{"python"}, Repo: newProject(t).commit(map[string]string{
		"pyproject.toml": "[project]\nname = 'own'\nversion = '0.1.0'\ndependencies = ['alpha', " +
			"'part']\n[dependency-groups]\ntest = ['delta']\ndocs = ['docs']\n[tool.uv.sources]\npart = { workspace = true }\n",
		"uv.lock": lock, "src/own/__init__.py": "import alpha, part\nanswer = alpha.word + part.word\n",
		"packages/part/pyproject.toml":       "[project]\nname = 'part'\nversion = '0.1.0'\ndependencies = ['gamma']\n",
		"packages/part/src/part/__init__.py": "import gamma\nword = gamma.word\n",
		"tests/test_own.py": "import own, delta\ndef test_answer(): assert own.answer == 'lockedlocked' " +
			"and delta.word == 'of the tests'\n",
	})})
	if len(img.Notes) > 0 {
		t.Errorf("notes %q", img.Notes)
	}
	out := be.runInTree(
		t, img, `python3 -m pytest -q 2>&1 | tail -1; ls /opt/venv/lib/python3*/site-packages; git status --porcelain`)
	if !strings.Contains(out, "1 passed") || strings.Contains(out, "docs") || strings.Contains(out, "??") ||
		!strings.Contains(out, "gamma-1.0.dist-info") {
		t.Errorf("%s", out)
	}
}

// An extension in C is built by the gate's own command, offline, with the compiler and
// the headers that the project calls for; one that does not compile is red.
func TestPythonExtension(t *testing.T) {
	be := newTestBuilder(t)
	hosttest.Long(t, "a compiler is installed from Debian's archives")
	img := be.mustEnsure(
		t, Request{Toolchains: []string{"python", "c", "python-dev"}, Offline: true,
			Repo: newProject(t).commit(map[string]string{
				"setup.py": "from setuptools import Extension, setup\nsetup(name='own', version='1', packages=['own'], " +
					"ext_modules=[Extension('own.fast', ['own/fast.c'])])\n",
				"own/fast.c": "#include <Python.h>\nstatic PyObject *answer(PyObject *s, PyObject *a) { return " +
					"PyLong_FromLong(42); }\nstatic PyMethodDef m[] = {{\"answer\", answer, METH_NOARGS, \"\"}, {0}};\nstatic " +
					"struct PyModuleDef d = {PyModuleDef_HEAD_INIT, \"fast\", 0, -1, m};\nPyMODINIT_FUNC PyInit_fast(void) { return " +
					"PyModule_Create(&d); }\n",
				"own/__init__.py":   "from own.fast import answer\n",
				"tests/test_own.py": "import own\ndef test_answer(): assert own.answer() == 42\n",
			})})
	const gate = `python3 setup.py -q build_ext --inplace && python3 -m pytest -q`
	out := be.runInTree(t, img, gate+`; echo 'int broken(' >> own/fast.c; rm -rf build own/*.so; `+`(`+gate+
		`) >/dev/null 2>&1 || echo "broken: $?"`)
	if !strings.Contains(out, "1 passed") || !strings.Contains(out, "broken: 1") {
		t.Errorf("%s", out)
	}
}
