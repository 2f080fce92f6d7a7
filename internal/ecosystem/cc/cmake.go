package cc

import (
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// CMake is the ecosystem of projects that CMake builds and ctest tests.
type CMake struct{}

// Name is the toolchain.
func (CMake) Name() string { return "cmake" }

// Programs are the programs that need the toolchain.
func (CMake) Programs() []string { return []string{"cmake", "ctest"} }

// Manifest is the file by which a project is known.
func (CMake) Manifest() string { return "CMakeLists.txt" }

func isCMakeFile(name string) bool {
	return name == "CMakeLists.txt" || path.Ext(name) == ".cmake"
}

const (
	cmakeTestName = `((?:[A-Za-z0-9_]+_)?(?:TEST|TESTS|TESTING|UNITTESTS?))\s*`
	cmakeText     = `(?:"(?:[^"\\]|\\.)*"\s*)`
)

var (
	cmakeComment = lazyregexp.New(`(?m)#.*$`)
	cmakeProject = lazyregexp.New(`(?i)\bproject\s*\(\s*"?([A-Za-z0-9_.+-]*)`)
	cmakeTests   = lazyregexp.New(`(?i)\b(add_test|enable_testing|gtest_discover_tests|gtest_add_tests|catch_discover_tests|doctest_discover_tests)\s*\(|\binclude\s*\(\s*CTest\s*\)`)
	// cmakeTestOptions are options that build tests and are off unless they are asked for. Behind one that
	// depends on others stand the condition, and its value where that does not hold.
	cmakeTestOptions = []*lazyregexp.Regexp{
		lazyregexp.New(`(?i)\boption\s*\(\s*` + cmakeTestName + cmakeText + `?(?:OFF|FALSE|NO|0)?\s*\)`),
		lazyregexp.New(`(?i)\bcmake_dependent_option\s*\(\s*` + cmakeTestName + cmakeText + `(?:OFF|FALSE|NO|0)\s*` + cmakeText + `\w+\s*\)`),
	}
	// cmakeNoTests are parts of the names of options that are not about the suite itself,
	// or leave it out.
	cmakeNoTests = lazyregexp.New(`(?i)(WITHOUT|DISABLE|SKIP|FUZZ|BENCH|PERF|INSTALL|COVER|CUDA|DOWNLOAD|PYTHON|JAVA|EXAMPLE|STRESS|NETWORK|ONLINE)`)
	// cmakeSanitizer is an option that turns a sanitizer on, or off.
	cmakeSanitizer = lazyregexp.New(`(?i)\boption\s*\(\s*([A-Za-z0-9_]*(?:ASAN|UBSAN|SANITI[SZ]E)[A-Za-z0-9_]*)\s`)
	// otherSanitizer are parts of the names of options that turn one off, or ask for one
	// that a suite in a container cannot be judged with: it wants libraries of its own, or
	// to trace.
	otherSanitizer = lazyregexp.New(`(?i)(^|_)NO_|WITHOUT|DISABLE|SKIP|FUZZ|MEMORY|THREAD|LEAK`)
)

// Detect finds the projects that CMake builds. One without tests is left to another
// build system in its folder; where there is none, that it builds is its check.
func (e CMake) Detect(t *ecosystem.Tree, found []ecosystem.Component) []ecosystem.Component {
	var out []ecosystem.Component
	for _, dir := range projectFolders(t, found, e.Manifest()) {
		p := readCMake(t, dir)
		if !p.isProject {
			continue
		}
		c := ecosystem.Component{Dir: dir, Kind: e.Name(), Description: "CMake project"}
		switch {
		case p.hasTests:
			c.Test = testGate(p.buildCommand(), " -- -k 0", p.testCommand(), formatCTest)
			c.Test.Plant, c.Test.Canary = plantCMake, p.canaryCommand()
		case hasOtherBuild(t, dir), ecosystem.Covering(found, dir) != nil:
			t.AddProject(e.Name(), dir) // which may call it
			continue
		default:
			t.AddNote("the CMake project in %s has no tests (no add_test, no include(CTest)): that it builds is its check", ecosystem.DisplayDir(dir))
			c.Lint = &company.GateCommand{Command: p.buildCommand()}
		}
		p.noteDownloads(t)
		p.noteSanitizer(t)
		out = append(out, c)
	}
	return out
}

// hasOtherBuild says whether another build system may test a folder.
func hasOtherBuild(t *ecosystem.Tree, dir string) bool {
	return slices.ContainsFunc([]string{"meson.build", "configure.ac", "configure.in", "configure", "Makefile", "makefile", "GNUmakefile"}, func(name string) bool { return t.HasFile(dir, name) })
}

// cmakeProjectFiles are the files of a CMake project, and their meaning.
type cmakeProjectFiles struct {
	dir                 string
	files               []buildFile // without comments
	isProject, hasTests bool
	settings            []string // -D options of its configuration
}

// readCMake reads the files of a project.
func readCMake(t *ecosystem.Tree, dir string) *cmakeProjectFiles {
	p := &cmakeProjectFiles{dir: dir, files: readBuildFiles(t, dir, isCMakeFile)}
	for i := range p.files {
		p.files[i].text = cmakeComment.ReplaceAllString(p.files[i].text, "")
		if p.files[i].path == path.Join(dir, "CMakeLists.txt") {
			p.isProject = cmakeProject.MatchString(p.files[i].text)
		}
	}
	p.hasTests = anyMatches(p.files, cmakeTests)
	p.settings = append(p.testSettings(), p.fetchSettings()...)
	return p
}

// testSettings turn on the options that build tests, where these are off.
func (p *cmakeProjectFiles) testSettings() []string {
	var out []string
	for _, f := range p.files {
		for _, option := range cmakeTestOptions {
			for _, m := range option.FindAllStringSubmatch(f.text, -1) {
				if s := "-D" + m[1] + "=ON"; !cmakeNoTests.MatchString(m[1]) && !slices.Contains(out, s) {
					out = append(out, s)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// configureCommand is the command that configures a build.
func (p *cmakeProjectFiles) configureCommand() string {
	return strings.Join(append([]string{"cmake -S . -B", buildFolder(p.dir), "-G Ninja"}, p.settings...), " ")
}

// buildCommand configures and builds.
func (p *cmakeProjectFiles) buildCommand() string {
	return p.configureCommand() + " && cmake --build " + buildFolder(p.dir) + " -j " + buildJobs
}

// testCommand runs the tests of a build. A build that has none is not green.
func (p *cmakeProjectFiles) testCommand() string {
	return "ctest --test-dir " + buildFolder(p.dir) + " --output-on-failure --no-tests=error"
}

// noteSanitizer proposes the project's own sanitizer: it is slower and finds more
// than the project's own suite is known to pass, so it is no gate by itself.
func (p *cmakeProjectFiles) noteSanitizer(t *ecosystem.Tree) {
	for _, f := range p.files {
		for _, m := range cmakeSanitizer.FindAllStringSubmatch(f.text, -1) {
			if p.hasTests && !otherSanitizer.MatchString(m[1]) {
				t.AddNote("the project has an option for a sanitizer; to judge with it: gates.test: %s", strings.Replace(p.buildCommand(), " && ", " -D"+m[1]+"=ON && ", 1)+" && "+p.testCommand())
				return
			}
		}
	}
}
