package rust

import (
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

func TestConformance(t *testing.T) {
	ecosystemtest.Exercise(t, Ecosystem{}, ecosystemtest.Fixture{
		Files: map[string]string{"Cargo.toml": "[package]\n"},
		Lint:  "cargo clippy --offline --all-targets", Test: "cargo test --offline --no-fail-fast",
		Lock:     "Cargo.lock",
		LockText: "[[package]]\nname = \"me\"\nversion = \"0.1.0\"\n[[package]]\nname = \"serde\"\nversion = \"1.0.0\"\nsource = \"registry+https://x\"\n", Packages: "crates serde@1.0.0",
		Blame: "error: the lock file Cargo.lock needs to be updated but --locked was passed",
		Reports: []ecosystemtest.Report{
			{File: "cargo.txt", Format: formatCargo, Passed: 4, Skipped: 1, Failed: []string{"p src/lib.rs t::bad"}},
			{File: "cargo-broken.txt", Format: formatCargo, Failed: []string{"could not compile p lib", "could not compile p lib test"}, Unrun: []string{"could not compile p lib", "could not compile p lib test"}},
		},
		Canaries:  []ecosystemtest.Canary{{Change: map[string]string{"src/lib.rs": ""}, Dirs: []string{""}}, {Change: map[string]string{"sub/Cargo.toml": "[package]\n", "sub/src/lib.rs": ""}, Dirs: []string{"sub"}}},
		GateFiles: []string{"Cargo.toml", ".cargo/config.toml"},
	})
}
