package cc

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"
)

// missingWords matches messages of builds about missing software. The only group is its name.
var missingWords = []struct {
	kind string
	says *lazyregexp.Regexp
}{
	{cmakeName, lazyregexp.New(`Could not find a (?:package\s+)?configuration file\s+provided by\s+"([^"]+)"`)},
	{cmakeName, lazyregexp.New(`Could NOT find ([A-Za-z0-9_.+-]+) \(missing:`)},
	{pkgConfigName, lazyregexp.New(`No package '([^']+)' found`)},
	{pkgConfigName, lazyregexp.New(`ERROR: Dependency (?:lookup for )?"?([A-Za-z0-9_.+-]+)"? (?:not found|with method)`)},
	{linkerName, lazyregexp.New(`ERROR: \S+ (?:shared or static )?library '([^']+)' not found`)},
	{"", lazyregexp.New(`ERROR: Program '([^']+)' not found`)},
	{"", lazyregexp.New(`possibly undefined macro: ([A-Z][A-Z0-9_]+)`)},
}

var (
	// stoppedWords matches lines in which a configuration gives up.
	stoppedWords = lazyregexp.New(
		`(?m)^-- Configuring incomplete, errors occurred|^\S*meson\.build:\d+:\d+: ERROR: |^configure: error: |^autoreconf: error: `)
	downloadWords = lazyregexp.New(
		`Could not resolve host|Failed to clone repository|unable to access 'https?:|error: downloading 'https?:|Couldn't resolve host|ERROR: Subproject (\S+) is buildable: NO|Automatic wrap-based subproject downloading is disabled`)
	noTestsWords  = lazyregexp.New(`(?m)^No tests were found!!!`)
	configureSays = lazyregexp.New(`(?m)^configure: error: (.+)$`)
)

// ExplainOutput explains why a configuration failed in a container, and how to fix it.
func (CMake) ExplainOutput(output string) string {
	const setup = `container.setup: ["apt-get update && apt-get install -y %s"]`
	switch {
	case noTestsWords.MatchString(output):
		return "\n[the build has no tests: turn them on with an option of its own (gates.test: cmake … -DOPTION=ON && …), " +
			"or say gates.test: none]"
	case !stoppedWords.MatchString(output):
		return ""
	}
	if name, packages, ok := findMissing(output); ok {
		install := "PACKAGE"
		if len(packages) > 0 {
			install = strings.Join(packages, " ")
		}
		return fmt.Sprintf("\n[the build asks for %s, which the image does not have; "+setup+" installs it]", name, install)
	}
	if downloadWords.MatchString(output) {
		return "\n[the build downloads while it is configured, and a check has no network: keep what it needs in the " +
			"repository, or put it into the image with container.setup]"
	}
	if m := configureSays.FindStringSubmatch(output); m != nil {
		return fmt.Sprintf("\n[configure ended: %s; what it needs of the system comes with "+setup+"]",
			safetext.Cut(safetext.StripLine(m[1]), 120), "PACKAGE")
	}
	return ""
}

// findMissing returns the software that a configuration did not find, and its Debian packages. The packages may be
// unknown.
func findMissing(output string) (name string, packages []string, ok bool) {
	for _, m := range missingWords {
		said := m.says.FindStringSubmatch(output)
		if said == nil {
			continue
		}
		name = safetext.Cut(safetext.StripLine(said[1]), 60)
		if known, ok := packagesOf(m.kind, name); m.kind != "" && ok {
			packages = known
		} else if p := programPackages[name]; m.kind == "" && p != "" {
			packages = []string{p}
		}
		return name, packages, true
	}
	return "", nil, false
}

// MissingPackages returns the Debian packages of the software that a configuration did not find.
func (CMake) MissingPackages(output string, own ecosystem.OwnNames) []string {
	if !stoppedWords.MatchString(output) {
		return nil
	}
	name, packages, _ := findMissing(output)
	if own.Has(name) {
		return nil
	}
	return packages
}

// PackageOfProgram returns the Debian package that has a program, or "" if it is unknown.
func PackageOfProgram(name string) string {
	if p := programPackages[name]; p != "" {
		return p
	}
	if slices.Contains(otherPackages, name) {
		return name
	}
	return ""
}

// configuresRE matches a command that configures a build.
var configuresRE = lazyregexp.New(`\b(cmake -S|cmake -B|meson setup|configure|autoreconf)\b`)

// CannotStart reports whether a check ended before the build because the image lacks something that the build needs.
func (e CMake) CannotStart(command string, exitCode int, output string) bool {
	return exitCode != 0 && configuresRE.MatchString(command) && e.ExplainOutput(output) != ""
}
