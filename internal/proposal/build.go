package proposal

import (
	"path"
	"slices"
	"strings"

	"company/internal/lazyregexp"
)

// Tests of C and C++ run in a folder that a build has made, wherever the CI has it. A gate that builds in a folder of its own runs
// the same ones.

var (
	// shownRE is an argument that says how such tests are built and shown, or how many run at a time.
	shownRE = lazyregexp.New(`^(-j.*|-k|-s|-v|-V|-VV|--verbose|--extra-verbose|--output-on-failure|--print-errorlogs|--no-rebuild|--parallel|--no-tests=.*|--schedule-random|[0-9]+|(V|VERBOSE|CTEST_[A-Z_]+)=.*)$`)
	// configRE is an argument with a value that chooses no tests.
	configRE = lazyregexp.New(`^(--config|--build-config|--timeout|--no-tests|-t|--num-processes)$`)
)

// testsBuild reports whether a call runs all the tests of a build: ctest, meson test, and make check where the tree has no Makefile.
func (c *collector) testsBuild(one call, dir string, elsewhere bool) bool {
	words := one.unwrapCommand()
	if len(words) == 0 || len(keepChoosing(one.assigns)) > 0 {
		return false
	}
	program, at, builds := path.Base(words[0]), path.Join(dir, one.dir), false
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
		return elsewhere || one.lost || !slices.ContainsFunc(files, func(name string) bool { return c.tree.HasFile(at, name) })
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
	return g.key == "ctest" || g.key == "meson test" || strings.HasPrefix(g.dir, "../") && (strings.HasSuffix(g.key, " make check") || strings.HasSuffix(g.key, " make test"))
}
