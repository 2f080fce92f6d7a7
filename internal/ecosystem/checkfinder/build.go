package checkfinder

import (
	"path"
	"slices"
	"strings"

	"company/internal/lib/lazyregexp"
)

// Tests of C and C++ run in a build folder, whose path differs in each CI. A gate with its own build folder runs the
// same tests.

var (
	// shownRE matches arguments for the build or display of such tests, or for the number of parallel tests.
	shownRE = lazyregexp.New(
		`^(-j.*|-k|-s|-v|-V|-VV|--verbose|--extra-verbose|--output-on-failure|--print-errorlogs|--no-rebuild|--parallel|--no-tests=.*|--schedule-random|[0-9]+|(V|VERBOSE|CTEST_[A-Z_]+)=.*)$`)
	// configRE matches an argument with a value that does not select tests.
	configRE = lazyregexp.New(`^(--config|--build-config|--timeout|--no-tests|-t|--num-processes)$`)
)

// testsBuild reports whether a call runs all tests of a build. These are ctest, meson test, and make check in a
// folder where the tree has no Makefile.
func (c *collector) testsBuild(one call, dir string, elsewhere bool) bool {
	words := one.unwrapCommand()
	if len(words) == 0 || len(keepChoosing(one.assigns)) > 0 {
		return false
	}
	program := path.Base(words[0])
	at := path.Join(dir, one.dir)
	var builds bool
	var targets []string
	for i := 1; i < len(words); i++ {
		name, value, hasValue := strings.Cut(words[i], "=")
		next := func() string {
			if i+1 < len(words) && !hasValue {
				i++
				value = words[i]
			}
			return value
		}
		switch {
		case program == "ctest" && name == "-C", configRE.MatchString(words[i]):
			next()
		case name == "-C", name == "--test-dir", name == "--build":
			at, builds = path.Join(at, next()), true
		case name == "--target" || name == "-t":
			targets = append(targets, next())
		case shownRE.MatchString(words[i]):
		default:
			targets = append(targets, words[i])
		}
	}
	target := strings.Join(targets, " ")
	made := func(files ...string) bool {
		return elsewhere || one.lost ||
			!slices.ContainsFunc(files, func(name string) bool { return c.tree.HasFile(at, name) })
	}
	switch program {
	case "ctest":
		return target == ""
	case "meson":
		return target == "test"
	case "make", "gmake":
		return (target == "test" || target == "check") && made("GNUmakefile", "makefile", "Makefile")
	case "ninja":
		return (target == "test" || target == "check") && made("build.ninja")
	case "cmake":
		return builds && (target == "test" || target == "check")
	}
	return false
}

// isOfBuild reports whether a chosen call runs the tests of a build in a folder beside the tree.
func (g chosenCall) isOfBuild() bool {
	return g.key == "ctest" || g.key == "meson test" ||
		strings.HasPrefix(g.dir, "../") && (strings.HasSuffix(g.key, " make check") || strings.HasSuffix(g.key, " make test"))
}
