// Package java is the ecosystem of Java: Maven and Gradle as Debian has them, with
// packages of Debian's Maven repository or of one that lies in the project. No
// registry of packages is served.
package java

import (
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
	"company/internal/testreport"
)

// Ecosystem is Java.
type Ecosystem struct{}

// Name is the toolchain.
func (Ecosystem) Name() string { return "java" }

// Programs are the programs that need the toolchain.
func (Ecosystem) Programs() []string { return []string{"java", "javac", "mvn", "gradle"} }

// Manifest is the file by which a project is known.
func (Ecosystem) Manifest() string { return pomFile }

const pomFile = "pom.xml"

// debianRepository holds the packages of Debian's Maven in an image.
const debianRepository = "/usr/share/maven-repo"

// ownRepository is where a project may have its packages along.
const ownRepository = ".m2/repository"

// Detect finds the projects of Maven and Gradle in a repository: the uppermost ones,
// which build their modules.
func (e Ecosystem) Detect(t *ecosystem.Tree, _ []ecosystem.Component) []ecosystem.Component {
	var out []ecosystem.Component
	for _, dir := range t.FoldersWith(pomFile) {
		if above := ecosystem.Covering(out, dir); above != nil && buildsModules(t, above.Dir) {
			continue
		}
		p := ecosystem.Component{Dir: dir, Kind: e.Name(), Description: "Maven project", Test: findTest(t, dir)}
		if p.Test == nil {
			t.AddProject(e.Name(), dir)
			if dir == "" {
				t.AddNote("a Maven project without tests in src/test/java")
			}
			continue
		}
		out = append(out, p)
		notePackages(t, dir)
	}
	return append(out, e.detectGradle(t, out)...)
}

var modulesTable = lazyregexp.New(`<modules>`)

func buildsModules(t *ecosystem.Tree, dir string) bool {
	return modulesTable.MatchString(t.ReadManifest(dir, pomFile))
}

// findTest is Maven's phase of tests; its reports, one of each class, become one.
func findTest(t *ecosystem.Tree, dir string) *company.GateCommand {
	if !hasMavenTests(t, dir) {
		return nil
	}
	run := "mvn -o -B " + repositoryFlag(t, dir)
	collect := collectReports("target/surefire-reports")
	return &company.GateCommand{Command: run + "test", Report: run + "-fae test" + collect, Parse: testreport.FormatJUnit, Plant: plantJUnit,
		Canary: run + "-fae -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false '-Dtest=" + ecosystem.CanaryPlaceholder + "*' test" + collect}
}

// hasMavenTests says whether Maven runs tests in a folder: its own, and those of
// projects below where they are its modules.
func hasMavenTests(t *ecosystem.Tree, dir string) bool {
	if buildsModules(t, dir) {
		return hasTests(t, dir)
	}
	for _, p := range t.FilesBelow(dir) {
		if isTestFile(p) && nearestPOM(t, path.Dir(p)) == dir {
			return true
		}
	}
	return false
}

// nearestPOM is the folder of the Maven project that a folder belongs to.
func nearestPOM(t *ecosystem.Tree, dir string) string {
	for dir != "." && !t.HasFile(dir, pomFile) {
		dir = path.Dir(dir)
	}
	return strings.TrimPrefix(dir, ".")
}

// hasTests says whether there are tests in or below a folder.
func hasTests(t *ecosystem.Tree, dir string) bool {
	return slices.ContainsFunc(t.FilesBelow(dir), isTestFile)
}

// collectReports is put behind a command that leaves a report of each class of tests
// in such folders, and makes them one.
func collectReports(folder string) string {
	return "; code=$?; find . -path '*/" + folder + "/TEST-*.xml' -exec cat {} + >" + testreport.File + "; exit $code"
}

// repositoryFlag says where Maven finds packages, unless the project's own settings do.
func repositoryFlag(t *ecosystem.Tree, dir string) string {
	switch {
	case strings.Contains(t.ReadManifest(path.Join(dir, ".mvn"), "maven.config"), "maven.repo.local"):
		return ""
	case hasOwnRepository(t, dir):
		return `-Dmaven.repo.local="$PWD/` + ownRepository + `" `
	}
	return "-Dmaven.repo.local=" + debianRepository + " "
}

func hasOwnRepository(t *ecosystem.Tree, dir string) bool {
	return t.HasBelow(path.Join(dir, ownRepository), ".pom")
}

// isTestFile says whether a file is a test by Maven's names: Surefire takes those
// that begin or end so.
func isTestFile(file string) bool {
	dir, name := ecosystem.SplitPath(file)
	class, ok := strings.CutSuffix(name, ".java")
	return ok && (dir == "src/test/java" || strings.HasPrefix(dir, "src/test/java/") || strings.Contains(dir+"/", "/src/test/java/")) &&
		(strings.HasPrefix(class, "Test") || strings.HasSuffix(class, "Test") || strings.HasSuffix(class, "Tests") || strings.HasSuffix(class, "TestCase"))
}
