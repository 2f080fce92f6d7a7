package e2e

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// pypiServer is an index of the simple API with one module of each name, whose
// word is its name.
func pypiServer(t *testing.T, names ...string) *httptest.Server {
	t.Helper()
	wheels := map[string][]byte{}
	for _, name := range names {
		info := name + "-1.0.dist-info/"
		wheels[name+"-1.0-py3-none-any.whl"] = ecosystemtest.Zip(t,
			[2]string{name + ".py", "word = '" + name + "'\n"},
			[2]string{info + "METADATA", "Metadata-Version: 2.1\nName: " + name + "\nVersion: 1.0\n"},
			[2]string{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
			[2]string{info + "RECORD", ""},
		)
	}
	return ecosystemtest.ServeWheels(t, wheels)
}

// A Python project takes in a package: pip in the locked container, and in the
// gate's image afterwards.
func TestWorkerAddsAPythonPackage(t *testing.T) {
	hosttest.Long(t, "another registry and its client")
	t.Parallel()
	srv := pypiServer(t, "alphaword", "gammaword")
	check := "import unittest\nimport alphaword\n\nclass Words(unittest.TestCase):\n    def test_alpha(self):\n        " +
		"self.assertEqual(alphaword.word, 'alphaword')\n"
	brain := &staff{
		manager: submitPlan(
			[]m{ticket("Know another word", "Use gammaword in words.py, with a test.", "words.py", "test_more.py",
				"requirements.txt")}),
		worker: replyInSteps(
			call("run_command", m{"command": "python3 -m unittest -v; pip install gammaword==1.0"}),
			call("add_dependency", m{"ecosystem": "pypi", "name": "gammaword"}),
			call("run_command", m{"command": "pip install gammaword==1.0 && echo gammaword==1.0 >> requirements.txt"}),
			call("write_file", m{"path": "words.py", "content": "import gammaword\n\nword = gammaword.word\n"}),
			call("write_file", m{"path": "test_more.py", "content": "import unittest\nimport words\n\nclass " +
				"More(unittest.TestCase):\n    def test_gamma(self):\n        self.assertEqual(words.word, 'gammaword')\n"}),
			call("run_command", m{"command": "python3 -m unittest -v"}),
			call("git_commit", m{"message": "Know another word"}),
			call("finish", m{"summary": "another word is known"}),
		),
	}
	h := testenv.New(
		t, brain,
		map[string]string{".gitignore": "__pycache__/\n", "requirements.txt": "alphaword==1.0\n", "test_words.py": check})
	h.Env = append(h.Env, "PIP_INDEX_URL="+srv.URL+"/simple", "PIP_CONFIG_FILE="+os.DevNull)
	h.Config("gates: {lint: none, test: python3 -m unittest -v}\n")
	if sum := waitForSummary(t, h.Start("submit", "know another word"), 0); sum.Result != "COMPLETE" {
		t.Fatalf("%+v", sum)
	}
	said := requestText(t, h, "t1-01.1", 8)
	for _, want := range []string{"Ran 1 test", "pypi gammaword@1.0 may be fetched now",
		"Successfully installed gammaword-1.0", "Ran 2 tests"} {
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
		files[name] = ecosystemtest.Crate(t, name, "1.0.0",
			[2]string{"Cargo.toml", fmt.Sprintf("[package]\nname = %q\nversion = \"1.0.0\"\nedition = \"2018\"\n", name)},
			[2]string{"src/lib.rs", fmt.Sprintf("pub const WORD: &str = %q;\n", name)},
		)
	}
	return ecosystemtest.ServeCrates(t, files)
}

// A Rust project takes in a crate.
func TestWorkerAddsACrate(t *testing.T) {
	hosttest.Long(t, "another registry and its client")
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
		manager: submitPlan(
			[]m{ticket("Know another word", "Export WORD of rightword, with a test.", "src/lib.rs", "Cargo.toml",
				"Cargo.lock")}),
		worker: replyInSteps(
			call("run_command", m{"command": "cargo add rightword@1.0.0"}),
			call("add_dependency", m{"ecosystem": "crates", "name": "rightword", "version": "1.0.0"}),
			call("run_command", m{"command": "cargo add rightword@1.0.0 && printf '%s\\n' 'pub use rightword::WORD;' " +
				"'#[test]' 'fn right() { assert_eq!(WORD, \"rightword\"); }' >> src/lib.rs && cargo test 2>&1"}),
			call("git_commit", m{"message": "Know another word"}),
			call("finish", m{"summary": "another word is known"}),
		),
	}
	h := testenv.New(t, brain, map[string]string{
		".gitignore": "target/\n",
		"Cargo.toml": "[package]\nname = \"words\"\nversion = \"0.1.0\"\nedition = \"2018\"\n[dependencies]\n",
		"src/lib.rs": "#[test]\nfn one() {}\n",
		"Cargo.lock": "version = 3\n\n[[package]]\nname = \"words\"\nversion = \"0.1.0\"\n",
	})
	home := filepath.Join(h.Dir, "cargo")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "config.toml"),
		[]byte("[source.crates-io]\nreplace-with = \"here\"\n[source.here]\nregistry = \"sparse+"+srv.URL+"/index/\"\n"),
		0o600); err != nil {
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

// A worker adds a package to a PHP project with composer in its container, and the gate's image has the package then.
// The lock file that composer writes names the registry's addresses, and not the mirror's.
func TestWorkerAddsAComposerPackage(t *testing.T) {
	hosttest.Long(t, "another registry and its client")
	t.Parallel()
	srv := ecosystemtest.ServeComposer(
		t, map[string]ecosystemtest.ComposerPackage{
			"acme/left": {Version: "v1.2.0", Reference: strings.Repeat("a", 40),
				Fields: `,"autoload":{"psr-4":{"Acme\\":"src/"}}`,
				Zip: ecosystemtest.Zip(
					t, [2]string{"acme-left-a/src/Word.php", "<?php\nnamespace Acme;\nclass Word { const TEXT = 'left'; }\n"})}})
	test := func(name, code string) string {
		return "<?php\nclass " + name +
			" extends \\PHPUnit\\Framework\\TestCase { public function testIt(): void { $this->assertSame('left', " +
			code + "); } }\n"
	}
	brain := &staff{
		manager: submitPlan(
			[]m{ticket("Know another word", "Use acme/left, with a test.", "tests/WordTest.php", "composer.json",
				"composer.lock")}),
		worker: replyInSteps(
			call("add_dependency", m{"ecosystem": "packagist", "name": "acme/left"}),
			call("run_command", m{"command": "composer require acme/left:v1.2.0 2>&1; composer require acme/other:1.0.0 2>&1"}),
			call("write_file", m{"path": "tests/WordTest.php", "content": test("WordTest", `\Acme\Word::TEXT`)}),
			call("run_command", m{"command": "phpunit --bootstrap vendor/autoload.php tests; grep url composer.lock"}),
			call("git_commit", m{"message": "Know another word"}),
			call("finish", m{"summary": "another word is known"}),
		),
	}
	h := testenv.New(
		t, brain,
		map[string]string{".gitignore": "vendor/\n", "composer.json": `{"name":"own/own"}`,
			"tests/OwnTest.php": test("OwnTest", "'left'")})
	home := filepath.Join(h.Dir, "composer")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "config.json"),
		[]byte(`{"repositories":[{"type":"composer","url":"`+srv.URL+`"},{"packagist.org":false}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	h.Env = append(h.Env, "COMPOSER_HOME="+home)
	if sum := waitForSummary(t, h.Start("submit", "know another word"), 0); sum.Result != "COMPLETE" {
		t.Fatalf("%+v", sum)
	}
	said := requestText(t, h, "t1-01.1", 6)
	for _, want := range []string{"packagist acme/left@v1.2.0 may be fetched now",
		"ask for it with the tool add_dependency", "OK (2 tests", srv.URL + "/zip/"} {
		if !strings.Contains(said, want) {
			t.Errorf("the worker was not told %q: %s", want, said[strings.Index(said, "add_dependency"):])
		}
	}
	checkDelivered(t, h, 1, 1, 1)
}
