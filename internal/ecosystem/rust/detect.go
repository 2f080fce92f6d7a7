// Package rust supports Rust: crates, workspaces and cargo.
package rust

import (
	"path"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// Ecosystem is Rust.
type Ecosystem struct{}

// Name returns the toolchain's name.
func (Ecosystem) Name() string { return "rust" }

// Programs lists the programs that need the toolchain.
func (Ecosystem) Programs() []string { return []string{"cargo"} }

// Manifest returns the file name that marks a Rust project.
func (Ecosystem) Manifest() string { return manifest }

var workspaceTable = lazyregexp.New(`(?m)^\s*\[workspace\]`)

// Detect finds the crates and workspaces of a repository. The members of a workspace are checked with the
// workspace.
func (e Ecosystem) Detect(tree *ecosystem.Tree, _ []ecosystem.Component) []ecosystem.Component {
	var out []ecosystem.Component
	for _, dir := range tree.FoldersWith(manifest) {
		if tree.HasFile(dir, ".cargo-checksum.json") {
			continue // a vendored crate, as cargo vendor writes it
		}
		all := ""
		if workspaceTable.MatchString(tree.ReadManifest(dir, manifest)) {
			all = " --workspace"
		}
		if above := ecosystem.Covering(out, dir); above != nil && strings.Contains(above.Test.Command, "--workspace") {
			continue
		}
		clippy := "cargo clippy --offline" + lintedTargets(tree, dir)
		out = append(out, ecosystem.Component{Dir: dir, Kind: e.Name(), Description: "Rust crate",
			Lint: &company.GateCommand{Command: clippy + all, Probe: "command -v cargo-clippy",
				Report: findKeepGoing + clippy + all + " $keep --message-format=json", Parse: formatClippy},
			Test: &company.GateCommand{Command: "cargo test --offline --no-fail-fast" + all,
				Report: "cargo test --offline --no-fail-fast" + all + " 2>&1", Parse: formatCargo,
				Plant: plantCargo, Canary: "cargo test --offline --no-fail-fast" + all + " --test '" + ecosystem.CanaryPlaceholder +
					"*' 2>&1"}})
	}
	return out
}

// findKeepGoing sets $keep to --keep-going if cargo supports it. Without the option cargo stops at the
// first crate that fails, and which crate that is differs between runs. On a red base, a harmless change
// would then show findings that the base did not. Releases before 1.74 reject the option and list it as
// unstable in their help.
const findKeepGoing = "keep=$(cargo check --help 2>/dev/null | grep -e --keep-going | grep -v unstable | sed " +
	"'s/.*/--keep-going/;q'); "

// unstableRE matches a feature attribute, which a stable compiler rejects.
var unstableRE = lazyregexp.New(`(?m)^\s*#!\[feature\(`)

// lintedTargets returns the cargo options that select all targets of a crate. It leaves out benchmarks that
// need a nightly compiler, because their errors would hide other findings.
func lintedTargets(tree *ecosystem.Tree, dir string) string {
	var benches []ecosystem.File
	for _, p := range tree.FilesBelow(path.Join(dir, "benches")) {
		if strings.HasSuffix(p, ".rs") {
			benches = append(benches, tree.Files[p])
		}
	}
	if tree.AnyMatches(benches, unstableRE) {
		return " --bins --tests --examples"
	}
	return " --all-targets"
}
