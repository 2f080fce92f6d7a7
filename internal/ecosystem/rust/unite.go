package rust

import (
	"company/internal/boundedparse/toml"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

var _ ecosystem.Uniter = Ecosystem{}

// tables are those of a Cargo.toml that name crates.
var tables = ecosystem.Tables{
	Begin: lazyregexp.New(`^\s*\[(?:.*\.)?(?:dev-|build-)?dependencies\]\s*(?:#.*)?$`),
	End:   lazyregexp.New(`^\s*\[`),
	Entry: lazyregexp.New(`^\s*([A-Za-z0-9_."-]+)\s*=\s*(?:"[^"]*"|true|\{.*\})\s*$`),
}

// Unites reports whether a file is a Cargo.toml.
func (Ecosystem) Unites(name string) bool { return name == manifest }

// Unite keeps the crates that either side of a Cargo.toml has added, and the changes of
// one side elsewhere. A crate that both have changed is left to an agent.
func (Ecosystem) Unite(_ string, base, ours, theirs []byte) ([]byte, bool) {
	if base == nil {
		return nil, false
	}
	united, ok := tables.Unite(base, ours, theirs)
	var read map[string]any
	return united, ok && toml.Decode(united, &read) == nil
}
