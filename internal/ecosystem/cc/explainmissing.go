package cc

import (
	"fmt"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"
)

// missingLibrary matches messages of pkg-config and linkers about missing libraries, in builds of any language. The
// group is the library's name. A message without a group means that pkg-config itself is missing.
var missingLibrary = []struct {
	kind string
	says *lazyregexp.Regexp
}{
	{pkgConfigName, lazyregexp.New(`Package ([A-Za-z0-9_.+-]+) was not found in the pkg-config search path`)},
	{pkgConfigName, lazyregexp.New(`Package '([^',]+)', required by '[^']+', not found`)},
	{pkgConfigName, lazyregexp.New("The system library `([^`]+)` required by crate `[^`]+` was not found")},
	{linkerName, lazyregexp.New(`(?:\bld|ld\.\w+): cannot find -l([A-Za-z0-9_.+-]+)`)},
	{"", lazyregexp.New(`"pkg-config": executable file not found|[Cc]ould not run ` + "`" +
		`?(?:PKG_CONFIG_\S+ )*"?pkg-config|pkg-config(?:: command)? not found`)},
}

// ExplainOutput names the Debian package of a library that a build did not find. CMake's ExplainOutput handles builds
// that stopped while they were configured.
func (Autotools) ExplainOutput(output string) string {
	name, packages, ok := findMissingLibrary(output)
	if !ok {
		return ""
	}
	install := "PACKAGE"
	if len(packages) > 0 {
		install = strings.Join(packages, " ")
	}
	return fmt.Sprintf("\n[the build asks for %s, which the image does not have; container.setup: [\"apt-get update && "+
		"apt-get install -y %s\"] installs it]", name, install)
}

// MissingPackages returns the Debian packages of a library that a build did not find.
func (Autotools) MissingPackages(output string, own ecosystem.OwnNames) []string {
	name, packages, _ := findMissingLibrary(output)
	if own.Has(name) {
		return nil
	}
	return packages
}

// findMissingLibrary returns the library that a build did not find, and its Debian packages. The packages may be
// unknown.
func findMissingLibrary(output string) (name string, packages []string, ok bool) {
	if stoppedWords.MatchString(output) {
		return "", nil, false
	}
	for _, m := range missingLibrary {
		said := m.says.FindStringSubmatch(output)
		switch {
		case said == nil:
			continue
		case m.kind == "":
			return "pkg-config", []string{"pkg-config"}, true
		}
		name = safetext.Cut(safetext.StripLine(said[1]), 60)
		packages, _ = packagesOf(m.kind, name)
		return name, packages, true
	}
	return "", nil, false
}
