package rust

import "company/internal/ecosystem"

// gateFiles lists files that configure cargo, its runners or linters, or that run before the tests.
var gateFiles = []string{
	"Cargo.toml", "build.rs", "clippy.toml", ".clippy.toml", "rustfmt.toml", ".rustfmt.toml", "rust-toolchain",
	"rust-toolchain.toml",
	"nextest.toml", "Makefile.toml", "tarpaulin.toml", ".tarpaulin.toml", "deny.toml",
}

// IsGateFile reports whether a file configures a check. A runner in .cargo/config.toml can replace every
// test.
func (Ecosystem) IsGateFile(file string) bool {
	return ecosystem.HasName(file, gateFiles) ||
		ecosystem.LiesIn(file, ".cargo") && ecosystem.HasName(file, []string{"config", "config.toml"})
}
