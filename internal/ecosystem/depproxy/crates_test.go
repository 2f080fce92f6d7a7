package depproxy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
	"company/internal/lib/hosttest"
)

func crateFile(t *testing.T, name, version, deps string) []byte {
	t.Helper()
	return ecosystemtest.Crate(t, name, version,
		[2]string{"Cargo.toml",
			fmt.Sprintf("[package]\nname = %q\nversion = %q\nedition = \"2018\"\n[dependencies]\n%s\n", name, version, deps)},
		[2]string{"src/lib.rs", "pub fn one() -> i32 { 1 }\n"},
	)
}

// crateRegistry is a sparse index: left_one needs right (renamed), gamma needs
// nothing.
func crateRegistry(t *testing.T) *fakeRegistry {
	t.Helper()
	files := map[string][]byte{"left_one": crateFile(t, "left_one", "1.2.0", `r = { package = "right", version = "1" }`),
		"right": crateFile(t, "right", "1.0.0", ""), "gamma": crateFile(t, "gamma", "1.0.0", "")}
	line := func(name, version, deps string) string {
		sum := sha256.Sum256(files[name])
		return fmt.Sprintf(`{"name":%q,"vers":%q,"deps":[%s],"cksum":%q,"features":{},"yanked":false}`+"\n", name, version,
			deps, hex.EncodeToString(sum[:]))
	}
	var r *fakeRegistry
	r = newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
		switch q.URL.Path {
		case "/index/config.json":
			_, _ = fmt.Fprintf(w, `{"dl":"%s/files/{lowerprefix}/{crate}-{version}.crate"}`, r.URL)
		case "/index/le/ft/left_one":
			_, _ = w.Write(
				[]byte("not json\n" + line("left_one", "1.2.0",
					`{"name":"r","package":"right","req":"^1","features":[],"optional":false,"default_features":true,"target":null,"kind":"normal"}`)))
		case "/index/ri/gh/right":
			_, _ = w.Write([]byte(line("right", "1.0.0", "")))
		case "/index/ga/mm/gamma":
			_, _ = w.Write([]byte(line("gamma", "1.0.0", "")))
		case "/files/le/ft/left_one-1.2.0.crate":
			_, _ = w.Write(files["left_one"])
		case "/files/ri/gh/right-1.0.0.crate":
			_, _ = w.Write(files["right"])
		case "/files/ga/mm/gamma-1.0.0.crate":
			_, _ = w.Write(files["gamma"])
		default:
			http.NotFound(w, q)
		}
	})
	return r
}

// cargo itself, against a sparse index.
func TestCratesWithCargo(t *testing.T) {
	if _, err := exec.LookPath("cargo"); err != nil {
		hosttest.Lacks(t, "there is no cargo on this host")
	}
	r := crateRegistry(t)
	s := newStore(t, upstreamsAt(Crates, r.URL+"/index"))
	p := NewPolicy()
	srv := serve(t, s.NewPolicyHandler(p))
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"Cargo.toml": "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2018\"\n", "src/lib.rs": "",
		".cargo/config.toml": "[source.crates-io]\nreplace-with = \"mirror\"\n[source.mirror]\nregistry = \"sparse+" +
			srv.URL + "/crates/\"\n",
	})
	env := []string{"CARGO_HOME=" + filepath.Join(dir, ".home", ".cargo"), "RUSTUP_HOME=" + rustupHome(t)}
	cargo := func(args ...string) (string, error) { return run(t, dir, env, "cargo", args...) }
	out, err := cargo("add", "left_one@1.2.0")
	if err == nil {
		t.Errorf("a crate that nobody added: %s", out)
	}
	if len(r.requests()) > 0 {
		t.Errorf("the outside was asked for %q", r.requests())
	}
	p.AllowWithNeeds(newDependency(Crates, "left-one", "1.2.0")) // the other spelling of the same name
	if out, err = cargo("add", "left_one@1.2.0"); err != nil {
		t.Fatalf("cargo add: %v\n%s", err, out)
	}
	if out, err = cargo("fetch"); err != nil {
		t.Fatalf("cargo fetch: %v\n%s", err, out)
	}
	if out, err := cargo("add", "gamma"); err == nil || !strings.Contains(out, "add_dependency") {
		t.Errorf("the refusal does not reach the agent: %v\n%s", err, out)
	}
	if code, text := getPath(t, s.NewPolicyHandler(p), http.MethodGet,
		"/crates/dl/right/1.0.0/download"); code != http.StatusOK || len(text) == 0 {
		t.Errorf("what it needs: %d", code)
	}
	if code, _ := getPath(t, s.NewPolicyHandler(p), http.MethodGet, "/crates/ga/mm/right"); code != http.StatusNotFound {
		t.Errorf("a crate at another's place: %d", code)
	}
}

func rustupHome(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("sh", "-c", `echo "${RUSTUP_HOME:-$HOME/.rustup}"`).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// Crates of a lock file are fetched ahead, with what the index says of them, and cargo's
// own request asks for nothing more.
func TestCratesAhead(t *testing.T) {
	r := crateRegistry(t)
	lock := map[string][]byte{"Cargo.lock": []byte(
		"version = 3\n[[package]]\nname = \"left_one\"\nversion = \"1.2.0\"\nsource = " +
			"\"registry+https://github.com/rust-lang/crates.io-index\"\n[[package]]\nname = \"own\"\nversion = \"0.1.0\"\n")}
	p, _ := LockedPolicy(lock)
	all, _ := ParseLocks(lock)
	s := newStore(t, upstreamsAt(Crates, r.URL+"/index"))
	s.FetchAhead(t.Context(), p, append(all, all[0]))
	if got := r.requests(); len(got) != 3 {
		t.Fatalf("asked for %q", got)
	}
	if code, text := getPath(t, s.NewPolicyHandler(p), http.MethodGet,
		"/crates/dl/left_one/1.2.0/download"); code != http.StatusOK ||
		text != string(crateFile(t, "left_one", "1.2.0", `r = { package = "right", version = "1" }`)) ||
		len(r.requests()) != 3 {
		t.Errorf("%d, asked for %q", code, r.requests())
	}
}
