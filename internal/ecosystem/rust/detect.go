// Package rust is the ecosystem of Rust: crates, workspaces and cargo.
package rust

import (
	"path"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// Ecosystem is Rust.
type Ecosystem struct{}

// Name is the toolchain.
func (Ecosystem) Name() string { return "rust" }

// Programs are the programs that need the toolchain.
func (Ecosystem) Programs() []string { return []string{"cargo"} }

// Manifest is the file by which a project is known.
func (Ecosystem) Manifest() string { return manifest }

var workspaceTable = lazyregexp.New(`(?m)^\s*\[workspace\]`)

// Detect finds the crates and workspaces of a repository; members of a
// workspace are checked with it.
func (e Ecosystem) Detect(t *ecosystem.Tree, _ []ecosystem.Component) []ecosystem.Component {
	var out []ecosystem.Component
	for _, dir := range t.FoldersWith(manifest) {
		if t.HasFile(dir, ".cargo-checksum.json") {
			continue // a crate of others, as cargo vendor leaves it
		}
		all := ""
		if workspaceTable.MatchString(t.ReadManifest(dir, manifest)) {
			all = " --workspace"
		}
		if above := ecosystem.Covering(out, dir); above != nil && strings.Contains(above.Test.Command, "--workspace") {
			continue
		}
		clippy := "cargo clippy --offline" + lintedTargets(t, dir)
		out = append(out, ecosystem.Component{Dir: dir, Kind: e.Name(), Description: "Rust crate",
			Lint: &company.GateCommand{Command: clippy + all, Probe: "command -v cargo-clippy",
				Report: findKeepGoing + clippy + all + " $keep --message-format=json", Parse: formatClippy},
			Test: &company.GateCommand{Command: "cargo test --offline --no-fail-fast" + all, Report: "cargo test --offline --no-fail-fast" + all + " 2>&1", Parse: formatCargo,
				Plant: plantCargo, Canary: "cargo test --offline --no-fail-fast" + all + " --test '" + ecosystem.CanaryPlaceholder + "*' 2>&1"}})
	}
	return out
}

// findKeepGoing sets keep to the option with which cargo goes on behind a crate that
// fails. Without it cargo stops at the crate that fails first, which differs from run to
// run: on a red base an innocent change would show findings that the base did not.
// Releases before 1.74 refuse the option, and name it as unstable in their help.
const findKeepGoing = "keep=$(cargo check --help 2>/dev/null | grep -e --keep-going | grep -v unstable | sed 's/.*/--keep-going/;q'); "

// unstableRE finds a file that a stable compiler refuses.
var unstableRE = lazyregexp.New(`(?m)^\s*#!\[feature\(`)

// lintedTargets are all targets of a crate, without its benchmarks where these need a
// compiler that no release is: they would hide what is found behind them.
func lintedTargets(t *ecosystem.Tree, dir string) string {
	var benches []ecosystem.File
	for _, p := range t.FilesBelow(path.Join(dir, "benches")) {
		if strings.HasSuffix(p, ".rs") {
			benches = append(benches, t.Files[p])
		}
	}
	if t.AnyMatches(benches, unstableRE) {
		return " --bins --tests --examples"
	}
	return " --all-targets"
}
