package python

import (
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// slowMarkerRE matches a marker of slow tests in a project's list of markers, in INI or TOML.
var slowMarkerRE = lazyregexp.New(
	`(?m)^[ \t]*["']?(?:markers[ \t]*=[ \t]*\[?[ \t]*["']?)?(slow|integration|network|e2e|functional)\b[ \t]*["']?[ \t]*(?::|,|\]|$)`)

// Narrow returns the pytest command without the tests that the project marks as slow.
func (Ecosystem) Narrow(tree *ecosystem.Tree, gateCommand company.GateCommand) (command, reason string, ok bool) {
	if !strings.Contains(gateCommand.Command, "pytest") || strings.Contains(gateCommand.Command, " -m \"") ||
		strings.Contains(gateCommand.Command, " -m '") {
		return "", "", false
	}
	for _, name := range []string{"pyproject.toml", "pytest.ini", "setup.cfg", "tox.ini"} {
		text := tree.ReadManifest(gateCommand.Dir, name)
		_, declared, found := strings.Cut(text, "markers")
		if !found {
			continue
		}
		if end := strings.Index(declared, "\n["); end >= 0 { // the next section
			declared = declared[:end]
		}
		if m := slowMarkerRE.FindStringSubmatch("markers" + declared); m != nil {
			return gateCommand.Command + ` -m "not ` + m[1] + `"`, name + " declares the marker " + m[1], true
		}
	}
	return "", "", false
}
