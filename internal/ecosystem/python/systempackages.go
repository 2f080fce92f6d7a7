package python

import (
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/ecosystem/cc"
	"company/internal/lib/lazyregexp"
)

// withoutWheels lists packages that have no Linux wheels on PyPI. Packages that need a build are not
// installed from PyPI. The image's virtual environment sees Debian's packages instead.
var withoutWheels = strings.Fields(
	`dbus-python evdev fuse-python gdal gssapi libvirt-python m2crypto mpi4py mysqlclient netifaces psycopg2 pyalsaaudio pyaudio pybluez pycairo pycups pycurl pyfuse3 pygobject pygraphviz pylibmc pyodbc pyscard pysmbc python-apt python-ldap python-snappy python-uinput rrdtool selinux systemd-python xmlsec`)

// Packages returns the Debian packages of libraries that the project's extensions link, and of Python
// packages without wheels. If no file of the project declares packages, it also returns the Debian packages
// of the modules that the project imports.
func (e Ecosystem) Packages(sources ecosystem.Sources) ([]string, error) {
	requirements, err := readRequirements(quietSources{sources})
	if err != nil {
		return nil, err
	}
	asks := &cc.Asks{}
	for _, line := range slices.Concat(requirements.pins, requirements.lines) {
		if name := canonicalName(requirementName.FindString(line)); slices.Contains(withoutWheels, name) {
			asks.AddPackages(debianModules()[name])
		}
	}
	tree := ecosystem.TreeOf(sources)
	dirs := slices.Concat(tree.FoldersWith("setup.py"), tree.FoldersWith("pyproject.toml"))
	slices.SortFunc(dirs, ecosystem.CompareDepth)
	dirs = slices.Compact(dirs)
	for _, dir := range dirs[:min(len(dirs), ecosystem.MaxProjects)] {
		askProject(asks, tree, dir)
	}
	packages := asks.List(sources.AddNote)
	if len(requirements.pins)+len(requirements.lines) == 0 && !declaresPackages(sources.Files()) {
		if imported := listImported(tree); len(imported) > 0 {
			sources.AddNote("the project declares no packages; what its files import comes from Debian: %s",
				strings.Join(imported, ", "))
			packages = append(packages, imported...)
		}
	}
	return packages, tree.Err()
}

// declaresPackages reports whether a project has a file that declares packages, even if that file lists
// none.
func declaresPackages(files []string) bool {
	return slices.ContainsFunc(files, func(name string) bool {
		base := path.Base(name)
		return slices.Contains(projectFiles, base) ||
			slices.Contains(
				[]string{"Pipfile", "Pipfile.lock", "environment.yml", "environment.yaml", "conda.yaml", "meta.yaml"}, base) ||
			strings.Contains(base, "requirements") && !strings.HasSuffix(base, ".py")
	})
}

// requirementName matches the package name at the start of a requirement.
var requirementName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*`)

// quietSources drops notes, because installing the packages adds the same notes.
type quietSources struct{ ecosystem.Sources }

func (quietSources) AddNote(string, ...any) {}

// Base returns the files of the base commit.
func (q quietSources) Base() ecosystem.Sources { return quietSources{q.Sources.Base()} }

// setupFiles matches the files, including setup.py, that may define the build of extensions.
var setupFiles = lazyregexp.New(`^(?:setup|_?build|setupext|.*_build|.*_extension)s?\.py$`)

var (
	// pkgConfigArgument matches a module name in a script's call of the package pkgconfig. The patterns below
	// match names in a list of arguments and in cffi's helper.
	pkgConfigArgument = lazyregexp.New(
		`\bpkgconfig\.(?:parse|cflags|libs|exists|installed|configure_extension|modversion|variables)\s*\(\s*(?:\w+\s*,\s*)?["']([A-Za-z0-9_.+ -]{1,80})["']`)
	pkgConfigList     = lazyregexp.New(`["']pkg-config["']((?:\s*,\s*["'][A-Za-z0-9_.+=-]{1,60}["'])+)`)
	cffiPkgConfig     = lazyregexp.New(`\bset_source_pkgconfig\s*\(\s*["'][^"'\n]*["']\s*,\s*\[([^\]]*)\]`)
	linkArguments     = lazyregexp.New(`\bextra_link_args\s*=\s*\[([^\]]*)\]`)
	librariesArgument = lazyregexp.New(`["']?\blibraries["']?\s*[=:]\s*\[([^\]]*)\]`)
	quotedRE          = lazyregexp.New(`["']([^"'\n]{1,80})["']`)
)

// askProject adds the libraries that a project's extensions need, from its setup script, pyproject.toml, or
// Meson's files.
func askProject(asks *cc.Asks, tree *ecosystem.Tree, dir string) {
	manifest := tree.ReadManifest(dir, "pyproject.toml")
	pyproject, _ := readPyproject([]byte(manifest))
	for _, name := range tree.Dirs[dir] {
		if setupFiles.MatchString(name) {
			askSetup(asks, tree.ReadManifest(dir, name))
		}
	}
	if len(pyproject.Tool.Setuptools.Extensions) > 0 {
		askSetup(asks, manifest)
	}
	if pyproject.Build.Backend == "mesonpy" && tree.HasFile(dir, "meson.build") {
		cc.AskMeson(asks, tree, dir)
	}
}

// askSetup adds the libraries in the text of a setup script.
func askSetup(asks *cc.Asks, text string) {
	text = commentRE.ReplaceAllString(text, "")
	isExtension := extensionRE.MatchString(text) || strings.Contains(text, "ext-modules") ||
		strings.Contains(text, "set_source")
	for _, m := range librariesArgument.FindAllStringSubmatch(text, -1) {
		for _, name := range quotedRE.FindAllStringSubmatch(m[1], -1) {
			if isExtension {
				asks.AddLinked(name[1])
			}
		}
	}
	if isExtension { // the list may be in a variable
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
