package rust

import (
	"company/internal/ecosystem"
	"company/internal/lib/boundedparse/toml"
	"company/internal/lib/lazyregexp"
)

var _ ecosystem.Uniter = Ecosystem{}

// tables describes the dependency tables of a Cargo.toml.
var tables = ecosystem.Tables{
	Begin: lazyregexp.New(`^\s*\[(?:.*\.)?(?:dev-|build-)?dependencies\]\s*(?:#.*)?$`),
	End:   lazyregexp.New(`^\s*\[`),
	Entry: lazyregexp.New(`^\s*([A-Za-z0-9_."-]+)\s*=\s*(?:"[^"]*"|true|\{.*\})\s*$`),
}

// Unites reports whether a file is a Cargo.toml.
func (Ecosystem) Unites(name string) bool { return name == manifest }

// Unite merges the crates that both sides have added to a Cargo.toml, and changes that only one side made
// elsewhere. It returns false for a crate that both sides changed, which an agent must merge.
func (Ecosystem) Unite(_ string, base, ours, theirs []byte) ([]byte, bool) {
	if base == nil {
		return nil, false
	}
	united, ok := tables.Unite(base, ours, theirs)
	var read map[string]any
	return united, ok && toml.Decode(united, &read) == nil
}
