package company

import (
	"path"
	"slices"
	"strings"

	"company/internal/glob"
)

var alwaysProtected = glob.MustParseFolded(DefaultProtected()...)

// guarded are globs of code of others that lies in the repository. A plan may
// name it, since a dependency is added there too; but that a library asserts
// nothing any more can be seen in no test, so that its change needs the
// president like a protected path's.
var guarded = glob.MustParse("**/vendor/**/*.go", "**/node_modules/**")

// ChangesGuardedCode says whether a change is of code of others that the base has.
func ChangesGuardedCode(c Change) bool {
	return c.Action != "created" && slices.ContainsFunc(guarded, func(g glob.Glob) bool { return g.Match(c.Path) })
}

// IsProtected says whether a path may only change with the president's leave. A path
// that some disk takes for a protected one is protected, too. A pattern that does not
// parse protects everything: rules fail closed.
func (r PlanRules) IsProtected(path string) bool {
	if alwaysProtected.Match(path) { // parsed once: Due asks often
		return true
	}
	for _, pattern := range r.Protected {
		g, err := glob.ParseFolded(pattern)
		if err != nil || (glob.FoldedSet{g}).Match(path) {
			return true
		}
	}
	return false
}

// isInFolders reports whether all that a glob matches is in the folders of the
// task.
func (r PlanRules) isInFolders(g glob.Glob) bool {
	return len(r.Paths) == 0 || slices.ContainsFunc(r.Paths, func(p string) bool {
		// api/** also matches api, so that its prefix has no slash.
		return strings.HasPrefix(g.Prefix(), p+"/") || strings.HasPrefix(g.String(), p+"/")
	})
}

// IsOutside reports whether a file lies outside of the folders of the task.
func (r PlanRules) IsOutside(path string) bool {
	return len(r.Paths) > 0 && !slices.ContainsFunc(r.Paths, func(p string) bool { return strings.HasPrefix(path, p+"/") })
}

// IsTest says whether a path is a test's by the manners of its language, what
// tests read included. What is called a test only because a program's own command is
// (commands/test.py) is none: such a name counts at the root alone.
func IsTest(p string) bool {
	dir, name := path.Split(p)
	for d := range strings.SplitSeq(strings.ToLower(dir), "/") { // Tests/ of Symfony and CMake
		switch d {
		case "test", "tests", "__tests__", "testdata", "spec", "__snapshots__":
			return true
		}
	}
	stem := strings.TrimSuffix(name, path.Ext(name))
	switch path.Ext(name) {
	case ".go":
		return strings.HasSuffix(stem, "_test")
	case ".py":
		return strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_test") || stem == "conftest" || stem == "tests" || p == "test.py" // tests.py: Django
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx":
		return strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec") || strings.HasSuffix(stem, "-test") || stem == "test" && dir == ""
	case ".rs":
		return stem == "tests" || strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, "_tests")
	case ".c", ".cc", ".cpp", ".cxx":
		return strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, "_tests") || strings.HasSuffix(stem, "_unittest")
	case ".rb":
		return strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, "_spec")
	case ".phpt":
		return true
	}
	return false
}

// testedCode are endings of source files in languages whose tests have files of their own.
var testedCode = map[string]bool{
	".go": true, ".py": true, ".js": true, ".mjs": true, ".cjs": true, ".ts": true, ".mts": true, ".cts": true, ".jsx": true, ".tsx": true,
	".c": true, ".cc": true, ".cpp": true, ".cxx": true, ".rb": true, ".php": true, ".java": true, ".kt": true,
}

// LacksTests reports whether files change that tests could show, and no test with them.
func LacksTests(paths []string) bool {
	return !slices.ContainsFunc(paths, IsTest) && slices.ContainsFunc(paths, func(p string) bool { return testedCode[path.Ext(p)] })
}

// oldTest says whether a change is of a test that was there before, and not a
// new one.
func (c Change) oldTest() bool { return c.Action != "created" && IsTest(c.Path) }
