package e2e

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/hosttest"
	"company/test/testenv"
)

// pypiServer is an index of the simple API with one module of each name, whose
// word is its name.
func pypiServer(t *testing.T, names ...string) *httptest.Server {
	t.Helper()
	wheels := map[string][]byte{}
	for _, name := range names {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		info := name + "-1.0.dist-info/"
		for _, f := range [][2]string{
			{name + ".py", "word = '" + name + "'\n"}, {info + "METADATA", "Metadata-Version: 2.1\nName: " + name + "\nVersion: 1.0\n"},
			{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}, {info + "RECORD", ""},
		} {
			w, err := z.Create(f[0])
			if err != nil {
				t.Fatal(err)
			}
			_, _ = w.Write([]byte(f[1]))
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		wheels[name+"-1.0-py3-none-any.whl"] = b.Bytes()
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		base := path.Base(r.URL.Path)
		if body, ok := wheels[base]; ok {
			_, _ = w.Write(body)
			return
		}
		file := base + "-1.0-py3-none-any.whl"
		body, ok := wheels[file]
		if !ok {
			http.NotFound(w, r)
			return
		}
		sum := sha256.Sum256(body)
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<a href="../../f/%s#sha256=%s">%s</a>`, file, hex.EncodeToString(sum[:]), file)
	}))
	t.Cleanup(srv.Close)
	return srv
}

// A Python project takes in a package: pip in the locked container, and in the
// gate's image afterwards.
func TestWorkerAddsAPythonPackage(t *testing.T) {
	t.Parallel()
	srv := pypiServer(t, "alphaword", "gammaword")
	check := "import unittest\nimport alphaword\n\nclass Words(unittest.TestCase):\n    def test_alpha(self):\n        self.assertEqual(alphaword.word, 'alphaword')\n"
	brain := &staff{
		manager: submitPlan([]m{ticket("Know another word", "Use gammaword in words.py, with a test.", "words.py", "test_more.py", "requirements.txt")}),
		worker: replyInSteps(
			call("run_command", m{"command": "python3 -m unittest -v; pip install gammaword==1.0"}),
			call("add_dependency", m{"ecosystem": "pypi", "name": "gammaword"}),
			call("run_command", m{"command": "pip install gammaword==1.0 && echo gammaword==1.0 >> requirements.txt"}),
			call("write_file", m{"path": "words.py", "content": "import gammaword\n\nword = gammaword.word\n"}),
			call("write_file", m{"path": "test_more.py", "content": "import unittest\nimport words\n\nclass More(unittest.TestCase):\n    def test_gamma(self):\n        self.assertEqual(words.word, 'gammaword')\n"}),
			call("run_command", m{"command": "python3 -m unittest -v"}),
			call("git_commit", m{"message": "Know another word"}),
			call("finish", m{"summary": "another word is known"}),
		),
	}
	h := testenv.New(t, brain, map[string]string{".gitignore": "__pycache__/\n", "requirements.txt": "alphaword==1.0\n", "test_words.py": check})
	h.Env = append(h.Env, "PIP_INDEX_URL="+srv.URL+"/simple", "PIP_CONFIG_FILE="+os.DevNull)
	h.Config("gates: {lint: none, test: python3 -m unittest -v}\n")
	if sum := waitForSummary(t, h.Start("submit", "know another word"), 0); sum.Result != "COMPLETE" {
		t.Fatalf("%+v", sum)
	}
	said := requestText(t, h, "t1-01.1", 8)
	for _, want := range []string{"Ran 1 test", "pypi gammaword@1.0 may be fetched now", "Successfully installed gammaword-1.0", "Ran 2 tests"} {
		if !strings.Contains(said, want) {
			t.Errorf("the worker was not told %q", want)
		}
	}
	runAndExpect(t, h, []string{"added:  pypi gammaword@1.0"}, "show", "t1")
	checkDelivered(t, h, 1, 1, 1)
}

// crateServer is a sparse index with crates that export their name.
func crateServer(t *testing.T, names ...string) *httptest.Server {
	t.Helper()
	files := map[string][]byte{}
	for _, name := range names {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		for _, f := range [][2]string{
			{"Cargo.toml", fmt.Sprintf("[package]\nname = %q\nversion = \"1.0.0\"\nedition = \"2018\"\n", name)},
			{"src/lib.rs", fmt.Sprintf("pub const WORD: &str = %q;\n", name)},
		} {
			if err := w.WriteHeader(&tar.Header{Name: name + "-1.0.0/" + f[0], Mode: 0o644, Size: int64(len(f[1]))}); err != nil {
				t.Fatal(err)
			}
			_, _ = w.Write([]byte(f[1]))
		}
		_, _ = w.Close(), z.Close()
		files[name] = b.Bytes()
	}
	var srv *httptest.Server
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := path.Base(r.URL.Path)
		body, ok := files[name]
		switch {
		case r.URL.Path == "/index/config.json":
			_, _ = fmt.Fprintf(w, `{"dl":"%s/files/{crate}"}`, srv.URL)
		case ok && strings.HasPrefix(r.URL.Path, "/files/"):
			_, _ = w.Write(body)
		case ok:
			sum := sha256.Sum256(body)
			_, _ = fmt.Fprintf(w, `{"name":%q,"vers":"1.0.0","deps":[],"cksum":%q,"features":{},"yanked":false}`+"\n", name, hex.EncodeToString(sum[:]))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	return srv
}

// A Rust project takes in a crate.
func TestWorkerAddsACrate(t *testing.T) {
	t.Parallel()
	// The tests' own HOME hides the toolchains that rustup keeps.
	rustup := os.Getenv("RUSTUP_HOME")
	if user, err := os.UserHomeDir(); err == nil && rustup == "" {
		rustup = filepath.Join(user, ".rustup")
	}
	version := exec.Command("cargo", "--version")
	version.Env = append(os.Environ(), "RUSTUP_HOME="+rustup)
	out, err := version.Output()
	var minor int
	if _, serr := fmt.Sscanf(string(out), "cargo 1.%d", &minor); err != nil || serr != nil || minor < 68 {
		hosttest.Lacks(t, "this host has no cargo of 1.68 or later to put into an image: %v %q", err, out)
	}
	srv := crateServer(t, "leftword", "rightword")
	brain := &staff{
		manager: submitPlan([]m{ticket("Know another word", "Export WORD of rightword, with a test.", "src/lib.rs", "Cargo.toml", "Cargo.lock")}),
		worker: replyInSteps(
			call("run_command", m{"command": "cargo add rightword@1.0.0"}),
			call("add_dependency", m{"ecosystem": "crates", "name": "rightword", "version": "1.0.0"}),
			call("run_command", m{"command": "cargo add rightword@1.0.0 && printf '%s\\n' 'pub use rightword::WORD;' '#[test]' 'fn right() { assert_eq!(WORD, \"rightword\"); }' >> src/lib.rs && cargo test 2>&1"}),
			call("git_commit", m{"message": "Know another word"}),
			call("finish", m{"summary": "another word is known"}),
		),
	}
	h := testenv.New(t, brain, map[string]string{
		".gitignore": "target/\n", "Cargo.toml": "[package]\nname = \"words\"\nversion = \"0.1.0\"\nedition = \"2018\"\n[dependencies]\n", "src/lib.rs": "#[test]\nfn one() {}\n",
		"Cargo.lock": "version = 3\n\n[[package]]\nname = \"words\"\nversion = \"0.1.0\"\n",
	})
	home := filepath.Join(h.Dir, "cargo")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte("[source.crates-io]\nreplace-with = \"here\"\n[source.here]\nregistry = \"sparse+"+srv.URL+"/index/\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.Env = append(h.Env, "CARGO_HOME="+home, "RUSTUP_HOME="+rustup)
	h.Config("gates: {lint: none, test: cargo test --offline}\n")
	if sum := waitForSummary(t, h.Start("submit", "know another word"), 0); sum.Result != "COMPLETE" {
		t.Fatalf("%+v", sum)
	}
	said := requestText(t, h, "t1-01.1", 5)
	for _, want := range []string{"crates rightword@1.0.0 may be fetched now", "2 passed"} {
		if !strings.Contains(said, want) {
			t.Errorf("the worker was not told %q: %s", want, said[strings.Index(said, "add_dependency"):])
		}
	}
	checkDelivered(t, h, 1, 1, 1)
}
