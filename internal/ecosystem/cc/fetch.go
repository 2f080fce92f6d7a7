package cc

import (
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

var (
	fetchDeclare    = lazyregexp.New(`(?is)\bFetchContent_Declare\s*\(\s*([A-Za-z0-9_.+-]+)([^)]*)\)`)
	externalProject = lazyregexp.New(`(?is)\bExternalProject_Add\s*\(\s*([A-Za-z0-9_.+-]+)([^)]*)\)`)
	remoteSource    = lazyregexp.New(`(?i)\b(GIT_REPOSITORY|SVN_REPOSITORY|HG_REPOSITORY|URL\s+"?https?:)`)
	fileDownload    = lazyregexp.New(`(?i)\bfile\s*\(\s*DOWNLOAD\b|\bCPMAddPackage\s*\(|\bCPMFindPackage\s*\(`)
)

// debianSources are sources that Debian has as a package, by the names by which
// projects fetch them.
var debianSources = map[string]struct{ pkg, dir string }{
	"googletest": {"googletest", "/usr/src/googletest"}, "gtest": {"googletest", "/usr/src/googletest"},
}

// fetchedSource is something that a build downloads while it is configured.
type fetchedSource struct {
	name     string
	settings []string // that take it from the image instead
	packages []string
	known    bool
}

// listFetches are the downloads that a project declares.
func (p *cmakeProjectFiles) listFetches() []fetchedSource {
	var out []fetchedSource
	for _, f := range p.files {
		for _, m := range fetchDeclare.FindAllStringSubmatch(f.text, -1) {
			if !remoteSource.MatchString(m[2]) || slices.ContainsFunc(out, func(o fetchedSource) bool { return o.name == m[1] }) {
				continue
			}
			d := fetchedSource{name: m[1]}
			if s, ok := debianSources[strings.ToLower(m[1])]; ok {
				d.known, d.packages = true, []string{s.pkg}
				d.settings = []string{"-DFETCHCONTENT_SOURCE_DIR_" + strings.ToUpper(m[1]) + "=" + s.dir}
			} else if pkg := libraries()[cmakeName+m[1]]; pkg != "" && strings.Contains(strings.ToLower(f.text), "fetchcontent_makeavailable") {
				d.known, d.packages = true, []string{pkg}
				d.settings = []string{"-DFETCHCONTENT_TRY_FIND_PACKAGE_MODE=ALWAYS"}
			}
			out = append(out, d)
		}
	}
	return out
}

// fetchSettings take downloads from Debian's packages, where these have them.
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

// noteDownloads says what a build would download, and what can be done.
func (p *cmakeProjectFiles) noteDownloads(t *ecosystem.Tree) {
	for _, d := range p.listFetches() {
		if !d.known {
			t.AddNote("the build downloads %s (FetchContent), and checks have no network: keep it in the repository, or put a copy into the image with container.setup and name it in gates.test: cmake … -DFETCHCONTENT_SOURCE_DIR_%s=FOLDER", d.name, strings.ToUpper(d.name))
		}
	}
	for _, f := range p.files {
		for _, m := range externalProject.FindAllStringSubmatch(f.text, -1) {
			if remoteSource.MatchString(m[2]) {
				t.AddNote("the build downloads %s (ExternalProject_Add), and checks have no network: keep it in the repository, or have the build find it on the system", m[1])
			}
		}
		if fileDownload.MatchString(f.text) {
			t.AddNote("%s downloads files while it is configured, and checks have no network: what it needs must be in the repository or in the image (container.setup)", ecosystem.PrintablePath(f.path))
		}
	}
	for _, m := range []struct{ file, tool string }{{"vcpkg.json", "vcpkg"}, {"conanfile.txt", "Conan"}, {"conanfile.py", "Conan"}} {
		if t.HasFile(p.dir, m.file) {
			t.AddNote("the packages of %s (%s) are not fetched: what find_package asks for comes from Debian, where it is known there", m.file, m.tool)
		}
	}
}

var wrapSource = lazyregexp.New(`(?m)^\s*(source_url|url)\s*=`)

// noteDownloads says which subprojects a build would download.
func (p *mesonProjectFiles) noteDownloads(t *ecosystem.Tree) {
	folder := path.Join(p.dir, "subprojects")
	for _, name := range slices.Sorted(slices.Values(t.Dirs[folder])) {
		sub, isWrap := strings.CutSuffix(name, ".wrap")
		if !isWrap || t.HasFile(path.Join(folder, sub), "meson.build") || !wrapSource.MatchString(t.ReadManifest(folder, name)) {
			continue
		}
		_, known := packagesOf(pkgConfigName, sub)
		_, alike := packagesOf(cmakeName, sub)
		if !known && !alike && mesonNames[sub] == "" {
			t.AddNote("the build downloads the subproject %s (%s) where the system does not have it, and checks have no network: keep it in the repository, or install it with container.setup", ecosystem.PrintablePath(sub), ecosystem.PrintablePath(path.Join(folder, name)))
		}
	}
}
