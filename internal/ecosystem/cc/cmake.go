package cc

import (
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// CMake is the ecosystem of projects that CMake builds and ctest tests.
type CMake struct{}

// Name returns the name of the toolchain.
func (CMake) Name() string { return "cmake" }

// Programs lists the programs that need the toolchain.
func (CMake) Programs() []string { return []string{"cmake", "ctest"} }

// Manifest returns the file that identifies a project.
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
	cmakeTests   = lazyregexp.New(
		`(?i)\b(add_test|enable_testing|ecm_add_tests?|gtest_discover_tests|gtest_add_tests|catch_discover_tests|doctest_discover_tests)\s*\(|\binclude\s*\(\s*CTest\s*\)`)
	// cmakeTestOptions matches options that build tests and are off by default. A dependent option also has a condition,
	// and a value that applies if the condition is false.
	cmakeTestOptions = []*lazyregexp.Regexp{
		lazyregexp.New(`(?i)\boption\s*\(\s*` + cmakeTestName + cmakeText + `?(?:OFF|FALSE|NO|0)?\s*\)`),
		lazyregexp.New(`(?i)\bcmake_dependent_option\s*\(\s*` + cmakeTestName + cmakeText + `(?:OFF|FALSE|NO|0)\s*` +
			cmakeText + `\w+\s*\)`),
	}
	// cmakeNoTests matches parts of option names that do not concern the main test suite or disable it.
	cmakeNoTests = lazyregexp.New(
		`(?i)(WITHOUT|DISABLE|SKIP|FUZZ|BENCH|PERF|INSTALL|COVER|CUDA|DOWNLOAD|PYTHON|JAVA|EXAMPLE|STRESS|NETWORK|ONLINE)`)
	// cmakeSanitizer matches an option that turns a sanitizer on or off.
	cmakeSanitizer = lazyregexp.New(`(?i)\boption\s*\(\s*([A-Za-z0-9_]*(?:ASAN|UBSAN|SANITI[SZ]E)[A-Za-z0-9_]*)\s`)
	// otherSanitizer matches parts of option names that turn a sanitizer off, or that need one that does not work in a
	// container. Such a sanitizer needs its own libraries or ptrace.
	otherSanitizer = lazyregexp.New(`(?i)(^|_)NO_|WITHOUT|DISABLE|SKIP|FUZZ|MEMORY|THREAD|LEAK`)
)

// Detect finds the projects that CMake builds. If a project has no tests, another build system in its folder handles
// it. If there is none, building is its check.
func (e CMake) Detect(tree *ecosystem.Tree, found []ecosystem.Component) []ecosystem.Component {
	var out []ecosystem.Component
	for _, dir := range projectFolders(tree, found, e.Manifest()) {
		projectFiles := readCMake(tree, dir)
		if !projectFiles.isProject {
			continue
		}
		component := ecosystem.Component{Dir: dir, Kind: e.Name(), Description: "CMake project"}
		switch {
		case projectFiles.hasTests:
			component.Test = testGate(projectFiles.buildCommand(), " -- -k 0", projectFiles.testCommand(), formatCTest)
			component.Test.Plant, component.Test.Canary = plantCMake, projectFiles.canaryCommand()
		case hasOtherBuild(tree, dir), ecosystem.Covering(found, dir) != nil:
			tree.AddProject(e.Name(), dir) // another build system may call CMake
			continue
		default:
			tree.AddNote("the CMake project in %s has no tests (no add_test, no include(CTest)): that it builds is its check",
				ecosystem.DisplayDir(dir))
			component.Lint = &company.GateCommand{Command: projectFiles.buildCommand()}
		}
		projectFiles.noteDownloads(tree)
		projectFiles.noteSanitizer(tree)
		out = append(out, component)
	}
	return out
}

// hasOtherBuild reports whether another build system may test a folder.
func hasOtherBuild(tree *ecosystem.Tree, dir string) bool {
	return slices.ContainsFunc(
		[]string{"meson.build", "configure.ac", "configure.in", "configure", "Makefile", "makefile", "GNUmakefile"},
		func(name string) bool {
			return tree.HasFile(dir, name)
		})
}

// cmakeProjectFiles holds the files of a CMake project and the information from them.
type cmakeProjectFiles struct {
	dir                 string
	files               []buildFile // without comments
	isProject, hasTests bool
	settings            []string // -D options of its configuration
	variables           map[string]string
	qt                  string // the major version of Qt in its files
}

// readCMake reads the files of a project.
func readCMake(t *ecosystem.Tree, dir string) *cmakeProjectFiles {
	projectFiles := &cmakeProjectFiles{dir: dir, files: readBuildFiles(t, dir, isCMakeFile)}
	for i := range projectFiles.files {
		projectFiles.files[i].text = cmakeComment.ReplaceAllString(projectFiles.files[i].text, "")
		if projectFiles.files[i].path == path.Join(dir, "CMakeLists.txt") {
			projectFiles.isProject = cmakeProject.MatchString(projectFiles.files[i].text)
		}
	}
	projectFiles.hasTests = anyMatches(projectFiles.files, cmakeTests)
	projectFiles.settings = append(projectFiles.testSettings(), projectFiles.fetchSettings()...)
	return projectFiles
}

// testSettings returns the settings that turn on the options for building tests.
func (p *cmakeProjectFiles) testSettings() []string {
	var out []string
	for _, buildFile := range p.files {
		for _, option := range cmakeTestOptions {
			for _, m := range option.FindAllStringSubmatch(buildFile.text, -1) {
				if s := "-D" + m[1] + "=ON"; !cmakeNoTests.MatchString(m[1]) && !slices.Contains(out, s) {
					out = append(out, s)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// configureCommand returns the command that configures a build.
func (p *cmakeProjectFiles) configureCommand() string {
	return strings.Join(append([]string{"cmake -S . -B", buildFolder(p.dir), "-G Ninja"}, p.settings...), " ")
}

// buildCommand returns the command that configures and builds.
func (p *cmakeProjectFiles) buildCommand() string {
	return p.configureCommand() + " && cmake --build " + buildFolder(p.dir) + " -j " + buildJobs
}

// testCommand returns the command that runs the tests of a build. It fails if there are no tests.
func (p *cmakeProjectFiles) testCommand() string {
	return "ctest --test-dir " + buildFolder(p.dir) + " --output-on-failure --no-tests=error"
}

// noteSanitizer proposes the project's own sanitizer. It is not a gate by default, because it is slower and the suite
// may not pass with it.
func (p *cmakeProjectFiles) noteSanitizer(tree *ecosystem.Tree) {
	for _, f := range p.files {
		for _, m := range cmakeSanitizer.FindAllStringSubmatch(f.text, -1) {
			if p.hasTests && !otherSanitizer.MatchString(m[1]) {
				tree.AddNote("the project has an option for a sanitizer; to judge with it: gates.test: %s",
					strings.Replace(p.buildCommand(), " && ", " -D"+m[1]+"=ON && ", 1)+" && "+p.testCommand())
				return
			}
		}
	}
}
