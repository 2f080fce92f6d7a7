package cc

import (
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// Prefixes of failure names that mean that tests could not be run.
const (
	notConfigured = "does not configure: "
	notCompiled   = "does not compile: "
	notLinked     = "does not link: "
	notMade       = "does not build: "
)

// isBuildFailure reports whether a failure of this name is a build failure.
func isBuildFailure(test string) bool {
	return slices.ContainsFunc([]string{notConfigured, notCompiled, notLinked, notMade},
		func(is string) bool { return strings.HasPrefix(test, is) })
}

// IsBuildFailure reports whether a failure of this name means that the code does not build.
func (CMake) IsBuildFailure(test string) bool { return isBuildFailure(test) }

// buildErrors reads the errors of compilers, linkers and configure scripts, and the line in which the calling tool
// gives up. Without that line, the errors count as output of a test.
type buildErrors struct {
	found []buildError
	ended bool
	dir   string // the compiler's folder in the project; "" means the project's folder or unknown
}

type buildError struct{ name, message string }

const maxBuildErrors = 200

var (
	compilerError = lazyregexp.New(`^([^\s:][^:]*):\d+(?::\d+)?: (?:fatal )?error: (.+)$`)
	linkerError   = lazyregexp.New("undefined reference to [`']([^']+)'|(?:/ld|^ld): (cannot find -l\\S+)")
	ninjaFailed   = lazyregexp.New(`^FAILED: (?:\[code=\d+\] )?(\S+)`)
	makeFailed    = lazyregexp.New(
		`^g?make(?:\[\d+\])?: \*\*\* (?:\[(?:[^\]\s]*:\d+: )?([^\]]+)\] (?:Error \d+|Segmentation fault|Killed)|No rule to make target ['` + "`" + `]([^']+)')`)
	ninjaStopped = lazyregexp.New(`^ninja: (build stopped|error): `)
	cmakeError   = lazyregexp.New(`^CMake Error(?: at (\S+?):\d+)?(?: \((\w+)\))?:?`)
	cmakeStopped = lazyregexp.New(
		`^-- (Configuring|Generating) (incomplete|done), errors occurred|^CMake Generate step failed|^CMake Error: `)
	mesonError     = lazyregexp.New(`^(\S*meson\.build):\d+:\d+: ERROR: (.+)$`)
	configureError = lazyregexp.New(`^configure: error: (.+)$`)
	autoconfError  = lazyregexp.New(
		`^(autoreconf|autoconf|automake|aclocal): error: (.+)$|^(configure\.(?:ac|in)):\d+: error: (.+)$`)
)

// readLine reads a line of a build.
func (b *buildErrors) readLine(s string) {
	if m := compilerError.FindStringSubmatch(s); m != nil {
		file := m[1]
		if b.dir != "" && !path.IsAbs(file) {
			file = path.Join(b.dir, file)
		}
		b.add(notCompiled+cleanSource(file), m[2])
		return
	}
	if m := mesonError.FindStringSubmatch(s); m != nil {
		b.add(notConfigured+cleanSource(m[1])+": "+m[2], "")
		b.ended = true
		return
	}
	if m := configureError.FindStringSubmatch(s); m != nil {
		b.add(notConfigured+m[1], "")
		b.ended = true
		return
	}
	if m := autoconfError.FindStringSubmatch(s); m != nil {
		b.add(notConfigured+strings.TrimSpace(m[1]+m[3]+": "+m[2]+m[4]), "")
		b.ended = true
		return
	}
	if m := linkerError.FindStringSubmatch(s); m != nil {
		b.add(notLinked+m[1]+m[2], "")
		return
	}
	switch {
	case cmakeStopped.MatchString(s):
		b.ended = true
	case ninjaStopped.MatchString(s):
		b.ended = true
	}
	if m := cmakeError.FindStringSubmatch(s); m != nil {
		b.add(strings.TrimSpace(notConfigured+cleanSource(m[1])+" "+m[2]), "")
	} else if m := ninjaFailed.FindStringSubmatch(s); m != nil {
		b.add(notMade+m[1], "")
	} else if m := makeFailed.FindStringSubmatch(s); m != nil {
		b.ended = true
		b.add(notMade+m[1]+m[2], "")
	}
}

func (b *buildErrors) add(name, message string) {
	if len(b.found) < maxBuildErrors && !slices.ContainsFunc(b.found, func(e buildError) bool { return e.name == name }) {
		b.found = append(b.found, buildError{name, message})
	}
}

// cleanSource returns the path of a source relative to the project, for any build folder.
func cleanSource(file string) string {
	for _, root := range []string{"/work/repo/", "../repo/"} {
		if in, ok := strings.CutPrefix(file, root); ok {
			return path.Clean(in)
		}
	}
	file = path.Clean(file)
	for strings.HasPrefix(file, "../") {
		file = strings.TrimPrefix(file, "../")
	}
	return file
}

// forgetErrors drops the errors so far. Tests ran after them, so the errors were output of tests.
func (b *buildErrors) forgetErrors() { *b = buildErrors{dir: b.dir} }

// forgetTargets drops failed targets, because tests are targets, too.
func (b *buildErrors) forgetTargets() {
	b.found = slices.DeleteFunc(b.found, func(e buildError) bool { return strings.HasPrefix(e.name, notMade) })
}

// addTo adds the failures of a build that gave up. A failed target is added only if no cause is known, because
// dependent targets fail with it.
func (b *buildErrors) addTo(res *testreport.Results) (any bool) {
	if !b.ended {
		return false
	}
	isCause := func(e buildError) bool { return !strings.HasPrefix(e.name, notMade) }
	causes := slices.ContainsFunc(b.found, isCause)
	for _, e := range b.found {
		if isCause(e) || !causes {
			res.AddUnrun(e.name, e.message)
			any = true
		}
	}
	return any
}

// buildReport reads the output of a build without a known test runner, for example make in a project that compiles.
type buildReport struct {
	errors  buildErrors
	compile bool
}

// ReadLine processes one line of output.
func (b *buildReport) ReadLine(s string) {
	b.compile = b.compile || compilerError.MatchString(s) || linkerError.MatchString(s)
	b.errors.readLine(s)
}

// Finish returns compiler and linker errors. Other failures of make may be tests, so it returns nil for them.
func (b *buildReport) Finish() *testreport.Results {
	res := &testreport.Results{}
	if !b.compile || !b.errors.addTo(res) {
		return nil
	}
	return res
}
