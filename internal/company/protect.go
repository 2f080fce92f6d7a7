package company

import (
	"path"
	"slices"
	"strings"

	"company/internal/company/glob"
)

var alwaysProtected = glob.MustParseFolded(DefaultProtected()...)

// guarded lists globs of third-party code in the repository. A plan may name it, since new dependencies are added
// there. But if a change makes a library stop asserting, no test shows it. A change of existing third-party code
// therefore needs the president's approval, like a protected path.
var guarded = glob.MustParse("**/vendor/**/*.go", "**/node_modules/**")

// ChangesGuardedCode reports whether a change is to third-party code that the base has.
func ChangesGuardedCode(c Change) bool {
	return c.Action != "created" && slices.ContainsFunc(guarded, func(g glob.Glob) bool { return g.Match(c.Path) })
}

// IsProtected reports whether a path needs the president's approval to change. A path that some disk treats as equal to
// a protected one is protected too. An invalid pattern protects every path, so that rules fail closed.
func (r PlanRules) IsProtected(path string) bool {
	if alwaysProtected.Match(path) { // parsed once, because Due asks often
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

// isInFolders reports whether all paths that a glob matches are in the folders of the task.
func (r PlanRules) isInFolders(g glob.Glob) bool {
	return len(r.Paths) == 0 || slices.ContainsFunc(r.Paths, func(p string) bool {
		// api/** also matches api, so its prefix has no slash.
		return strings.HasPrefix(g.Prefix(), p+"/") || strings.HasPrefix(g.String(), p+"/")
	})
}

// IsOutside reports whether a file is outside of the folders of the task.
func (r PlanRules) IsOutside(path string) bool {
	return len(r.Paths) > 0 && !slices.ContainsFunc(r.Paths, func(p string) bool { return strings.HasPrefix(path, p+"/") })
}

// IsTest reports whether a path is a test by the conventions of its language. Files that tests read count too. A name
// that may also be a program's command, such as commands/test.py, counts only at the root.
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
		// tests.py: Django
		return strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_test") || stem == "conftest" ||
			stem == "tests" || p == "test.py"
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx":
		return strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec") || strings.HasSuffix(stem, "-test") ||
			stem == "test" && dir == ""
	case ".rs":
		return stem == "tests" || strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, "_tests")
	case ".c", ".cc", ".cpp", ".cxx":
		return strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, "_tests") ||
			strings.HasSuffix(stem, "_unittest")
	case ".rb":
		return strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, "_spec")
	case ".phpt":
		return true
	}
	return false
}

// testedCode holds the extensions of source files in languages with separate test files.
var testedCode = map[string]bool{
	".go": true, ".py": true, ".js": true, ".mjs": true, ".cjs": true, ".ts": true, ".mts": true, ".cts": true,
	".jsx": true, ".tsx": true,
	".c": true, ".cc": true, ".cpp": true, ".cxx": true, ".rb": true, ".php": true, ".java": true, ".kt": true,
}

// LacksTests reports whether the files include testable code and no test.
func LacksTests(paths []string) bool {
	return !slices.ContainsFunc(paths, IsTest) &&
		slices.ContainsFunc(paths, func(p string) bool { return testedCode[path.Ext(p)] })
}

// oldTest reports whether a change is to an existing test, and not a new one.
func (c Change) oldTest() bool { return c.Action != "created" && IsTest(c.Path) }
