package rust

import (
	"fmt"
	"path"
	"slices"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// plantCargo adds a failing test to the tests of a crate.
const plantCargo = "cargo"

// Plants lists the ways to add a failing test for a change.
func (Ecosystem) Plants() []string { return []string{plantCargo} }

var packageTable = lazyregexp.New(`(?m)^\s*\[package\]`)

// CanaryPlaces returns the crates that the change touches, or the gate's own crate if only gate files
// changed.
func (Ecosystem) CanaryPlaces(
	change *ecosystem.Change, gate company.GateCommand,
) (out []ecosystem.CanaryPlace, reason string) {
	var dirs []string
	for _, dir := range change.TouchedFolders(gate, ".rs") {
		if crate, ok := change.NearestWith(dir, "Cargo.toml"); ok && ecosystem.IsUnder(crate, gate.Dir) {
			dirs = append(dirs, crate)
		}
	}
	if len(dirs) == 0 && change.TouchesGateFiles(gate) {
		dirs = []string{gate.Dir}
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		if !packageTable.MatchString(change.ReadManifest(dir, "Cargo.toml")) {
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
