package cc

import (
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

var (
	fetchDeclare    = lazyregexp.New(`(?is)\bFetchContent_Declare\s*\(\s*([A-Za-z0-9_.+-]+)([^)]*)\)`)
	externalProject = lazyregexp.New(`(?is)\bExternalProject_Add\s*\(\s*([A-Za-z0-9_.+-]+)([^)]*)\)`)
	remoteSource    = lazyregexp.New(`(?i)\b(GIT_REPOSITORY|SVN_REPOSITORY|HG_REPOSITORY|URL\s+"?https?:)`)
	fileDownload    = lazyregexp.New(`(?i)\bfile\s*\(\s*DOWNLOAD\b|\bCPMAddPackage\s*\(|\bCPMFindPackage\s*\(`)
)

// debianSources maps the names of sources that projects download to Debian packages with the same sources.
var debianSources = map[string]struct{ pkg, dir string }{
	"googletest": {"googletest", "/usr/src/googletest"}, "gtest": {"googletest", "/usr/src/googletest"},
}

// fetchedSource is a source that a build downloads while it is configured.
type fetchedSource struct {
	name     string
	settings []string // settings that use the image's copy instead
	packages []string
	known    bool
}

// listFetches lists the downloads that a project declares.
func (p *cmakeProjectFiles) listFetches() []fetchedSource {
	var out []fetchedSource
	for _, buildFile := range p.files {
		for _, m := range fetchDeclare.FindAllStringSubmatch(buildFile.text, -1) {
			if !remoteSource.MatchString(m[2]) ||
				slices.ContainsFunc(out, func(o fetchedSource) bool { return o.name == m[1] }) {
				continue
			}
			source := fetchedSource{name: m[1]}
			if s, ok := debianSources[strings.ToLower(m[1])]; ok {
				source.known, source.packages = true, []string{s.pkg}
				source.settings = []string{"-DFETCHCONTENT_SOURCE_DIR_" + strings.ToUpper(m[1]) + "=" + s.dir}
			} else if pkg := libraries()[cmakeName+m[1]]; pkg != "" &&
				strings.Contains(strings.ToLower(buildFile.text), "fetchcontent_makeavailable") {
				source.known, source.packages = true, []string{pkg}
				source.settings = []string{"-DFETCHCONTENT_TRY_FIND_PACKAGE_MODE=ALWAYS"}
			}
			out = append(out, source)
		}
	}
	return out
}

// fetchSettings returns settings that use Debian's packages instead of downloads.
func (p *cmakeProjectFiles) fetchSettings() []string {
	var out []string
	for _, d := range p.listFetches() {
		for _, s := range d.settings {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// noteDownloads adds notes about downloads of a build and alternatives to them.
func (p *cmakeProjectFiles) noteDownloads(tree *ecosystem.Tree) {
	for _, source := range p.listFetches() {
		if !source.known {
			tree.AddNote("the build downloads %s (FetchContent), and checks have no network: keep it in the repository, or "+
				"put a "+
				"copy into the image with container.setup and name it in gates.test: cmake … -DFETCHCONTENT_SOURCE_DIR_%s=FOLDER",
				source.name, strings.ToUpper(source.name))
		}
	}
	for _, buildFile := range p.files {
		for _, m := range externalProject.FindAllStringSubmatch(buildFile.text, -1) {
			if remoteSource.MatchString(m[2]) {
				tree.AddNote("the build downloads %s (ExternalProject_Add), and checks have no network: keep it in the "+
					"repository, "+
					"or have the build find it on the system", m[1])
			}
		}
		if fileDownload.MatchString(buildFile.text) {
			tree.AddNote("%s downloads files while it is configured, and checks have no network: what it needs must be in the "+
				"repository or in the image (container.setup)", ecosystem.PrintablePath(buildFile.path))
		}
	}
	for _, m := range []struct{ file, tool string }{{"vcpkg.json", "vcpkg"}, {"conanfile.txt", "Conan"},
		{"conanfile.py", "Conan"}} {
		if tree.HasFile(p.dir, m.file) {
			tree.AddNote("the packages of %s (%s) are not fetched: what find_package asks for comes from Debian, where it is "+
				"known there", m.file, m.tool)
		}
	}
}

var wrapSource = lazyregexp.New(`(?m)^\s*(source_url|url)\s*=`)

// noteDownloads adds notes about subprojects that a build would download.
func (p *mesonProjectFiles) noteDownloads(tree *ecosystem.Tree) {
	folder := path.Join(p.dir, "subprojects")
	for _, name := range slices.Sorted(slices.Values(tree.Dirs[folder])) {
		sub, isWrap := strings.CutSuffix(name, ".wrap")
		if !isWrap || tree.HasFile(path.Join(folder, sub), "meson.build") ||
			!wrapSource.MatchString(tree.ReadManifest(folder, name)) {
			continue
		}
		_, known := packagesOf(pkgConfigName, sub)
		_, alike := packagesOf(cmakeName, sub)
		if !known && !alike && mesonNames[sub] == "" {
			tree.AddNote("the build downloads the subproject %s (%s) where the system does not have it, and checks have no "+
				"network: keep it in the repository, or install it with container.setup", ecosystem.PrintablePath(sub),
				ecosystem.PrintablePath(path.Join(folder, name)))
		}
	}
}
