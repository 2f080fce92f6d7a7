package rust

import (
	"fmt"
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// What cargo is shown of a project: manifests and lock files, and of its sources
// the names; what has its crates elsewhere is left out.
func TestWhatCargoIsShown(t *testing.T) {
	const crate = "[[package]]\nname = 'a'\nversion = '1.0.0'\nsource = " +
		"'registry+https://github.com/rust-lang/crates.io-index'\n" +
		"[[package]]\nname = 'of-ours'\nversion = '1.0.0'\nsource = 'registry+https://crates.corp/index'\n"
	s := &ecosystemtest.Sources{Texts: map[string]string{
		"Cargo.toml": "[workspace]\n", "Cargo.lock": crate, "src/main.rs": "fn main() {}", "tools/Cargo.toml": "[package]\n",
		"tools/Cargo.lock":    crate,
		"vendored/Cargo.toml": "", "vendored/Cargo.lock": crate, "vendored/.cargo/config.toml": "replace-with = 'vendor'\n",
		"own/Cargo.toml": "", "own/Cargo.lock": "[[package]]\nname = 'own'\n",
		"git/Cargo.toml": "", "git/Cargo.lock": "[[package]]\nname = 'g'\nsource = 'git+https://x/g'\n",
		"lonely/Cargo.lock": crate, "bad dir;x/Cargo.toml": "", "bad dir;x/Cargo.lock": crate,
	}}
	all, err := Ecosystem{}.Installs(s)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d layers, %v", len(all), err)
	}
	in := all[0]
	if got := fmt.Sprint(in.Ahead); got != "[crates a@1.0.0 crates a@1.0.0]" {
		t.Errorf("fetched ahead: %s", got)
	}
	if in.What != "Cargo.lock, tools/Cargo.lock" ||
		!strings.Contains(in.Steps[0].Command, "--manifest-path src/Cargo.toml --sync src/tools/Cargo.toml crates ") {
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

// Lock files are made for the roots of workspaces and for crates of their own; what
// wants none, or has its crates along, is left alone.
func TestProjectsWithoutALockFile(t *testing.T) {
	files := map[string]string{
		"Cargo.toml":     "[workspace]\nmembers = ['app']\n[workspace.dependencies]\nserde = '1'\n",
		"app/Cargo.toml": "[package]\nname = 'app'\n[dependencies]\nserde.workspace = true\n",
		"fuzz/Cargo.toml": "[package]\nname = 'f'\n[workspace]\n[target.'cfg(unix)'.dependencies]\nzed = { package = " +
			"'arbitrary', version = '1' }\n",
		"plain/Cargo.toml":   "[workspace]\n[features]\nx = []\n",
		"git/Cargo.toml":     "[workspace]\n[dependencies]\ng = { git = 'https://x/g' }\n",
		"kept/Cargo.toml":    "[workspace]\n[build-dependencies]\ncc = '1'\n",
		"kept/.cargo/config": "replace-with = 'vendor'\n",
		"odd/Cargo.toml":     "[workspace]\n[dependencies\n", "locked/Cargo.toml": "[workspace]\n[dependencies]\na = '1'\n",
		"locked/Cargo.lock": "", "src/main.rs": "fn main() {}",
	}
	s := &ecosystemtest.Sources{Texts: files}
	all, err := Ecosystem{}.Resolutions(s)
	if err != nil {
		t.Fatal(err)
	}
	var made []string
	for _, r := range all {
		made = append(made, r.Lock)
		if got := fmt.Sprint(r.Wants); got != "[crates serde crates arbitrary crates cc crates a]" {
			t.Errorf("%s may have %s", r.Lock, got)
		}
		for _, f := range r.Stage {
			if strings.HasSuffix(f.Path, ".rs") && len(f.Text) > 0 {
				t.Errorf("%s has a text", f.Path)
			}
		}
	}
	if got := strings.Join(made, " "); got != "Cargo.lock fuzz/Cargo.lock odd/Cargo.lock" {
		t.Errorf("lock files are made: %q", got)
	}
	if _, err := (Ecosystem{}).Installs(s); err != nil || len(s.Notes) != 4 ||
		!strings.Contains(strings.Join(s.Notes, "\n"), "git/Cargo.toml names g of a git repository") ||
		!strings.HasPrefix(s.Notes[0], "Cargo.toml has no Cargo.lock: each task resolves it again") {
		t.Errorf("notes %q, %v", s.Notes, err)
	}
	off := &ecosystemtest.Sources{Texts: map[string]string{"Cargo.toml": "[dependencies]\na = '1'\n"}, Offline: true}
	if _, err := (Ecosystem{}).Installs(off); err != nil || len(off.Notes) != 1 ||
		!strings.HasSuffix(off.Notes[0], "container.deps is off") {
		t.Errorf("offline: %q, %v", off.Notes, err)
	}
}

// A lock file that was made for the task comes into each tree; one of the repository's
// own lies there.
func TestMadeLockFiles(t *testing.T) {
	const crate = "[[package]]\nname = 'a'\nversion = '1.0.0'\nsource = 'registry+https://x'\n"
	base := &ecosystemtest.Sources{
		Texts: map[string]string{"Cargo.toml": "", "sub/Cargo.toml": "", "sub/Cargo.lock": crate}}
	s := &ecosystemtest.Sources{Texts: map[string]string{"Cargo.toml": "", "Cargo.lock": crate, "sub/Cargo.toml": "",
		"sub/Cargo.lock": crate}, Before: base}
	all, err := Ecosystem{}.Installs(s)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d layers, %v", len(all), err)
	}
	files := map[string]string{}
	for _, f := range all[0].Collector().Files() {
		files[f.Path] = string(f.Text)
	}
	deps := s.Places().Deps
	if files[deps+"/cargo.locks"] != "Cargo.lock\n" || files[deps+"/cargo/Cargo.lock"] != crate ||
		files[deps+"/cargo/sub/Cargo.lock"] != "" {
		t.Errorf("%q", files)
	}
}

// A manifest names what it wants of the registry, by its real name.
func TestParseManifest(t *testing.T) {
	got := parseManifest(
		[]byte("[dependencies]\na = '1'\nb = { version = '2', path = '../b' }\nx = { version = '1', registry = 'ours' " +
			"}\n[target.x86_64-unknown-linux-gnu.build-dependencies]\nc = '1'\n[dev-dependencies]\na = '1'\n'../evil' = '1'\n"))
	if fmt.Sprint(got.wants) != "[a c]" || !got.paths || got.git != "" || got.broken {
		t.Errorf("%+v", got)
	}
}

// The crates that a project has along are no parts of it, wherever they lie.
func TestVendoredCratesAreNoParts(t *testing.T) {
	found := Ecosystem{}.Detect(
		ecosystemtest.Tree(
			map[string]string{"Cargo.toml": "[package]\n", "crates-of-others/x/Cargo.toml": "[package]\n",
				"crates-of-others/x/.cargo-checksum.json": "{}"}), nil)
	if len(found) != 1 || found[0].Dir != "" {
		t.Errorf("%+v", found)
	}
}
