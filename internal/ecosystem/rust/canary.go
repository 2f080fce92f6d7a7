package rust

import (
	"fmt"
	"path"
	"slices"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// plantCargo is a failing test in the tests of a crate.
const plantCargo = "cargo"

// Plants are the ways in which a failing test is put beside a change.
func (Ecosystem) Plants() []string { return []string{plantCargo} }

var packageTable = lazyregexp.New(`(?m)^\s*\[package\]`)

// CanaryPlaces are the crates that the change touches.
func (Ecosystem) CanaryPlaces(c *ecosystem.Change, gate company.GateCommand) (out []ecosystem.CanaryPlace, reason string) {
	var dirs []string
	for _, dir := range c.TouchedFolders(gate, ".rs") {
		if crate, ok := c.NearestWith(dir, "Cargo.toml"); ok && ecosystem.IsUnder(crate, gate.Dir) {
			dirs = append(dirs, crate)
		}
	}
	if len(dirs) == 0 && c.TouchesGateFiles(gate) {
		dirs = []string{gate.Dir}
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		if !packageTable.MatchString(c.ReadManifest(dir, "Cargo.toml")) {
			continue // the root of a workspace has no tests of its own
		}
		out = append(out, ecosystem.CanaryPlace{
			Dir:  dir,
			Path: func(word string) string { return path.Join(dir, "tests", word+".rs") },
			Text: func(word string) string {
				return fmt.Sprintf("#[test]\nfn %s() {\n    panic!(\"this test of the company's must fail\");\n}\n", word)
			},
		})
	}
	return out, ""
}
