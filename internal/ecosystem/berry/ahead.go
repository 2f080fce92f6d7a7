package berry

import (
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// resolutionRE is the line that says which package of the registry an entry is.
var resolutionRE = lazyregexp.New(`^  resolution: "((?:@[^@/"]+/)?[^@/"]+)@npm:([^"]+)"$`)

// ListForAnySystem lists the packages of a lock file that yarn asks for whatever the
// system is: those that are for some systems only have conditions. What lies in the tree,
// is patched or has an address of its own is none of them.
func (Ecosystem) ListForAnySystem(lock []byte) (out []company.Dependency) {
	var entry company.Dependency
	keep := func() {
		if entry.Name != "" {
			out = append(out, entry)
		}
		entry = company.Dependency{}
	}
	for line := range strings.Lines(string(lock)) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case line != "" && line[0] != ' ' && line[0] != '#':
			keep()
		case strings.HasPrefix(line, "  conditions:"):
			entry = company.Dependency{}
		default:
			if m := resolutionRE.FindStringSubmatch(line); m != nil && !strings.Contains(m[2], "::") {
				entry = company.Dependency{Ecosystem: ecosystem.NPM, Name: m[1], Version: m[2]}
			}
		}
	}
	keep()
	return out
}
