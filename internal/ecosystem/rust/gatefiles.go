package rust

import (
	"path"
	"slices"
)

// gateFiles configure cargo and clippy, or run before the tests.
var gateFiles = []string{"Cargo.toml", "build.rs", "clippy.toml", ".clippy.toml", "rust-toolchain", "rust-toolchain.toml"}

// IsGateFile says whether a file configures a check: a runner in .cargo/config.toml
// can stand for every test.
func (Ecosystem) IsGateFile(file string) bool {
	dir, name := path.Split(file)
	return slices.Contains(gateFiles, name) || path.Base(dir) == ".cargo" && (name == "config" || name == "config.toml")
}
