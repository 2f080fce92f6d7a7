package rust

import (
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
)

func TestConformance(t *testing.T) {
	ecosystemtest.Exercise(t, Ecosystem{}, ecosystemtest.Fixture{
		Files: map[string]string{"Cargo.toml": "[package]\n"},
		Lint:  "cargo clippy --offline --all-targets", Test: "cargo test --offline --no-fail-fast",
		Lock: "Cargo.lock",
		LockText: "[[package]]\nname = \"me\"\nversion = \"0.1.0\"\n[[package]]\nname = \"serde\"\nversion = " +
			"\"1.0.0\"\nsource = \"registry+https://x\"\n", Packages: "crates serde@1.0.0",
		Served: ecosystemtest.Served{Package: company.Dependency{Ecosystem: ecosystem.Crates, Name: "left_one",
			Version: "1.2.0"}, Needs: "crates right", Default: "https://index.crates.io",
			Files: map[string]string{"/config.json": `{"dl":"` + ecosystemtest.URL("/f/{crate}-{version}") + `"}`,
				"/f/left_one-1.2.0": "crate",
				"/le/ft/left_one":   `{"name":"left_one","vers":"1.2.0","cksum":"f5fe331d2367a7a67ee20bd579c77b929ae49439d8b0d8e9c3b98609797b6b69","deps":[{"name":"r","package":"right","kind":"normal"},{"name":"d","kind":"dev"}]}` + "\n" + `{"name":"left_one","vers":"1.3.0","yanked":true}` + "\n"},
			Metadata: []string{"le/ft/left_one"}, File: "dl/left_one/1.2.0/download"},
		Blame: []string{
			"error: the lock file Cargo.lock needs to be updated but --locked was passed",
			"error: failed to parse lock file at: /opt/out/Cargo.lock",
			"error: checksum for `x v1.0.0` changed between lock files",
			"error: no matching package named `x` found",
			"error: failed to select a version for the requirement `x = \"^9\"`",
		},
		Reports: []ecosystemtest.Report{
			{File: "cargo.txt", Format: formatCargo, Passed: 4, Skipped: 1, Failed: []string{"p src/lib.rs t::bad"}},
			{File: "clippy.json", Format: formatClippy,
				Failed: []string{"src/lib.rs: equal expressions as operands to `==`",
					"src/lib.rs: this loop never actually loops"}},
			{File: "clippy-broken.json", Format: formatClippy, Failed: []string{"src/lib.rs: mismatched types"},
				Unrun: []string{"src/lib.rs: mismatched types"}},
			{File: "cargo-broken.txt", Format: formatCargo,
				Failed: []string{"could not compile p lib", "could not compile p lib test"},
				Unrun:  []string{"could not compile p lib", "could not compile p lib test"}},
		},
		Canaries: []ecosystemtest.Canary{{Change: map[string]string{"src/lib.rs": ""}, Dirs: []string{""}},
			{Change: map[string]string{"sub/Cargo.toml": "[package]\n", "sub/src/lib.rs": ""}, Dirs: []string{"sub"}}},
		GateFiles: []string{"Cargo.toml", ".cargo/config.toml"},
	})
}
