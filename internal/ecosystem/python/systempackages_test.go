package python

import (
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// Extensions have the libraries that they link, and packages that PyPI has without wheels
// are Debian's.
func TestSystemPackages(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"libraries of an extension",
			map[string]string{"setup.py": "from setuptools import setup, Extension\nsetup(ext_modules=[Extension('x', " +
				"['x.c'], libraries=['z', 'm', 'curl'])])\n"}, "libcurl4-openssl-dev zlib1g-dev"},
		{"in a variable", map[string]string{"setup.py": "LIBS = ['z']\nsetup(ext_modules=[Extension('x', ['x.c'], " +
			"libraries=LIBS)])\n"}, "zlib1g-dev"},
		{"flags", map[string]string{"setup.py": "setup(ext_modules=[Extension('x', ['x.c'], extra_link_args=['-lz', " +
			"'-O2'])])\n"}, "zlib1g-dev"},
		{"of a comment", map[string]string{"setup.py": "# libraries=['curl']\nsetup(ext_modules=[Extension('x', " +
			"['x.c'])])\n"}, ""},
		{"no extension", map[string]string{"setup.py": "setup(libraries=['z'])\n"}, ""},
		{"pkgconfig", map[string]string{"setup.py": "import pkgconfig\nf = pkgconfig.parse('libxml-2.0 zlib')\n"},
			"libxml2-dev pkg-config zlib1g-dev"},
		{"a call", map[string]string{"setup.py": "subprocess.check_output(['pkg-config', '--cflags', 'libseccomp'])\n"},
			"libseccomp-dev pkg-config"},
		{"a shell", map[string]string{"setup.py": "os.popen('pkg-config --libs libseccomp')\n"}, "libseccomp-dev pkg-config"},
		{"cffi", map[string]string{"setup.py": "setup(cffi_modules=['build_x.py:ffi'])\n",
			"x_build.py": "ffi.set_source_pkgconfig('_x', ['libffi'], '')\n"}, "libffi-dev pkg-config"},
		{"setuptools' table",
			map[string]string{"pyproject.toml": "[[tool.setuptools.ext-modules]]\nname = \"x\"\nsources = " +
				"[\"x.c\"]\nlibraries = [\"z\"]\n"}, "zlib1g-dev"},
		{"meson-python",
			map[string]string{"pyproject.toml": "[build-system]\nbuild-backend = 'mesonpy'\n",
				"meson.build": "project('x', 'c')\ndependency('zlib')\n"}, "zlib1g-dev"},
		{"without wheels", map[string]string{"requirements.txt": "psycopg2>=2.9\nmysqlclient==2.1.0\nrequests\n"},
			"python3-mysqldb python3-psycopg2"},
		{"in a project", map[string]string{"pyproject.toml": "[project]\nname = 'x'\ndependencies = ['PyGObject>=3', " +
			"'python_ldap[x]>1; python_version > \"3\"', 'psycopg2-binary']\n"}, "python3-gi python3-ldap"},
	} {
		got, err := Ecosystem{}.Packages(&ecosystemtest.Sources{Texts: c.files, Toolchains: []string{"python"}})
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q, %v", c.name, got, c.want, err)
		}
	}
}
