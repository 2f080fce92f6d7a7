package java

import (
	"path"
	"slices"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
	"company/internal/testreport"
)

// gradleToolchain is Debian's Gradle, which Maven's projects do without.
const gradleToolchain = "gradle"

// gradleFiles are Gradle's manifests; Debian's reads the first.
var gradleFiles = []string{"build.gradle", "build.gradle.kts"}

// tooNew matches what Debian's Gradle, 4.4, does not know, and plugins that only a
// registry has.
var tooNew = lazyregexp.New(`useJUnitPlatform|\btoolchain\b|\btasks\.(?:register|named)\b|\bplatform\s*\(|\bbuildscript\b|\bid\s*\(?\s*["'][^"']+["']\s*\)?\s+version\b`)

// debianGradle has Gradle take packages from Debian's repository in place of what
// lies outside; repositories in the project's own folders stay.
const debianGradle = `allprojects { afterEvaluate { repositories.removeAll { it.hasProperty("url") && it.url.scheme != "file" }; repositories.maven { url "file://` + debianRepository + `" } } }`

// detectGradle finds the uppermost Gradle projects beside those of Maven. The wrapper
// of a project downloads a Gradle of its own, so Debian's runs what it can.
func (e Ecosystem) detectGradle(t *ecosystem.Tree, found []ecosystem.Component) (out []ecosystem.Component) {
	for _, name := range gradleFiles {
		for _, dir := range t.FoldersWith(name) {
			at := path.Join(dir, name)
			switch {
			case ecosystem.Covering(found, dir) != nil || ecosystem.Covering(out, dir) != nil:
			case name != gradleFiles[0] || slices.ContainsFunc(gradleTexts(t, dir), tooNew.MatchString):
				if dir == "" {
					t.AddNote("a Gradle project (%s) that needs a newer Gradle than Debian's 4.4, or plugins of a registry: no gate is made; gates.test names a command, with a Gradle from container.setup", at)
				}
			case !hasTests(t, dir):
				if dir == "" {
					t.AddNote("a Gradle project without tests in %s", testRoot)
				}
			default:
				run := `printf '%s' '` + debianGradle + `' >/tmp/debian.gradle && gradle --offline --no-daemon --continue -g /tmp/gradle -I /tmp/debian.gradle test`
				collect := collectReports("build/test-results/test")
				out = append(out, ecosystem.Component{Dir: dir, Kind: e.Name(), Description: "Gradle project", Test: &company.GateCommand{
					Command: run, Report: run + collect, Parse: testreport.FormatJUnit, Plant: plantJUnit, Canary: run + " --tests '" + ecosystem.CanaryPlaceholder + "*'" + collect}})
			}
		}
	}
	return out
}

// gradleTexts are the manifests in and below a folder.
func gradleTexts(t *ecosystem.Tree, dir string) (out []string) {
	for _, below := range t.FoldersWith(gradleFiles[0]) {
		if ecosystem.IsUnder(below, dir) {
			out = append(out, t.ReadManifest(below, gradleFiles[0]))
		}
	}
	return out
}
