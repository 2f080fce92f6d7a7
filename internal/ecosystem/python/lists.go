package python

import (
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// Parts of the names of lists of requirements, and their meaning.
var (
	// testWords: the tests need it.
	testWords = []string{"test", "tests", "testing", "unittest", "unittests", "pytest", "dev", "develop", "development", "ci", "local"}
	devWords  = []string{"dev", "develop", "development", "local", "ci"}
	// baseWords: the project needs it, and so do its tests.
	baseWords = []string{"base", "common", "core", "main", "default", "install", "runtime", "app", "package"}
	// otherWords: something else than the tests needs it.
	otherWords = []string{
		"doc", "docs", "documentation", "sphinx", "rtd", "readthedocs", "lint", "linter", "linters", "linting", "flake8", "style", "format", "formatting", "black", "mypy", "typing", "types",
		"release", "publish", "deploy", "bench", "benchmark", "benchmarks", "example", "examples", "tutorial", "demo", "notebook", "notebooks", "min", "minimum", "minimal", "oldest",
		"windows", "win32", "macos", "darwin", "osx", "gpu", "cuda", "rocm", "old",
	}
	listWords = []string{"requirements", "requirement", "requires", "reqs", "req"}

	oldPythonRE = lazyregexp.New(`^py(thon)?(2\d?|3[0-9]|31[02-9])$`)
)

// How well a list of requirements serves the tests.
const (
	listOfOthers = iota // it is for something else
	listUnknown         // its name does not tell; in production, perhaps
	listWanted
)

// chooseLists are those lists of requirements of a tree that its tests need. A
// list in a folder called requirements or tests belongs to the folder above. Where tox, nox
// or CI name lists of a project, its others are for the tools of its people.
func chooseLists(files []string, named map[string]bool) []string {
	type ranked struct {
		file string
		rank int
	}
	byProject := map[string][]ranked{}
	var projects []string
	for _, file := range files {
		dir, base := path.Dir(file), path.Base(file)
		if !ecosystem.IsPlainPath(dir) || !ecosystem.IsPlainPath(base) || !ecosystem.HasOwnLocks(dir) || !isList(file) || isMadeFrom(file, files) {
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

// isList says whether a file, by its path, is a list of requirements.
func isList(file string) bool {
	ext := path.Ext(file)
	if ext != ".txt" && ext != ".in" {
		return false
	}
	return strings.Contains(path.Base(file), "requirements") || slices.Contains(listWords, path.Base(path.Dir(file)))
}

// isMadeFrom says that a list with the ending .in has been compiled: the versions
// stand in the other file.
func isMadeFrom(file string, files []string) bool {
	stem, ok := strings.CutSuffix(file, ".in")
	return ok && slices.Contains(files, stem+".txt")
}

// projectOfList is the folder of the project that the lists of a folder are of.
func projectOfList(dir string) string {
	for dir != "." && (slices.Contains(listWords, path.Base(dir)) || slices.Contains([]string{"test", "tests"}, path.Base(dir))) {
		dir = path.Dir(dir)
	}
	return dir
}

// isSideFolder says that a folder lies beside a project and is none to be tested.
func isSideFolder(dir string) bool {
	for part := range strings.SplitSeq(strings.ToLower(dir), "/") {
		if slices.Contains(otherWords, part) || slices.Contains([]string{"samples", "tools", "scripts", "docker", "website", "ci", "contrib"}, part) {
			return true
		}
	}
	return false
}

// rankList says by its name what a list is for.
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

// isForProject says that a list has what the project itself needs.
func isForProject(file string) bool {
	words := wordsOfList(file)
	return len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(baseWords, w) })
}

// isForDevelopment says that a list is for people at work on the project: it often includes
// those for documents and linters, too.
func isForDevelopment(file string) bool {
	words := wordsOfList(file)
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(devWords, w) }) &&
		!slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "test") })
}

// wordsOfList splits the name of a list.
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
