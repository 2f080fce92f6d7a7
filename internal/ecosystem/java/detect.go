// Package java is the ecosystem of Java: Debian's Maven and Gradle, with packages from Debian's Maven repository or
// from one in the project. It serves no package registry.
package java

import (
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// Ecosystem is Java.
type Ecosystem struct{}

// Name returns the name of the toolchain.
func (Ecosystem) Name() string { return "java" }

// Programs lists the programs that need the toolchain.
func (Ecosystem) Programs() []string { return []string{"java", "javac", "mvn", "gradle"} }

// Manifest returns the file that identifies a project.
func (Ecosystem) Manifest() string { return pomFile }

const pomFile = "pom.xml"

// debianRepository is the folder with the packages of Debian's Maven in an image.
const debianRepository = "/usr/share/maven-repo"

// ownRepository is the folder in which a project can bring its own packages.
const ownRepository = ".m2/repository"

// Detect finds the topmost Maven and Gradle projects in a repository, which also build their modules.
func (e Ecosystem) Detect(tree *ecosystem.Tree, _ []ecosystem.Component) []ecosystem.Component {
	var out []ecosystem.Component
	for _, dir := range tree.FoldersWith(pomFile) {
		if above := ecosystem.Covering(out, dir); above != nil && buildsModules(tree, above.Dir) {
			continue
		}
		component := ecosystem.Component{Dir: dir, Kind: e.Name(), Description: "Maven project", Test: findTest(tree, dir)}
		if component.Test == nil {
			tree.AddProject(e.Name(), dir)
			if dir == "" {
				tree.AddNote("a Maven project without tests in src/test/java")
			}
			continue
		}
		out = append(out, component)
		notePackages(tree, dir)
	}
	return append(out, e.detectGradle(tree, out)...)
}

var modulesTable = lazyregexp.New(`<modules>`)

func buildsModules(t *ecosystem.Tree, dir string) bool {
	return modulesTable.MatchString(t.ReadManifest(dir, pomFile))
}

// findTest returns Maven's test command, or nil if there are no tests. It merges the report files of all classes.
func findTest(tree *ecosystem.Tree, dir string) *company.GateCommand {
	if !hasMavenTests(tree, dir) {
		return nil
	}
	run := "mvn -o -B " + repositoryFlag(tree, dir)
	collect := collectReports("target/surefire-reports")
	return &company.GateCommand{Command: run + "test", Report: run + "-fae test" + collect, Parse: testreport.FormatJUnit,
		Plant: plantJUnit,
		Canary: run + "-fae -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false '-Dtest=" +
			ecosystem.CanaryPlaceholder + "*' test" + collect}
}

// hasMavenTests reports whether Maven runs tests in a folder: its own, and those of its modules below.
func hasMavenTests(tree *ecosystem.Tree, dir string) bool {
	if buildsModules(tree, dir) {
		return hasTests(tree, dir)
	}
	for _, p := range tree.FilesBelow(dir) {
		if isTestFile(p) && nearestPOM(tree, path.Dir(p)) == dir {
			return true
		}
	}
	return false
}

// nearestPOM returns the folder of the Maven project to which a folder belongs.
func nearestPOM(t *ecosystem.Tree, dir string) string {
	for dir != "." && !t.HasFile(dir, pomFile) {
		dir = path.Dir(dir)
	}
	return strings.TrimPrefix(dir, ".")
}

// hasTests reports whether there are tests in or below a folder.
func hasTests(t *ecosystem.Tree, dir string) bool {
	return slices.ContainsFunc(t.FilesBelow(dir), isTestFile)
}

// collectReports returns a suffix for test commands. It merges the report files of test classes in such folders and
// keeps the exit code.
func collectReports(folder string) string {
	return "; code=$?; find . -path '*/" + folder + "/TEST-*.xml' -exec cat {} + >" + testreport.File + "; exit $code"
}

// repositoryFlag returns Maven's flag for the repository of packages. It returns "" if the project's own settings
// define one.
func repositoryFlag(tree *ecosystem.Tree, dir string) string {
	switch {
	case strings.Contains(tree.ReadManifest(path.Join(dir, ".mvn"), "maven.config"), "maven.repo.local"):
		return ""
	case hasOwnRepository(tree, dir):
		return `-Dmaven.repo.local="$PWD/` + ownRepository + `" `
	}
	return "-Dmaven.repo.local=" + debianRepository + " "
}

func hasOwnRepository(t *ecosystem.Tree, dir string) bool {
	return t.HasBelow(path.Join(dir, ownRepository), ".pom")
}

// isTestFile reports whether a file is a test according to the name patterns of Maven's Surefire.
func isTestFile(file string) bool {
	dir, name := ecosystem.SplitPath(file)
	class, ok := strings.CutSuffix(name, ".java")
	return ok && (dir == "src/test/java" || strings.HasPrefix(dir, "src/test/java/") ||
		strings.Contains(dir+"/", "/src/test/java/")) &&
		(strings.HasPrefix(class, "Test") || strings.HasSuffix(class, "Test") || strings.HasSuffix(class, "Tests") ||
			strings.HasSuffix(class, "TestCase"))
}
