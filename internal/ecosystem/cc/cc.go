// Package cc has the ecosystems of C and C++: CMake with ctest, Meson, and the
// autotools. It owns their checks, the readers of their reports, the libraries that
// their build files name and the Debian packages that hold these, and the layer of
// an image with the compiled objects of the base.
//
// It promises that a check builds outside of the tree: in a folder beside it,
// which is the same in gates, in workers and where the base is compiled, so that
// objects that were compiled once are found again. A project that has a plain Makefile alone
// is package makefile's.
package cc

import (
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// buildJobs is how many compilers run at a time: as many as a container has
// processors by default (workers.cpus). The tools themselves would count those of
// the host, and run out of the container's memory there.
const buildJobs = "2"

// maxBuildFiles bounds the files of a project that are read for its build.
const maxBuildFiles = 500

// buildFolder is the folder that a project is built in, as its own folder calls it.
// The name is no one else's: people run the same commands beside their checkouts.
func buildFolder(dir string) string {
	up := strings.Repeat("../", ecosystem.Depth(dir)+1)
	if dir == "" {
		return up + "company-build"
	}
	return up + "company-build-" + strings.ReplaceAll(dir, "/", "-")
}

// buildFile is a file that describes a build, with its text.
type buildFile struct{ path, text string }

// readBuildFiles gives the project's own files below a folder whose names are meant.
func readBuildFiles(t *ecosystem.Tree, dir string, isMeant func(name string) bool) []buildFile {
	var wanted []ecosystem.File
	for _, p := range t.FilesBelow(dir) {
		f := t.Files[p]
		at, name := ecosystem.SplitPath(p)
		if isMeant(name) && f.Size <= ecosystem.MaxManifest && !ecosystem.IsForeignDir(at) {
			wanted = append(wanted, f)
		}
	}
	slices.SortFunc(wanted, func(a, b ecosystem.File) int { return ecosystem.CompareDepth(a.Path, b.Path) })
	var out []buildFile
	t.ReadTexts(wanted[:min(len(wanted), maxBuildFiles)], func(f ecosystem.File, text []byte) {
		if len(text) <= ecosystem.MaxManifest {
			out = append(out, buildFile{f.Path, strings.ToValidUTF8(string(text), "\uFFFD")})
		}
	})
	return out
}

// projectFolders are the folders with a project of a build system: those with one of
// its manifests that lie below no other, and in no component that was found before.
func projectFolders(t *ecosystem.Tree, found []ecosystem.Component, manifests ...string) []string {
	var all, out []string
	for _, m := range manifests {
		all = append(all, t.FoldersWith(m)...)
	}
	slices.SortFunc(all, ecosystem.CompareDepth)
	for _, dir := range slices.Compact(all) {
		inside := slices.ContainsFunc(out, func(above string) bool { return ecosystem.IsUnder(dir, above) })
		if inside || dir != "" && !ecosystem.IsPlainPath(dir) {
			continue
		}
		taken, ours := false, false
		for _, c := range found {
			if ecosystem.IsUnder(dir, c.Dir) && (c.Dir != dir || isBuildSystem(c.Kind)) {
				taken, ours = true, ours || isBuildSystem(c.Kind)
			}
		}
		if taken && !ours {
			t.AddNote("%s lies in a project of another kind and is no check of its own (gates.test names a command)", path.Join(ecosystem.PrintablePath(dir), manifests[0]))
		}
		if taken {
			continue
		}
		out = append(out, dir)
	}
	return out
}

// isBuildSystem says whether a kind of component is one of this package: of several
// build systems in one folder the first is asked.
func isBuildSystem(kind string) bool {
	return slices.Contains([]string{CMake{}.Name(), Meson{}.Name(), Autotools{}.Name()}, kind)
}

// anyMatches says whether the text of some file matches.
func anyMatches(files []buildFile, what *lazyregexp.Regexp) bool {
	return slices.ContainsFunc(files, func(f buildFile) bool { return what.MatchString(f.text) })
}

// testGate returns a gate that builds and tests. Both streams are read for its report.
// There the build has the option with which it goes on behind an error: which file fails
// first differs from run to run, and on a red base all of them must be known.
func testGate(build, keepGoing, test, parse string) *company.GateCommand {
	return &company.GateCommand{Command: build + " && " + test, Report: "( " + build + keepGoing + " && " + test + " ) 2>&1", Parse: parse}
}

// sourceEndings are those of files that a compiler reads.
var sourceEndings = []string{".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".h", ".hh", ".hpp", ".hxx", ".inl", ".S", ".s", ".m", ".mm"}
