package java

import (
	"path"
	"slices"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// gradleToolchain is Debian's Gradle, which Maven projects do not need.
const gradleToolchain = "gradle"

// gradleFiles are Gradle's manifests. Debian's version reads only the first.
var gradleFiles = []string{"build.gradle", "build.gradle.kts"}

// tooNew matches features that Debian's Gradle 4.4 does not know, and plugins that need a registry.
var tooNew = lazyregexp.New(
	`useJUnitPlatform|\btoolchain\b|\btasks\.(?:register|named)\b|\bplatform\s*\(|\bbuildscript\b|\bid\s*\(?\s*["'][^"']+["']\s*\)?\s+version\b`)

// debianGradle makes Gradle use Debian's repository instead of remote ones. Repositories in the project's own folders
// stay.
const debianGradle = `allprojects { afterEvaluate { repositories.removeAll { it.hasProperty("url") && it.url.scheme != "file" }; repositories.maven { url "file://` + debianRepository + `" } } }`

// detectGradle finds the topmost Gradle projects outside of Maven projects. A project's wrapper would download its
// own Gradle, so Debian's is used if it can build the project.
func (e Ecosystem) detectGradle(tree *ecosystem.Tree, found []ecosystem.Component) (out []ecosystem.Component) {
	for _, name := range gradleFiles {
		for _, dir := range tree.FoldersWith(name) {
			at := path.Join(dir, name)
			switch {
			case ecosystem.Covering(found, dir) != nil || ecosystem.Covering(out, dir) != nil:
			case name != gradleFiles[0] || slices.ContainsFunc(gradleTexts(tree, dir), tooNew.MatchString):
				if dir == "" {
					tree.AddNote("a Gradle project (%s) that needs a newer Gradle than Debian's 4.4, or plugins of a registry: no "+
						"gate "+
						"is made; gates.test names a command, with a Gradle from container.setup", at)
				}
			case !hasTests(tree, dir):
				if dir == "" {
					tree.AddNote("a Gradle project without tests in %s", testRoot)
				}
			default:
				run := `printf '%s' '` + debianGradle +
					`' >/tmp/debian.gradle && gradle --offline --no-daemon --continue -g /tmp/gradle -I /tmp/debian.gradle test`
				collect := collectReports("build/test-results/test")
				out = append(
					out, ecosystem.Component{Dir: dir, Kind: e.Name(), Description: "Gradle project", Test: &company.GateCommand{
						Command: run, Report: run + collect, Parse: testreport.FormatJUnit, Plant: plantJUnit,
						Canary: run + " --tests '" + ecosystem.CanaryPlaceholder + "*'" + collect}})
			}
		}
	}
	return out
}

// gradleTexts returns the manifests in and below a folder.
func gradleTexts(tree *ecosystem.Tree, dir string) (out []string) {
	for _, below := range tree.FoldersWith(gradleFiles[0]) {
		if ecosystem.IsUnder(below, dir) {
			out = append(out, tree.ReadManifest(below, gradleFiles[0]))
		}
	}
	return out
}
