package node

import (
	"encoding/json"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

var _ ecosystem.Uniter = Ecosystem{}

// tables are those of a package.json that name packages, as clients write them.
var tables = ecosystem.Tables{
	Begin:     lazyregexp.New(`^\s*"(?:dependencies|devDependencies|optionalDependencies|peerDependencies)":\s*\{\s*$`),
	End:       lazyregexp.New(`^\s*\},?\s*$`),
	Entry:     lazyregexp.New(`^\s*"([^"\\]+)":\s*"[^"\\]*",?\s*$`),
	Separator: ",",
}

// Unites reports whether a file is a package.json.
func (Ecosystem) Unites(name string) bool { return name == "package.json" }

// Unite keeps the packages that either side of a package.json has added, and the changes
// of one side elsewhere. A package that both have changed is left to an agent.
func (Ecosystem) Unite(_ string, base, ours, theirs []byte) ([]byte, bool) {
	if base == nil {
		return nil, false
	}
	united, ok := tables.Unite(base, ours, theirs)
	return united, ok && json.Valid(united)
}
