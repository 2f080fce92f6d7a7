package rust

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
	"company/internal/lib/hosttest"
)

func manifestOf(name, more string) string {
	return "[package]\nname = \"" + name + "\"\nversion = \"0.1.0\"\nedition = \"2021\"\n" + more
}

// shop is a workspace in a folder: order is built from price, and mail's build script from
// order; style's tests use mail, and a ring of tests joins left and right; peek reads a
// source of mail by its path, and tells tests of its own from that.
var shop = map[string]string{
	"Cargo.toml": "[workspace]\nresolver = \"2\"\nmembers = [\"crates/*\"]\nexclude = " +
		"[\"fuzz\"]\n\n[workspace.dependencies]\nprice = { path = \"crates/price\" }\n",
	"README.md":        "shop\n",
	"fuzz/Cargo.toml":  "[package]\nname = \"fuzz\"\nversion = \"0.1.0\"\n\n[workspace]\n",
	"fuzz/src/main.rs": "fn main() {}\n",

	"crates/price/Cargo.toml": manifestOf("price", ""), "crates/price/src/lib.rs": "pub fn of(n: u32) -> u32 { 2 * n }\n",
	"crates/price/src/deep/inner.rs": "", "crates/price/tests/it.rs": "#[test] fn it() {}\n",
	"crates/order/Cargo.toml": manifestOf("order", "\n[dependencies]\nprice.workspace = true\n"),
	"crates/order/src/lib.rs": "", "crates/order/tests/it.rs": "#[test] fn it() {}\n", "crates/order/NOTES.md": "",
	"crates/mail/Cargo.toml": manifestOf(
		"mail", "build = \"make/it.rs\"\n\n[build-dependencies]\norder = { path = \"../order\" }\n"),
	"crates/mail/make/it.rs": "fn main() {}\n", "crates/mail/src/lib.rs": "", "crates/mail/build.rs": "",
	"crates/style/Cargo.toml": manifestOf(
		"a-style", "\n[target.'cfg(unix)'.dev-dependencies]\npost = { path = \"../mail\", package = \"mail\" }\n"),
	"crates/style/src/lib.rs": "",
	"crates/above/Cargo.toml": manifestOf(
		"above", "\n[dependencies]\na-style = { path = \"../style\", optional = true }\n"),
	"crates/above/src/main.rs": "fn main() {}\n",
	"crates/left/Cargo.toml":   manifestOf("left", "\n[dev-dependencies]\nright = { path = \"../right\" }\n"),
	"crates/left/src/lib.rs":   "",
	"crates/right/Cargo.toml":  manifestOf("right", "\n[dependencies]\nleft = { path = \"../left\" }\n"),
	"crates/right/src/lib.rs":  "",
	"crates/peek/Cargo.toml":   manifestOf("peek", ""),
	"crates/peek/src/lib.rs": "#[doc = include_str!(\"../../../GUIDE.md\")]\npub const A: &str = include_str!(\n    " +
		"\"../../order/tests/it.rs\");\n",
}

func workspaceGate(t *testing.T, dir string) company.GateCommand {
	t.Helper()
	files := map[string]string{}
	for name, text := range shop {
		files[filepath.Join(dir, name)] = text
	}
	found := Ecosystem{}.Detect(ecosystemtest.Tree(files), nil)
	i := slices.IndexFunc(found, func(c ecosystem.Component) bool { return c.Dir == dir })
	if i < 0 {
		t.Fatalf("%+v", found)
	}
	g := *found[i].Test
	g.Dir = dir
	return g
}

// listShop prints what a gate lists of a workspace that lies in the folder srv.
func listShop(t *testing.T, gate company.GateCommand, changes map[string]string, links ...string) string {
	t.Helper()
	if _, err := exec.LookPath("cargo"); err != nil {
		hosttest.Lacks(t, "no cargo: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "srv")
	files := maps.Clone(shop)
	maps.Copy(files, changes)
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; i+1 < len(links); i += 2 {
		if err := os.Symlink(links[i], filepath.Join(dir, links[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", Ecosystem{}.ListCommand(gate, nil))
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PWD="+dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// A change reaches the crates that it touches, those that are built from them, and those
// whose tests are. What belongs to no crate leaves open what it reaches.
func TestPartOfAChange(t *testing.T) {
	t.Parallel()
	gate := workspaceGate(t, "srv")
	out := listShop(t, gate, nil)
	for name, c := range map[string]struct {
		changed string
		want    string // crates; empty: they are not known
	}{
		"what others are built from":     {"srv/crates/price/src/lib.rs", "a-style mail order price"},
		"a file below":                   {"srv/crates/price/src/deep/inner.rs", "a-style mail order price"},
		"by a build script, and tests":   {"srv/crates/order/src/lib.rs", "a-style mail order peek"},
		"what tests use":                 {"srv/crates/mail/src/lib.rs", "a-style mail"},
		"an optional dependency":         {"srv/crates/style/src/lib.rs", "a-style above"},
		"one that no other uses":         {"srv/crates/above/src/main.rs", "above"},
		"a ring by tests":                {"srv/crates/left/src/lib.rs", "left right"},
		"the other side of the ring":     {"srv/crates/right/src/lib.rs", "left right"},
		"tests alone":                    {"srv/crates/price/tests/it.rs", "price"},
		"tests that are deleted":         {"srv/crates/price/tests/gone.rs", "price"},
		"a source that is deleted":       {"srv/crates/style/src/gone.rs", "a-style above"},
		"a renamed source":               {"srv/crates/left/src/old.rs srv/crates/above/src/new.rs", "above left right"},
		"tests that another crate reads": {"srv/crates/order/tests/it.rs", "order peek"},
		"tests beside a build script":    {"srv/crates/mail/tests/it.rs", "a-style mail"},
		"text for people beside it":      {"srv/crates/above/src/main.rs srv/README.md docs/x.md", "above"},
		"text of a crate":                {"srv/crates/order/NOTES.md", "a-style mail order peek"},
		"text that a source names":       {"srv/crates/above/src/main.rs srv/GUIDE.md", ""},
		"a build script":                 {"srv/crates/mail/make/it.rs", ""},
		"one by its name":                {"srv/crates/mail/build.rs", ""},
		"a manifest":                     {"srv/crates/above/Cargo.toml", ""},
		"the lock file":                  {"srv/crates/above/src/main.rs srv/Cargo.lock", ""},
		"what a test reads":              {"srv/crates/above/tests/data.json", ""},
		"a snapshot":                     {"srv/crates/above/src/snapshots/above__it.snap", ""},
		"settings of cargo":              {"srv/.cargo/config.toml", ""},
		"the toolchain":                  {"srv/rust-toolchain.toml", ""},
		"a crate beside the workspace":   {"srv/fuzz/src/main.rs", ""},
		"source that no crate has":       {"srv/shared/x.rs", ""},
		"another part of the project":    {"web/web.ts", ""},
		"Rust of another part":           {"tools/x.rs", ""},
		"text alone":                     {"srv/README.md", ""},
		"no change":                      {"", ""},
	} {
		part, ok := Ecosystem{}.FindPart(gate, strings.Fields(c.changed), out)
		got := strings.ReplaceAll(strings.Join(part.Names, " "), "@0.1.0", "")
		if ok != (c.want != "") || ok && (got != c.want || part.Of != 8 || part.Unit != "crate") {
			t.Errorf("%s: %q of %d, %v; want %q of 8", name, got, part.Of, ok, c.want)
		}
	}
}

// The tests of a part are those of its crates, by the names of their binaries; those that no
// crate has any more count, and those of a name that another crate has do not.
func TestTestsOfAPart(t *testing.T) {
	t.Parallel()
	gate := workspaceGate(t, "srv")
	part, ok := Ecosystem{}.FindPart(gate, []string{"srv/crates/style/src/lib.rs"}, listShop(t, gate, nil))
	if !ok {
		t.Fatal("no part")
	}
	for test, want := range map[string]bool{
		"a_style src/lib.rs t::it": true, "above src/main.rs t::it": true, "a_style crates/style/src/lib.rs - f": true,
		"gone tests/gone.rs it":  true,
		"price src/lib.rs t::it": false, "price crates/price/src/lib.rs - of": false, "it tests/it.rs it": false,
	} {
		if got := part.Has(test); got != want {
			t.Errorf("%s: %v", test, got)
		}
	}
	part, _ = Ecosystem{}.FindPart(gate, []string{"srv/crates/price/tests/it.rs"}, listShop(t, gate, nil))
	if part.Has("it tests/it.rs it") || !part.Has("price src/lib.rs t::it") {
		t.Error("order has a binary of the same name, and is not run")
	}
}

// Where cargo's list does not tell what a crate is built from, all is run.
func TestNoPart(t *testing.T) {
	t.Parallel()
	gate := workspaceGate(t, "srv")
	for name, c := range map[string]struct {
		files map[string]string
		links []string
	}{
		"a patch": {files: map[string]string{
			"Cargo.toml": shop["Cargo.toml"] + "\n[patch.crates-io]\nserde = { path = \"crates/price\" }\n"}},
		"crates that stand in": {files: map[string]string{".cargo/config.toml": "paths = [\"/x\"]\n"}},
		"a path to no member": {files: map[string]string{
			"crates/above/Cargo.toml": manifestOf("above", "\n[dependencies]\nfuzz = { path = \"../../fuzz\" }\n")}},
		"a source of another crate": {files: map[string]string{
			"crates/above/Cargo.toml": manifestOf("above", "\n[[bin]]\nname = \"two\"\npath = \"../price/src/two.rs\"\n"),
			"crates/price/src/two.rs": "fn main() {}\n"}},
		"a source that is a link": {links: []string{"../../price/src/lib.rs", "crates/left/src/shared.rs"}},
		"a folder that is a link": {links: []string{"../../price/src", "crates/left/src/shared"}},
		"a crate through a link": {links: []string{"../fuzz", "crates/zeta"},
			files: map[string]string{"fuzz/Cargo.toml": manifestOf("zeta", "")}},
	} {
		if part, ok := (Ecosystem{}).FindPart(
			gate, []string{"srv/crates/above/src/main.rs"}, listShop(t, gate, c.files, c.links...)); ok {
			t.Errorf("%s: %q", name, part.Names)
		}
	}
	for _, out := range []string{"", "\n", "/srv\n{}\n", "/srv\n[]\n",
		"/srv\n{\"workspace_root\":\"/srv\",\"packages\":[{}]}\n",
		"/srv\n{\"workspace_root\":\"/else\",\"packages\":[{\"name\":\"a\",\"version\":\"1\",\"manifest_path\":\"/srv/Cargo.toml\"}]}\nmanifest ./Cargo.toml\n"} {
		if part, ok := (Ecosystem{}).FindPart(gate, []string{"srv/src/lib.rs"}, out); ok {
			t.Errorf("%q: %v", out, part)
		}
	}
	for _, g := range []company.GateCommand{{Command: "cargo test --workspace"},
		*Ecosystem{}.Detect(ecosystemtest.Tree(map[string]string{"Cargo.toml": "[package]\n"}), nil)[0].Test} {
		if got := (Ecosystem{}).ListCommand(g, nil); got != "" {
			t.Errorf("%s: %s", g.Command, got)
		}
	}
}

// The rest of a gate's command stays; one of no crates fails.
func TestPartCommand(t *testing.T) {
	t.Parallel()
	gate := workspaceGate(t, "")
	if got, want := (Ecosystem{}).PartCommand(gate, []string{"a@1.0.0", "it's@1.0.0+x"}),
		`cargo test --offline --no-fail-fast -p a@1.0.0 -p 'it'\''s@1.0.0+x' 2>&1`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := (Ecosystem{}).PartCommand(gate, nil); got != "exit 1" {
		t.Errorf("without crates: %s", got)
	}
}
