package image

import (
	"slices"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
)

// planDebian returns the Debian packages that the plan of an image has beside those of
// its base, and the plan's notes.
func planDebian(t *testing.T, req Request, files map[string]string) (packages, notes string) {
	t.Helper()
	be := newTestBuilder(t)
	req.Repo = newProject(t).commit(files)
	steps, all, err := be.planLayers(newContext(t), req, newBuiltBase())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		if s.kind == "debian" {
			packages = strings.TrimPrefix(s.why, "Debian packages: ")
		}
	}
	return packages, strings.Join(all, "\n")
}

// A name that Debian does not have is noted, and the image is made without it: one
// package that is not there would stop the installation of all.
func TestPackagesThatCIInstalls(t *testing.T) {
	ci := func(names string) map[string]string {
		return map[string]string{"a_test.py": "def test_a(): pass\n",
			".github/workflows/ci.yml": "jobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: sudo apt-get " +
				"install -y " + names + "\n"}
	}
	python := Request{Toolchains: []string{"python"}}
	for _, c := range []struct{ names, want, note string }{
		{"libxml2-dev curl ca-certificates sudo", "libxml2-dev", ""},
		{"libxml2-dev docker-ce no-such-package-at-all", "libxml2-dev",
			"CI installs docker-ce no-such-package-at-all by apt, which the image does not have"},
		{"libjpeg-turbo8-dev mysql-client", "libjpeg62-turbo-dev default-mysql-client", ""},
		{"libcurl4-gnutls-dev libcurl4-openssl-dev", "libcurl4-gnutls-dev",
			"libcurl4-openssl-dev is not installed: Debian has it or libcurl4-gnutls-dev, one at a time"},
	} {
		got, notes := planDebian(t, python, ci(c.names))
		has := strings.Fields(got)
		for _, name := range strings.Fields(c.want) {
			if !slices.Contains(has, name) {
				t.Errorf("CI installs %s: the image has no %s: %s", c.names, name, got)
			}
		}
		for _, name := range []string{"docker-ce", "no-such-package-at-all", "libcurl4-openssl-dev", "sudo", "curl"} {
			if slices.Contains(has, name) {
				t.Errorf("CI installs %s: the image has %s", c.names, name)
			}
		}
		if !strings.Contains(notes, c.note) || c.note == "" && strings.Contains(notes, "CI installs") {
			t.Errorf("CI installs %s: notes %q", c.names, notes)
		}
	}
	offline := python
	offline.Offline = true
	if got, notes := planDebian(t, offline, ci("libxml2-dev")); strings.Contains(got, "libxml2") ||
		!strings.Contains(notes, "container.deps is off") {
		t.Errorf("offline: %q, %q", got, notes)
	}
	if got, _ := planDebian(t, Request{}, ci("libxml2-dev")); got != "" {
		t.Errorf("without a toolchain: %q", got)
	}
}

// What cgo, a crate and an extension of Python ask the system for is there, and they
// build with it.
func TestSystemLibrariesAreThere(t *testing.T) {
	hosttest.Long(t, "Debian packages are installed, and C is compiled in a container")
	be := newTestBuilder(t)
	img := be.mustEnsure(
		t, Request{Toolchains: []string{"go", "cgo", "python", "c", "python-dev"},
			Repo: newProject(t).commit(map[string]string{
				"go.mod": "module example.org/c\n\ngo 1.22\n",
				"c.go": "package c\n\n// #cgo pkg-config: libseccomp\n// #include <seccomp.h>\nimport \"C\"\n\nfunc " +
					"Major() int { return int(C.seccomp_version().major) }\n",
				"c_test.go": "package c\n\nimport \"testing\"\n\nfunc TestMajor(t *testing.T) {\n\tif Major() != 2 " +
					"{\n\t\tt.Error(Major())\n\t}\n}\n",
				"py/setup.py": "from setuptools import setup, Extension\nsetup(name='x', ext_modules=[Extension('x', ['x.c'], " +
					"libraries=['z'])])\n",
				"py/x.c": "#define PY_SSIZE_T_CLEAN\n#include <Python.h>\n#include <zlib.h>\nstatic struct PyModuleDef m = " +
					"{PyModuleDef_HEAD_INIT, \"x\"};\n" +
					"PyMODINIT_FUNC PyInit_x(void) { PyObject *o = PyModule_Create(&m); PyModule_AddStringConstant(o, \"zlib\", " +
					"zlibVersion()); return o; }\n",
			})})
	out := be.mustRun(t, img, toolboxSetup+`
go test ./... 2>&1
cd py && python3 setup.py -q build_ext --inplace 2>&1 && python3 -c 'import x; print("zlib:", x.zlib)'`)
	if !strings.Contains(out, "ok  \texample.org/c") || !strings.Contains(out, "zlib: 1.") {
		t.Errorf("%s", out)
	}
}
