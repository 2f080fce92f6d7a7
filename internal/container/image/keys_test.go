package image

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/ecosystem/depproxy"
	"company/internal/lib/secret"
	"company/internal/toolbox/toolproto"
)

var updateKeys = flag.Bool("update-keys", false,
	"write the keys of layers into testdata: every office makes these layers again")

// everyLock is a project in which each ecosystem finds what it prepares.
var everyLock = map[string]string{
	"README": "hello\n",
	"go.mod": pflagMod, "go.sum": pflagSum, "main.go": pflagTool, "tools/go.mod": "module t\n\ngo 1.24\n",
	"testdata/go.mod":   "module d\n",
	"package.json":      `{"name":"x","version":"1.0.0","scripts":{"test":"true"},"dependencies":{"tiny":"1.0.0"}}`,
	"package-lock.json": tinyLock, ".npmrc": "legacy-peer-deps=true\n//x/:_authToken=y\n",
	"p/package.json":        `{"name":"p","version":"1.0.0","packageManager":"pnpm@10.0.0","dependencies":{"tiny":"1.0.0"}}`,
	"p/pnpm-workspace.yaml": "packages:\n  - a\nonlyBuiltDependencies:\n  - b\n",
	"p/pnpm-lock.yaml": "lockfileVersion: '9.0'\nimporters:\n  .:\n    dependencies:\n      tiny:\n        " +
		"specifier: 1.0.0\n        version: 1.0.0\npackages:\n  tiny@1.0.0:\n    resolution: {integrity: " +
		"sha512-AAAA}\nsnapshots:\n  tiny@1.0.0: {}\n",
	"requirements.txt":     "-c pins/constraints.txt\nalpha==1.0 # why\nbeta>=1 --hash=sha256:00\n-e .\n",
	"pins/constraints.txt": "gamma==1.5\n", "requirements/dev.txt": "delta\n",
	"pyproject.toml": "[project]\nname = 'own'\ndependencies = ['alpha', " +
		"'epsilon>2']\n[dependency-groups]\ndev=['zeta']\n", "poetry.lock": "[[package]]\nname='eta'\nversion='1.2'\n",
	"src/own/__init__.py": "",
	"lib/pyproject.toml":  "[tool.poetry.dependencies]\ntheta='^1'\n", "lib/src/lib/__init__.py": "",
	"Cargo.toml": "[workspace]\nmembers = [\"app\"]\n", "app/Cargo.toml": "[package]\nname = \"app\"\n",
	"app/src/main.rs": "fn main() {}\n",
	"Cargo.lock": "version = 4\n\n[[package]]\nname = \"tiny\"\nversion = \"1.0.0\"\nsource = " +
		"\"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"00\"\n",
}

// keyCases are requests whose layers' keys depend on no place of this host.
var keyCases = []struct {
	name       string
	toolchains []string
	base       string
	logins     bool // some registry needs a login
}{
	{"go", []string{"go"}, "", false},
	{"cgo", []string{"go", "cgo"}, "", false},
	{"go with logins", []string{"go"}, "", true},
	{"node", []string{"node"}, "", false},
	{"pnpm", []string{"node", "pnpm"}, "", false},
	{"python", []string{"python"}, "", false},
	{"rust", []string{"rust"}, "", false},
	{"c", []string{"make", "c"}, "", false},
	{"all but go", []string{"c", "make", "rust", "python", "pnpm", "node"}, "", false},
	{"with logins", []string{"node", "pnpm", "python", "rust"}, "", true},
	{"pulled", []string{"node", "python", "rust", "make", "cgo"},
		"registry.example/x@sha256:" + strings.Repeat("0", 64), false},
}

// A layer that lies on a user's machine is found again: equal inputs keep their
// key from one version of the program to the next. A change of the file below
// testdata has every office make layers again, and a line in the change log.
func TestKeysStay(t *testing.T) {
	t.Setenv("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
	t.Setenv("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z")
	repo := newProject(t).commit(everyLock)
	var got strings.Builder
	for _, c := range keyCases {
		steps := planWithFakeTrees(
			t, Request{Base: c.base, Toolchains: c.toolchains, Repo: repo, Setup: []string{"true"},
				SetupEnv: map[string]secret.Value{"TOKEN": secret.New("long enough")}}, c.logins)
		fmt.Fprintf(&got, "%s\n", c.name)
		for i, s := range steps {
			if s.kind == "godeps" {
				if want := hashKey("godeps", string(steps[i-1].key), "go.mod", blobOf(t, repo, "go.mod"), "go.sum",
					blobOf(t, repo, "go.sum"), "testdata/go.mod", blobOf(t, repo, "testdata/go.mod"), "tools/go.mod",
					blobOf(t, repo, "tools/go.mod"), toolproto.Workspace, "mirror"); s.key != want {
					t.Errorf("%s: godeps has the key %s, want %s", c.name, s.key, want)
				}
			}
			fmt.Fprintf(&got, "  %s %s\n", s.kind, s.key)
		}
	}
	file := filepath.Join("testdata", "keys-"+arch+".txt")
	if *updateKeys {
		writeTo(t, file, got.String())
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	now, was := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(now), len(was)) {
		if now[i] != was[i] {
			t.Fatalf("line %d of the keys is %q, and %q in %s", i+1, now[i], was[i], file)
		}
	}
	if len(now) != len(was) {
		t.Errorf("the keys have %d lines, and %s has %d", len(now), file, len(was))
	}
}

// TestKeysOfAnotherPlace: the layers of a project have one key wherever its mirror lies, and
// those of another project with the same files have their own where they are made of its tree.
func TestKeysOfAnotherPlace(t *testing.T) {
	plan := func(at string, login bool) map[string]string {
		p := newProject(t)
		from := p.bare
		p.bare = filepath.Join(t.TempDir(), at)
		if err := os.Rename(from, p.bare); err != nil {
			t.Fatal(err)
		}
		keys := map[string]string{}
		for _, s := range planWithFakeTrees(
			t, Request{Toolchains: []string{"go"}, Repo: p.commit(everyLock), UseLogins: login}, login) {
			keys[s.kind] = string(s.key)
		}
		return keys
	}
	for _, login := range []bool{false, true} {
		here, there, other := plan("greet-0a.git", login), plan("greet-0a.git", login), plan("leave-1b.git", login)
		if here["godeps"] == "" || here["godeps"] != there["godeps"] || here["godeps"] == other["godeps"] {
			t.Errorf("with logins %v: godeps has the keys %s and %s, of another project %s", login, here["godeps"],
				there["godeps"], other["godeps"])
		}
	}
}

func blobOf(t *testing.T, repo *Repo, name string) string {
	out, err := runGit(t.Context(), repo.MirrorDir, "", "rev-parse", string(repo.Commit)+":"+name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// planWithFakeTrees plans on toolchains that lie on no host.
func planWithFakeTrees(t *testing.T, req Request, logins bool) []layerStep {
	t.Helper()
	b, err := New(
		Config{CacheDir: t.TempDir(), Toolbox: func(string) ([]byte, error) { return []byte("the toolbox"), nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	fakeTrees(b)
	store, err := depproxy.Open(t.TempDir(), upstreams())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	if b.registries = store; logins {
		b.withLogins = store
	}
	base, err := b.findBase(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	steps, _, err := b.planLayers(t.Context(), req, base)
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

// fakeTrees gives a builder toolchains to plan with.
func fakeTrees(b *Builder) {
	for name, tree := range map[string]hostTree{
		"go":   {dir: "/go", version: "go1.26.8", keyInputs: []string{"go1.26.8", "1", "2"}},
		"node": {dir: "/node", version: "22.0.0", keyInputs: []string{"22.0.0", "3", "4"}},
		"rust": {dir: "/rust", version: "1.90.0", keyInputs: []string{"1.90.0", "5", "6"}},
	} {
		for _, t := range toolchains() {
			if t.Name == name {
				tree.Toolchain = t
			}
		}
		b.trees[name].Do(func() { b.trees[name].tree = tree })
	}
}
