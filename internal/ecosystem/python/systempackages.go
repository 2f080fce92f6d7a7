package python

import (
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/ecosystem/cc"
	"company/internal/lazyregexp"
)

// withoutWheels are packages that PyPI has without wheels for Linux. Nothing that needs a build is installed from PyPI, and
// the environment of an image sees Debian's packages.
var withoutWheels = strings.Fields(`dbus-python evdev fuse-python gdal gssapi libvirt-python m2crypto mpi4py mysqlclient netifaces psycopg2 pyalsaaudio pyaudio pybluez pycairo pycups pycurl pyfuse3 pygobject pygraphviz pylibmc pyodbc pyscard pysmbc python-apt python-ldap python-snappy python-uinput rrdtool selinux systemd-python xmlsec`)

// Packages returns the Debian packages of the libraries that extensions of the project
// link, and of Python packages that come without wheels.
func (e Ecosystem) Packages(s ecosystem.Sources) ([]string, error) {
	r, err := readRequirements(quietSources{s})
	if err != nil {
		return nil, err
	}
	asks := &cc.Asks{}
	for _, line := range slices.Concat(r.pins, r.lines) {
		if name := canonicalName(requirementName.FindString(line)); slices.Contains(withoutWheels, name) {
			asks.AddPackages(debianModules()[name])
		}
	}
	t := ecosystem.TreeOf(s)
	dirs := slices.Concat(t.FoldersWith("setup.py"), t.FoldersWith("pyproject.toml"))
	slices.SortFunc(dirs, ecosystem.CompareDepth)
	dirs = slices.Compact(dirs)
	for _, dir := range dirs[:min(len(dirs), ecosystem.MaxProjects)] {
		askProject(asks, t, dir)
	}
	return asks.List(s.AddNote), t.Err()
}

// requirementName is the name at the start of a line of requirements.
var requirementName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*`)

// quietSources drop notes: the installation of the packages says the same again.
type quietSources struct{ ecosystem.Sources }

func (quietSources) AddNote(string, ...any) {}

// Base returns the files of the base commit.
func (q quietSources) Base() ecosystem.Sources { return quietSources{q.Sources.Base()} }

// setupFiles are files beside setup.py that set-ups of extensions are split into.
var setupFiles = lazyregexp.New(`^(?:setup|_?build|setupext|.*_build|.*_extension)s?\.py$`)

var (
	// pkgConfigArgument is a module that a script asks pkg-config about: by the module
	// of that name, by cffi's helper, or by a list of arguments.
	pkgConfigArgument = lazyregexp.New(`\bpkgconfig\.(?:parse|cflags|libs|exists|installed|configure_extension|modversion|variables)\s*\(\s*(?:\w+\s*,\s*)?["']([A-Za-z0-9_.+ -]{1,80})["']`)
	pkgConfigList     = lazyregexp.New(`["']pkg-config["']((?:\s*,\s*["'][A-Za-z0-9_.+=-]{1,60}["'])+)`)
	cffiPkgConfig     = lazyregexp.New(`\bset_source_pkgconfig\s*\(\s*["'][^"'\n]*["']\s*,\s*\[([^\]]*)\]`)
	linkArguments     = lazyregexp.New(`\bextra_link_args\s*=\s*\[([^\]]*)\]`)
	librariesArgument = lazyregexp.New(`["']?\blibraries["']?\s*[=:]\s*\[([^\]]*)\]`)
	quotedRE          = lazyregexp.New(`["']([^"'\n]{1,80})["']`)
)

// askProject adds what the extensions of a project ask for: in its set-up script, in
// pyproject.toml, or in the files of Meson.
func askProject(asks *cc.Asks, t *ecosystem.Tree, dir string) {
	manifest := t.ReadManifest(dir, "pyproject.toml")
	m, _ := readPyproject([]byte(manifest))
	for _, name := range t.Dirs[dir] {
		if setupFiles.MatchString(name) {
			askSetup(asks, t.ReadManifest(dir, name))
		}
	}
	if len(m.Tool.Setuptools.Extensions) > 0 {
		askSetup(asks, manifest)
	}
	if m.Build.Backend == "mesonpy" && t.HasFile(dir, "meson.build") {
		cc.AskMeson(asks, t, dir)
	}
}

// askSetup adds what the text of a set-up script asks for.
func askSetup(asks *cc.Asks, text string) {
	text = commentRE.ReplaceAllString(text, "")
	isExtension := extensionRE.MatchString(text) || strings.Contains(text, "ext-modules") || strings.Contains(text, "set_source")
	for _, m := range librariesArgument.FindAllStringSubmatch(text, -1) {
		for _, name := range quotedRE.FindAllStringSubmatch(m[1], -1) {
			if isExtension {
				asks.AddLinked(name[1])
			}
		}
	}
	if isExtension { // the list may be a variable
		for _, name := range newSource(text).readArgument("libraries") {
			asks.AddLinked(name)
		}
	}
	for _, m := range linkArguments.FindAllStringSubmatch(text, -1) {
		for _, flag := range quotedRE.FindAllStringSubmatch(m[1], -1) {
			asks.AddFlags(flag[1])
		}
	}
	for _, m := range pkgConfigArgument.FindAllStringSubmatch(text, -1) {
		for word := range strings.FieldsSeq(m[1]) {
			asks.AddPkgConfig(word)
		}
	}
	for _, re := range []*lazyregexp.Regexp{pkgConfigList, cffiPkgConfig} {
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			for _, word := range quotedRE.FindAllStringSubmatch(m[1], -1) {
				if !strings.HasPrefix(word[1], "-") {
					asks.AddPkgConfig(path.Base(word[1]))
				}
			}
		}
	}
	asks.AddCalls(text)
}
