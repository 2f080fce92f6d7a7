package rust

import (
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// What cargo is shown of a project: manifests and lock files, and of its sources
// the names; what has its crates elsewhere is left out.
func TestWhatCargoIsShown(t *testing.T) {
	const crate = "[[package]]\nname = 'a'\nversion = '1.0.0'\nsource = 'registry+https://x'\n"
	s := &ecosystemtest.Sources{Texts: map[string]string{
		"Cargo.toml": "[workspace]\n", "Cargo.lock": crate, "src/main.rs": "fn main() {}", "tools/Cargo.toml": "[package]\n", "tools/Cargo.lock": crate,
		"vendored/Cargo.toml": "", "vendored/Cargo.lock": crate, "vendored/.cargo/config.toml": "replace-with = 'vendor'\n", "own/Cargo.toml": "", "own/Cargo.lock": "[[package]]\nname = 'own'\n",
		"git/Cargo.toml": "", "git/Cargo.lock": "[[package]]\nname = 'g'\nsource = 'git+https://x/g'\n", "lonely/Cargo.lock": crate, "bad dir;x/Cargo.toml": "", "bad dir;x/Cargo.lock": crate,
	}}
	all, err := Ecosystem{}.Installs(s)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d layers, %v", len(all), err)
	}
	in := all[0]
	if in.What != "Cargo.lock, tools/Cargo.lock" || !strings.Contains(in.Steps[0].Command, "--manifest-path src/Cargo.toml --sync src/tools/Cargo.toml crates ") {
		t.Errorf("%s by %s", in.What, in.Steps[0].Command)
	}
	for _, f := range in.Stage {
		if strings.HasSuffix(f.Path, ".rs") && len(f.Text) > 0 {
			t.Errorf("%s has a text", f.Path)
		}
	}
	if len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "git/Cargo.lock names g of a git repository") {
		t.Errorf("notes %q", s.Notes)
	}
}
