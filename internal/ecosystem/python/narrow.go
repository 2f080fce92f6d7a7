package python

import (
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// slowMarkerRE is a marker of slow tests where a project declares its markers: a line
// of a list, in INI or in TOML.
var slowMarkerRE = lazyregexp.New(`(?m)^[ \t]*["']?(?:markers[ \t]*=[ \t]*\[?[ \t]*["']?)?(slow|integration|network|e2e|functional)\b[ \t]*["']?[ \t]*(?::|,|\]|$)`)

// Narrow is pytest without the tests that the project marks as slow.
func (Ecosystem) Narrow(t *ecosystem.Tree, g company.GateCommand) (command, why string, ok bool) {
	if !strings.Contains(g.Command, "pytest") || strings.Contains(g.Command, " -m \"") || strings.Contains(g.Command, " -m '") {
		return "", "", false
	}
	for _, name := range []string{"pyproject.toml", "pytest.ini", "setup.cfg", "tox.ini"} {
		text := t.ReadManifest(g.Dir, name)
		_, declared, found := strings.Cut(text, "markers")
		if !found {
			continue
		}
		if end := strings.Index(declared, "\n["); end >= 0 { // the next section
			declared = declared[:end]
		}
		if m := slowMarkerRE.FindStringSubmatch("markers" + declared); m != nil {
			return g.Command + ` -m "not ` + m[1] + `"`, name + " declares the marker " + m[1], true
		}
	}
	return "", "", false
}
