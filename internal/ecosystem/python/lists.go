package python

import (
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// Parts of the names of requirements lists, by meaning.
var (
	// testWords mark lists for the tests.
	testWords = []string{"test", "tests", "testing", "unittest", "unittests", "pytest", "dev", "develop", "development",
		"ci", "local"}
	devWords = []string{"dev", "develop", "development", "local", "ci"}
	// baseWords mark lists for the project itself, which its tests also need.
	baseWords = []string{"base", "common", "core", "main", "default", "install", "runtime", "app", "package"}
	// otherWords mark lists for other purposes.
	otherWords = []string{
		"doc", "docs", "documentation", "sphinx", "rtd", "readthedocs", "lint", "linter", "linters", "linting", "flake8",
		"style", "format", "formatting", "black", "mypy", "typing", "types",
		"release", "publish", "deploy", "bench", "benchmark", "benchmarks", "example", "examples", "tutorial", "demo",
		"notebook", "notebooks", "min", "minimum", "minimal", "oldest",
		"windows", "win32", "macos", "darwin", "osx", "gpu", "cuda", "rocm", "old",
	}
	listWords = []string{"requirements", "requirement", "requires", "reqs", "req"}

	oldPythonRE = lazyregexp.New(`^py(thon)?(2\d?|3[0-9]|31[02-9])$`)
)

// Ranks of requirements lists for the tests.
const (
	listOfOthers = iota // it is for another purpose
	listUnknown         // unknown, perhaps for production
	listWanted
)

// chooseLists returns the requirements lists that a tree's tests need. A list in a folder named
// requirements or tests belongs to the folder above. If tox, nox or CI name lists of a project, its other
// lists count only if they are for the project itself, because the rest are for developers' tools.
func chooseLists(files []string, named map[string]bool) []string {
	type ranked struct {
		file string
		rank int
	}
	byProject := map[string][]ranked{}
	var projects []string
	for _, file := range files {
		dir, base := path.Dir(file), path.Base(file)
		if !ecosystem.IsPlainPath(dir) || !ecosystem.IsPlainPath(base) || !ecosystem.HasOwnLocks(dir) || !isList(file) ||
			isMadeFrom(file, files) {
			continue
		}
		rank := rankList(file)
		project := projectOfList(dir)
		if rank == listOfOthers || isSideFolder(project) {
			continue
		}
		if byProject[project] == nil {
			projects = append(projects, project)
		}
		byProject[project] = append(byProject[project], ranked{file, rank})
	}
	slices.SortFunc(projects, ecosystem.CompareDepth)
	var out []string
	for _, project := range projects {
		all := byProject[project]
		if slices.ContainsFunc(all, func(l ranked) bool { return l.rank == listWanted }) {
			all = slices.DeleteFunc(all, func(l ranked) bool { return l.rank != listWanted })
		}
		if slices.ContainsFunc(all, func(l ranked) bool { return named[l.file] }) {
			all = slices.DeleteFunc(all, func(l ranked) bool { return !named[l.file] && !isForProject(l.file) })
		}
		for _, l := range all {
			out = append(out, l.file)
		}
	}
	return out
}

// isList reports whether a path is that of a requirements list.
func isList(file string) bool {
	ext := path.Ext(file)
	if ext != ".txt" && ext != ".in" {
		return false
	}
	return strings.Contains(path.Base(file), "requirements") || slices.Contains(listWords, path.Base(path.Dir(file)))
}

// isMadeFrom reports whether a list with the extension .in has a compiled .txt file, which has the
// versions.
func isMadeFrom(file string, files []string) bool {
	stem, ok := strings.CutSuffix(file, ".in")
	return ok && slices.Contains(files, stem+".txt")
}

// projectOfList returns the folder of the project to which the lists in a folder belong.
func projectOfList(dir string) string {
	for dir != "." && (slices.Contains(listWords, path.Base(dir)) ||
		slices.Contains([]string{"test", "tests"}, path.Base(dir))) {
		dir = path.Dir(dir)
	}
	return dir
}

// isSideFolder reports whether a folder is next to a project and is not tested.
func isSideFolder(dir string) bool {
	for part := range strings.SplitSeq(strings.ToLower(dir), "/") {
		if slices.Contains(otherWords, part) ||
			slices.Contains([]string{"samples", "tools", "scripts", "docker", "website", "ci", "contrib"}, part) {
			return true
		}
	}
	return false
}

// rankList returns the rank of a list by its name.
func rankList(file string) int {
	words := wordsOfList(file)
	is := func(known []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(known, w) })
	}
	switch {
	case is(otherWords) || slices.ContainsFunc(words, oldPythonRE.MatchString):
		return listOfOthers
	case len(words) == 0 || is(testWords) || is(baseWords):
		return listWanted
	}
	return listUnknown
}

// isForProject reports whether a list has the needs of the project itself.
func isForProject(file string) bool {
	words := wordsOfList(file)
	return len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(baseWords, w) })
}

// isForDevelopment reports whether a list is for developers of the project. Such a list often includes
// those for documents and linters.
func isForDevelopment(file string) bool {
	words := wordsOfList(file)
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(devWords, w) }) &&
		!slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "test") })
}

// wordsOfList returns the parts of a list's name.
func wordsOfList(file string) []string {
	dir, base := path.Dir(file), path.Base(file)
	stem := strings.ToLower(strings.TrimSuffix(base, path.Ext(base)))
	words := strings.FieldsFunc(stem, func(r rune) bool { return strings.ContainsRune("-_. ", r) })
	words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains(listWords, w) })
	if slices.Contains([]string{"test", "tests"}, path.Base(dir)) {
		words = append(words, "test")
	}
	return words
}
