package image

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/container/dockerapi"
	"company/internal/ecosystem"
	"company/internal/ecosystem/depproxy"
	"company/internal/ecosystem/ecosystemtest"
	"company/internal/lib/hosttest"

	cerrdefs "github.com/containerd/errdefs"
)

// newWheel is a package as PyPI has it.
func newWheel(t *testing.T, name, version, requires, code string) []byte {
	t.Helper()
	info := name + "-" + version + ".dist-info/"
	meta := "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n"
	if requires != "" {
		meta += "Requires-Dist: " + requires + "\n"
	}
	return ecosystemtest.Zip(t,
		[2]string{name + "/__init__.py", code}, [2]string{info + "METADATA", meta},
		[2]string{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		[2]string{info + "entry_points.txt", "[console_scripts]\n" + name + "-cli = " + name + ":main\n"},
		[2]string{info + "RECORD", ""},
	)
}

// newPyPI is a registry of the simple API.
func newPyPI(t *testing.T, files map[string][]byte) ecosystem.Endpoint {
	t.Helper()
	return ecosystem.Endpoint{URL: ecosystemtest.ServeWheels(t, files).URL + "/simple"}
}

// newCrates is a sparse index with crates of this code.
func newCrates(t *testing.T, all map[string]string) ecosystem.Endpoint {
	t.Helper()
	files := map[string][]byte{}
	for name, code := range all {
		files[name] = ecosystemtest.Crate(t, name, "1.0.0",
			[2]string{"Cargo.toml",
				fmt.Sprintf("[package]\nname = %q\nversion = \"1.0.0\"\nedition = \"2021\"\nbuild = \"build.rs\"\n", name)},
			[2]string{"src/lib.rs", code},
			[2]string{"build.rs", "fn main() { std::fs::write(\"/opt/out/canary\", \"x\").ok(); }\n"},
		)
	}
	return ecosystem.Endpoint{URL: ecosystemtest.ServeCrates(t, files).URL + "/index"}
}

func upstreams() depproxy.Upstreams {
	return depproxy.Upstreams{Registries: map[string]ecosystem.Upstream{}}
}

// ADP-2: pip's packages with what they need, in a locked container; modules in
// src are found.
func TestPip(t *testing.T) {
	hosttest.Long(t, "one of many kinds of images")
	be := newTestBuilder(t)
	up := upstreams()
	up.Registries[ecosystem.PyPI] = ecosystem.At(newPyPI(t, map[string][]byte{
		"alpha-1.0-py3-none-any.whl": newWheel(
			t, "alpha", "1.0", "beta>=1", "import beta\ndef main(): print('alpha says', beta.word)\n"),
		"beta-1.5-py3-none-any.whl": newWheel(t, "beta", "1.5", "", "word = 'hello'\n"),
		"beta-2.0-py3-none-any.whl": newWheel(t, "beta", "2.0", "", "word = 'too new'\n"),
	}))
	useRegistries(t, be, up, t.TempDir())
	repo := newProject(t).commit(map[string]string{
		"requirements.txt": "--index-url https://evil.example/simple\n-c pins/constraints.txt\nalpha==1.0 # why\n-e " +
			".\nhttps://evil.example/x.whl\n",
		"pins/constraints.txt": "beta==1.5\n",
		"pyproject.toml":       "[project]\nname = 'own'\nversion = '1'\ndependencies = ['alpha']\n",
		"src/own/__init__.py":  "import alpha\nanswer = 42\n",
		"tests/test_own.py":    "import own, alpha\ndef test_answer(): assert own.answer == 42\n",
	})
	img := be.mustEnsure(t, Request{Toolchains: []string{"python"}, Repo: repo})
	if got := strings.Join(img.Notes, "\n"); !strings.Contains(
		got, `"https://evil.example/x.whl" of requirements.txt is not installed`) || strings.Contains(got, "-e") {
		t.Errorf("notes %q", got)
	}
	out := be.runInTree(
		t, img, `python3 -m pytest -q 2>&1 | tail -1; alpha-cli; python -c 'import sys; print(sys.prefix)'; git status --porcelain`)
	if want := "1 passed"; !strings.Contains(out, want) || !strings.Contains(out, "alpha says hello\n/opt/venv\n") ||
		strings.Contains(out, "??") {
		t.Errorf("%q", out)
	}
}

// checksumOf is what an index says of a crate's one version.
func checksumOf(t *testing.T, up depproxy.Upstreams, name string) string {
	t.Helper()
	store, err := depproxy.Open(t.TempDir(), up)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	policy := depproxy.NewPolicy()
	policy.AllowWithNeeds(company.Dependency{Ecosystem: ecosystem.Crates, Name: name})
	srv := httptest.NewServer(store.NewPolicyHandler(policy))
	defer srv.Close()
	resp, err := srv.Client().Get(srv.URL + "/crates/" + name[:2] + "/" + name[2:4] + "/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var line struct{ Cksum string }
	if err := json.NewDecoder(resp.Body).Decode(&line); err != nil || line.Cksum == "" {
		t.Fatalf("no checksum of %s: %v", name, err)
	}
	return line.Cksum
}

// ADP-2: crates of a lock file, in a workspace; build scripts do not run in
// preparation, and do in the container.
func TestCargo(t *testing.T) {
	hosttest.Long(t, "one of many kinds of images")
	be := newTestBuilder(t)
	up := upstreams()
	up.Registries[ecosystem.Crates] = ecosystem.At(newCrates(t, map[string]string{"tiny": "pub fn one() -> i32 { 1 }\n"}))
	useRegistries(t, be, up, t.TempDir())
	files := map[string]string{
		"Cargo.toml": "[workspace]\nmembers = [\"app\"]\nresolver = \"2\"\n",
		"app/Cargo.toml": "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\ntiny = " +
			"\"1\"\n",
		"app/src/main.rs": "fn main() { println!(\"{}\", tiny::one()); }\n#[test]\nfn adds() { assert_eq!(tiny::one() + " +
			"1, 2); }\n",
		".gitignore":        "target\n",
		"rust-toolchain":    "stable\n",
		"docs/Cargo.toml":   "not a manifest",
		"app/build data.rs": "",
	}
	sum := checksumOf(t, up, "tiny")
	files["Cargo.lock"] = "# This file is automatically @generated by Cargo.\n# It is not intended for manual " +
		"editing.\nversion = 4\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\ndependencies = [\n \"tiny\",\n]\n\n" +
		"[[package]]\nname = \"tiny\"\nversion = \"1.0.0\"\nsource = " +
		"\"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"" + sum + "\"\n"
	img := be.mustEnsure(t, Request{Toolchains: []string{"rust"}, Repo: newProject(t).commit(files)})
	out := be.runInTree(
		t, img, `cargo test --locked 2>&1 | grep 'test result' | head -1; cargo run -q; git status --porcelain; ls /opt/deps/crates; ls /opt/out 2>&1 || true`)
	if !strings.Contains(out, "1 passed; 0 failed") || !strings.Contains(out, "\n1\ntiny-1.0.0\n") ||
		strings.Contains(out, "canary") {
		t.Errorf("%q", out)
	}
}

// tinyLock locks one package that only a registry of the test's could have.
const tinyLock = `{"name":"x","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"x","version":"1.0.0","dependencies":{"tiny":"1.0.0"}},` +
	`"node_modules/tiny":{"version":"1.0.0","resolved":"https://registry.npmjs.org/tiny/-/tiny-1.0.0.tgz","integrity":"sha512-AAAA"}}}`

func tinyProject(t *testing.T) *Repo {
	return newProject(t).commit(
		map[string]string{"package.json": `{"name":"x","version":"1.0.0","dependencies":{"tiny":"1.0.0"}}`,
			"package-lock.json": tinyLock})
}

// A registry that fails is an error with its reason; one that does not answer
// is given up with the call, and container, files and connections with it.
func TestRegistryUnreachable(t *testing.T) {
	t.Parallel()
	t.Run("fails", func(t *testing.T) {
		hosttest.Long(t, "TestRegistryFailureScreens has failures, this one in an image")
		be := newRacedBuilder(t)
		srv := httptest.NewServer(
			http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusTeapot) }))
		t.Cleanup(srv.Close)
		up := upstreams()
		up.Registries[ecosystem.NPM] = ecosystem.At(ecosystem.Endpoint{URL: srv.URL})
		useRegistries(t, be, up, t.TempDir())
		req := Request{Toolchains: []string{"node"}, Repo: tinyProject(t)}
		be.dropAtEnd(t, req, newBuiltBase())
		_, err := be.Ensure(newContext(t), req)
		requireCode(t, err, company.EImage, "package-lock.json cannot be installed", "registry")
	})
	t.Run("hangs", func(t *testing.T) {
		be := newRacedBuilder(t)
		asked := make(chan struct{}, 100)
		ctx, cancel := context.WithCancel(newContext(t))
		defer cancel()
		srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
			asked <- struct{}{}
			select {
			case <-ctx.Done():
			case <-q.Context().Done():
			}
		}))
		t.Cleanup(srv.Close)
		up := upstreams()
		up.Registries[ecosystem.NPM] = ecosystem.At(ecosystem.Endpoint{URL: srv.URL})
		useRegistries(t, be, up, t.TempDir())
		req := Request{Toolchains: []string{"node"}, Repo: tinyProject(t)}
		be.dropAtEnd(t, req, newBuiltBase())
		done := make(chan error, 1)
		go func() {
			_, err := be.Ensure(ctx, req)
			done <- err
		}()
		select {
		case <-asked:
		case err := <-done:
			t.Fatalf("ended early: %v", err)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		for _, s := range be.ownLayers(t, req, newBuiltBase()) {
			if s.kind != "npm" {
				continue
			}
			if _, err := be.unguarded.ContainerInspect(
				context.Background(), dockerapi.BuildPrefix+"npm-"+s.uniqueName()); !cerrdefs.IsNotFound(err) {
				t.Errorf("the build container is still there: %v", err)
			}
			if _, err := os.Stat(filepath.Join(be.dir, "tmp", s.uniqueName())); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("temporary files are still there: %v", err)
			}
		}
	})
}

// Workspaces that need nothing of a registry are linked, with container.deps
// off as well.
func TestWorkspacesWithoutRegistry(t *testing.T) {
	hosttest.Long(t, "one of many kinds of images")
	be := newTestBuilder(t)
	img := be.mustEnsure(
		t, Request{Toolchains: []string{"node"}, Offline: true, Repo: newProject(t).commit(map[string]string{
			"package.json":     `{"name":"x","version":"1.0.0","workspaces":["w w"]}`,
			"w w/package.json": `{"name":"w","version":"1.0.0","main":"w.js"}`, "w w/w.js": "console.log('hello from w')\n",
			"package-lock.json": `{"name":"x","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"x","version":"1.0.0","workspaces":["w w"]},` +
				`"node_modules/w":{"resolved":"w w","link":true},"w w":{"name":"w","version":"1.0.0"}}}`,
		})})
	if out := be.runInTree(t, img, `node -e "require('w')"; git status --porcelain`); out != "hello from w\n" {
		t.Errorf("%q", out)
	}
}

// The errors of a registry advise container.deps: off. Who follows that has an
// image in which the gates start: what needs no package is tested, and the note
// says what is missing.
func TestGatesStartWithoutDeps(t *testing.T) {
	hosttest.Long(t, "TestWorkspacesWithoutRegistry has no packages, too")
	be := newTestBuilder(t)
	up := upstreams()
	up.Registries[ecosystem.PyPI] = ecosystem.At(ecosystem.Endpoint{URL: "http://127.0.0.1:1/simple"}) // nobody is there
	useRegistries(t, be, up, t.TempDir())
	repo := newProject(t).commit(map[string]string{
		"requirements.txt": "requests==2.32.0\n", "own.py": "answer = 42\n",
		"test_own.py": "import own\ndef test_answer(): assert own.answer == 42\n",
		"test_web.py": "import requests\ndef test_web(): pass\n",
	})
	req := Request{Toolchains: []string{"python"}, Repo: repo}
	be.dropAtEnd(t, req, newBuiltBase())
	_, err := be.Ensure(newContext(t), req)
	var e *company.Error
	if !errors.As(err, &e) || !strings.Contains(e.Hint, "deps.without: [pypi]") {
		t.Fatalf("no such advice: %v", err)
	}
	if e.Class != company.HumanRequired {
		t.Error("a registry that is away is not asked about at once")
	}
	// With the line of the advice Debian's packages stand for those of PyPI.
	req.Without = []string{ecosystem.PyPI}
	be.dropAtEnd(t, req, newBuiltBase())
	if out := be.runInTree(t, be.mustEnsure(t, req), `python3 -m pytest -q | tail -1`); !strings.Contains(
		out, "2 passed") {
		t.Errorf("%q", out)
	}
	req.Without, req.Offline = nil, true
	img := be.mustEnsure(t, req)
	if got := strings.Join(img.Notes, "\n"); got != "requirements.txt is not installed: container.deps is off" {
		t.Errorf("notes %q", got)
	}
	out := be.runInTree(
		t, img, `pytest --version && python3 -m pytest --version; python3 -m pytest -q test_own.py | tail -1; python3 -m pytest -q 2>&1 | grep "No module named" | head -1`)
	if !strings.Contains(out, "1 passed") || !strings.Contains(out, "No module named 'requests'") ||
		strings.Contains(out, "not found") {
		t.Errorf("%q", out)
	}
}
