// Package cc provides the ecosystems of C and C++: CMake with ctest, Meson, and the autotools. It defines their
// checks, reads their reports, and makes the image layer with the compiled objects of the base. It also finds the
// Debian packages for the libraries in their build files.
//
// A check builds outside of the tree, in a folder beside it. The folder is the same in gates, in workers and for
// compiling the base, so compiled objects are found again. Package makefile handles projects that have only a
// Makefile.
package cc

import (
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// buildJobs is the number of parallel compilers, equal to a container's default number of processors (workers.cpus).
// The build tools would count the host's processors and run out of the container's memory.
const buildJobs = "2"

// maxBuildFiles limits the build files that are read for a project.
const maxBuildFiles = 500

// buildFolder returns the folder in which a project is built, relative to its own folder. The name is unique to
// company, because people run the same commands beside their checkouts.
func buildFolder(dir string) string {
	up := strings.Repeat("../", ecosystem.Depth(dir)+1)
	if dir == "" {
		return up + "company-build"
	}
	return up + "company-build-" + strings.ReplaceAll(dir, "/", "-")
}

// buildFile is a file that describes a build, with its text.
type buildFile struct{ path, text string }

// readBuildFiles reads the project's own files below a folder whose names match.
func readBuildFiles(tree *ecosystem.Tree, dir string, isMeant func(name string) bool) []buildFile {
	var wanted []ecosystem.File
	for _, p := range tree.FilesBelow(dir) {
		file := tree.Files[p]
		at, name := ecosystem.SplitPath(p)
		if isMeant(name) && file.Size <= ecosystem.MaxManifest && !ecosystem.IsForeignDir(at) {
			wanted = append(wanted, file)
		}
	}
	slices.SortFunc(wanted, func(a, b ecosystem.File) int { return ecosystem.CompareDepth(a.Path, b.Path) })
	var out []buildFile
	tree.ReadTexts(wanted[:min(len(wanted), maxBuildFiles)], func(file ecosystem.File, text []byte) {
		if len(text) <= ecosystem.MaxManifest {
			out = append(out, buildFile{file.Path, strings.ToValidUTF8(string(text), "\uFFFD")})
		}
	})
	return out
}

// projectFolders returns the folders with a project of a build system. They have one of its manifests, are not below
// another such folder and are not in a component that was found before.
func projectFolders(tree *ecosystem.Tree, found []ecosystem.Component, manifests ...string) []string {
	var all, out []string
	for _, m := range manifests {
		all = append(all, tree.FoldersWith(m)...)
	}
	slices.SortFunc(all, ecosystem.CompareDepth)
	for _, dir := range slices.Compact(all) {
		inside := slices.ContainsFunc(out, func(above string) bool { return ecosystem.IsUnder(dir, above) })
		if inside || dir != "" && !ecosystem.IsPlainPath(dir) {
			continue
		}
		taken, ours := false, false
		for _, component := range found {
			if ecosystem.IsUnder(dir, component.Dir) && (component.Dir != dir || isBuildSystem(component.Kind)) {
				taken, ours = true, ours || isBuildSystem(component.Kind)
			}
		}
		if taken && !ours {
			tree.AddNote("%s is part of a project of another kind and is not checked separately (gates.test names a command)",
				path.Join(ecosystem.PrintablePath(dir), manifests[0]))
		}
		if taken {
			continue
		}
		out = append(out, dir)
	}
	return out
}

// isBuildSystem reports whether a kind of component belongs to this package. If a folder has several build systems,
// the first one counts.
func isBuildSystem(kind string) bool {
	return slices.Contains([]string{CMake{}.Name(), Meson{}.Name(), Autotools{}.Name()}, kind)
}

// anyMatches reports whether the text of a file matches.
func anyMatches(files []buildFile, what *lazyregexp.Regexp) bool {
	return slices.ContainsFunc(files, func(f buildFile) bool { return what.MatchString(f.text) })
}

// testGate returns a gate that builds and tests. Its report command merges both output streams and lets the build
// continue after errors. The first failing file differs from run to run, but on a failing base all of them must be
// known.
func testGate(build, keepGoing, test, parse string) *company.GateCommand {
	return &company.GateCommand{Command: build + " && " + test,
		Report: "( " + build + keepGoing + " && " + test + " ) 2>&1", Parse: parse}
}

// sourceEndings are the endings of files that a compiler reads.
var sourceEndings = []string{".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".h", ".hh", ".hpp", ".hxx", ".inl", ".S", ".s",
	".m", ".mm"}
