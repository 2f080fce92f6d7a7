package node

import (
	"encoding/json"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

var _ ecosystem.Uniter = Ecosystem{}

// tables describes the dependency tables of a package.json as clients write them.
var tables = ecosystem.Tables{
	Begin:     lazyregexp.New(`^\s*"(?:dependencies|devDependencies|optionalDependencies|peerDependencies)":\s*\{\s*$`),
	End:       lazyregexp.New(`^\s*\},?\s*$`),
	Entry:     lazyregexp.New(`^\s*"([^"\\]+)":\s*"[^"\\]*",?\s*$`),
	Separator: ",",
}

// Unites reports whether a file is a package.json.
func (Ecosystem) Unites(name string) bool { return name == "package.json" }

// Unite merges the packages that both sides have added to a package.json, and changes that only one side
// made elsewhere. It returns false for a package that both sides changed, which an agent must merge.
func (Ecosystem) Unite(_ string, base, ours, theirs []byte) ([]byte, bool) {
	if base == nil {
		return nil, false
	}
	united, ok := tables.Unite(base, ours, theirs)
	return united, ok && json.Valid(united)
}
