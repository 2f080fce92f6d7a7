package depproxy

import (
	"context"
	"crypto/sha1"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/hosttest"
)

func npmFile(name, version string) []byte { return []byte("tarball of " + name + " " + version) }

func integrity(b []byte) string {
	sum := sha512.Sum512(b)
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

// npmRegistry serves the packages a, which needs b, b, and c, which needs a under another name.
func npmRegistry(t *testing.T) *fakeRegistry {
	var r *fakeRegistry
	r = newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
		deps := map[string]string{"a": `{"b":"^1.0.0"}`, "b": `{}`, "c": `{"a-as-b":"npm:a@^1.0.0"}`}
		name := strings.TrimPrefix(q.URL.Path, "/")
		if file, ok := strings.CutSuffix(name, "-1.0.0.tgz"); ok {
			_, _ = w.Write(npmFile(file, "1.0.0"))
			return
		}
		if deps[name] == "" {
			http.NotFound(w, q)
			return
		}
		_, _ = fmt.Fprintf(
			w, `{"name":%q,"dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":%q,"version":"1.0.0","bin":"./cli.js","dependencies":%s,"dist":{"integrity":%q,"shasum":"%x","tarball":"%s/%s-1.0.0.tgz"}},"9.9.9-bad bad":{"version":"x"}}}`,
			name, name, deps[name], integrity(npmFile(name, "1.0.0")), sha1.Sum(npmFile(name, "1.0.0")), r.URL, name)
	})
	return r
}

// T24: a name, or a version, that nobody allowed causes no request to the
// outside, whatever way it is asked for.
func TestDisallowedNamesNeverLeave(t *testing.T) {
	r := newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) { http.Error(w, "x", http.StatusTeapot) })
	up := upstreamsAtAll(r.URL)
	up.Registries[Go] = ecosystem.Upstream{Endpoints: up.Registries[Go].Endpoints,
		Settings: map[string]string{"GOSUMDB": "sum.example.org"}}
	s := newStore(t, up)
	p := NewPolicy()
	for _, eco := range Ecosystems() {
		p.Allow(company.Dependency{Ecosystem: eco, Name: "example.com"})
	}
	told := 0
	h := s.NewHandler(HandlerOptions{Policy: p, OnRefusal: func(f FetchReport) {
		told++
		if !strings.Contains(f.Why, "add_dependency") {
			t.Errorf("the refusal says %q", f.Why)
		}
	}})
	secret := "s3cr3t"
	for _, path := range []string{
		"/go/" + secret + ".evil.example/x/@v/list", "/go/" + secret + ".evil.example/@latest",
		"/go/evil.example/x/@v/v1.0.0-" + secret + ".info",
		"/go/evil.example/x/@v/v1.0.0.mod", "/go/evil.example/x/@v/v1.0.0.zip",
		"/go/sumdb/sum.example.org/lookup/evil.example/x@v1.0.0",
		"/npm/" + secret, "/npm/@evil/" + secret, "/npm/@evil%2f" + secret, "/npm/" + secret + "/-/" + secret + "-1.0.0.tgz",
		"/" + secret + "/-/" + secret + "-1.0.0.tgz",
		"/pypi/simple/" + secret + "/", "/pypi/files/" + secret + "/" + secret + "-1.0.tar.gz",
		"/crates/s3/cr/" + secret, "/crates/dl/" + secret + "/1.0.0/download",
	} {
		before := told
		code, text := getPath(t, h, http.MethodGet, path)
		if code != http.StatusNotFound && code != http.StatusForbidden {
			t.Errorf("%s: status %d %s", path, code, text)
		}
		if told == before && !strings.Contains(path, "-"+secret+".info") &&
			(strings.HasPrefix(path, "/go/") || strings.HasPrefix(path, "/npm/")) {
			t.Errorf("%s: nobody was told", path)
		}
	}
	// An allowed name with a version that the registry does not know: a branch,
	// a commit, a text that carries something.
	for _, path := range []string{
		"/go/example.com/@v/" + secret + ".info", "/go/example.com/@v/main.zip", "/go/sumdb/other.example.org/latest",
		"/go/sumdb/sum.example.org/../../x",
		"/go/sumdb/sum.example.org/tile/8/0/" + secret, "/go/sumdb/sum.example.org/" + secret,
	} {
		if code, text := getPath(t, h, http.MethodGet, path); code != http.StatusNotFound {
			t.Errorf("%s: status %d %s", path, code, text)
		}
	}
	if got := r.requests(); len(got) != 0 {
		t.Errorf("the outside was asked for %q", got)
	}
}

// Paths, methods and hosts that are not of a registry's protocol.
func TestHostileRequests(t *testing.T) {
	r := newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) { http.Error(w, "x", http.StatusTeapot) })
	s := newStore(t, upstreamsAtAll(r.URL))
	h := s.NewPolicyHandler(nil)
	for _, path := range []string{
		"/", "/go", "/go/", "/npm/", "/npm/-/v1/search", "/npm/-/all", "/npm/..", "/npm/../x", "/npm//x", "/npm/%2e%2e%2fx",
		"/npm/a%2fb", "/npm/@a/b/c",
		"/npm/a%00b", "/npm/a%0d%0aX: y", "/npm/a/-/../b.tgz", "/npm/" + strings.Repeat("a", 5000), "/npm/a?b", "/npm/é",
		"/go/a b/@v/list", "/go/../etc/passwd/@v/list", "/go/example.com/@v/../../x.zip", "/go/EXAMPLE.com/x/@v/list",
		"/go/example.com/!!x/@v/list", "/go/-x/@v/list",
		"/go/example.com/x/@v/v1.0.0.exe", "/go/example.com/x/@v/", "/go/sumdb/", "/other/x", "/debian/../x",
	} {
		if code, text := getPath(t, h, http.MethodGet, path); code < 400 || code >= 500 {
			t.Errorf("%q: status %d %s", path, code, text)
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, "PROPFIND"} {
		if code, _ := getPath(t, h, method, "/npm/a"); code != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, code)
		}
	}
	if got := r.requests(); len(got) != 0 {
		t.Errorf("the outside was asked for %q", got)
	}
	if IsRegistryPath("/git/t1-01.1.git/info/refs") || !IsRegistryPath("/npm/x") ||
		!IsRegistryPath("/@a/b/-/b-1.0.0.tgz") || !IsRegistryPath("/@a%2fb/-/b-1.0.0.tgz") {
		t.Error("whose path is whose")
	}
}

// Names that are none, one by one, and names that are.
func TestCheckName(t *testing.T) {
	bad := []company.Dependency{
		newDependency(NPM, "", ""), newDependency(NPM, "../x", ""), newDependency(NPM, ".x", ""),
		newDependency(NPM, "_x", ""), newDependency(NPM, "a/b", ""), newDependency(NPM, "@a", ""),
		newDependency(NPM, "@a/", ""), newDependency(NPM, "@a/b/c", ""), newDependency(NPM, "a b", ""),
		newDependency(NPM, "a\nb", ""), newDependency(NPM, "-g", ""), newDependency(NPM, "a;b", ""),
		newDependency(NPM, "a@1.0.0", ""), newDependency(NPM, "git+https://x", ""), newDependency(NPM, "node_modules", ""),
		newDependency(NPM, strings.Repeat("a", 215), ""),
		newDependency(NPM, "a", "latest"), newDependency(NPM, "a", "^1.0.0"), newDependency(NPM, "a", "1.0"),
		newDependency(NPM, "a", "1.0.0; rm -rf"), newDependency(NPM, "é", ""), newDependency(NPM, "a\x00", ""),
		newDependency(Go, "x", "v1.0.0 "), newDependency(Go, "example.com/x", "main"),
		newDependency(Go, "example.com/x", "1.0.0"), newDependency(Go, "example.com/x", "v1"),
		newDependency(Go, "example.com/x/v2", "v1.0.0"),
		newDependency(Go, "https://example.com/x", ""), newDependency(Go, "fmt", ""), newDependency(Go, "../x", ""),
		newDependency(Go, "example.com/../x", ""), newDependency(Go, "-x.com/y", ""),
		newDependency(Go, "example.com/x@v1", ""),
		newDependency(PyPI, "-r", ""), newDependency(PyPI, "x/../y", ""), newDependency(PyPI, "x==1", ""),
		newDependency(PyPI, "x", ">=1"), newDependency(PyPI, "x", "1.0 "), newDependency(PyPI, "x[all]", ""),
		newDependency(Crates, "1x", ""), newDependency(Crates, "x.y", ""), newDependency(Crates, "--git", ""),
		newDependency(Crates, "x", "*"), newDependency("gem", "rails", ""), newDependency("", "x", ""),
	}
	for _, d := range bad {
		if err := CheckName(d); company.CodeOf(err) != company.EInvalid {
			t.Errorf("%q was taken for a name: %v", d, err)
		}
		p := NewPolicy()
		p.Allow(d)
		p.AllowWithNeeds(d)
		if p.CountNames("") != 0 {
			t.Errorf("%q is in a policy", d)
		}
	}
	for _, d := range []company.Dependency{
		newDependency(NPM, "lodash", "4.17.21"), newDependency(NPM, "@types/node", "20.0.0-rc.1"),
		newDependency(NPM, "JSONStream", "1.3.5"), newDependency(NPM, "x", "1.0.0+b.1"),
		newDependency(Go, "golang.org/x/mod", "v0.41.0"),
		newDependency(Go, "github.com/BurntSushi/toml", "v1.4.1-0.20240526193622-a339e1f7089c"),
		newDependency(Go, "github.com/docker/docker", "v28.5.2+incompatible"),
		newDependency(Go, "gopkg.in/yaml.v3", "v3.0.1"),
		newDependency(PyPI, "zope.interface", "6.0"), newDependency(PyPI, "Django", "5.0rc1"),
		newDependency(PyPI, "pywin32", "306"), newDependency(Crates, "serde_json", "1.0.0"),
	} {
		if err := CheckName(d); err != nil {
			t.Errorf("%s: %v", d, err)
		}
	}
}

func TestDigestIsChecked(t *testing.T) {
	r := npmRegistry(t)
	s := newStore(t, upstreamsAt(NPM, r.URL))
	p := NewPolicy()
	p.AllowWithNeeds(newDependency(NPM, "a", "1.0.0"))
	h := s.NewPolicyHandler(p)
	if code, text := getPath(t, h, http.MethodGet, "/npm/a/-/a-1.0.0.tgz"); code != http.StatusOK ||
		text != "tarball of a 1.0.0" {
		t.Fatalf("%d %s", code, text)
	}
	// b is what a needs; its tarball is another than its record says.
	old := r.serve
	r.serve = func(w http.ResponseWriter, q *http.Request) {
		if strings.HasSuffix(q.URL.Path, ".tgz") {
			_, _ = w.Write([]byte("tampered"))
			return
		}
		old(w, q)
	}
	if code, text := getPath(t, h, http.MethodGet, "/npm/b/-/b-1.0.0.tgz"); code != http.StatusBadGateway ||
		!strings.Contains(text, "digest") {
		t.Errorf("a tampered file: %d %s", code, text)
	}
	if code, _ := getPath(t, h, http.MethodGet, "/npm/c/-/c-1.0.0.tgz"); code != http.StatusForbidden {
		t.Errorf("what nobody needs: %d", code)
	}
	if left := listParts(t, s); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func listParts(t *testing.T, s *Store) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(s.dir, "tmp"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// Many at once cause one download, and one that gives up does not end it.
func TestOneDownloadForMany(t *testing.T) {
	var hits atomic.Int64
	gate := make(chan struct{})
	r := newFakeRegistry(t, func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		<-gate
		_, _ = w.Write([]byte(strings.Repeat("x", 1<<20)))
	})
	s := newStore(t, upstreamsAt(NPM, r.URL))
	ctx, giveUp := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var good, gone atomic.Int64
	for i := range 32 {
		c := t.Context()
		if i%4 == 0 {
			c = ctx
		}
		wg.Go(func() {
			o, err := getNPM(c, s, ecosystem.Fetch{URL: r.URL + "/x", Immutable: true, Limit: 2 << 20})
			switch {
			case errors.Is(err, context.Canceled):
				gone.Add(1)
			case err != nil:
				t.Error(err)
			case o.meta.Size == 1<<20:
				good.Add(1)
			}
		})
	}
	waitFor(t, func() bool { return hits.Load() == 1 })
	giveUp()
	waitFor(t, func() bool { return gone.Load() == 8 })
	close(gate)
	wg.Wait()
	if hits.Load() != 1 || good.Load() != 24 {
		t.Errorf("%d downloads for %d askers", hits.Load(), good.Load())
	}
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	hosttest.Eventually(t, "what the test waits for", func() (any, bool) { return nil, ok() })
}

// A download that is cut off, is too large, or whose process is killed, leaves
// nothing that counts.
func TestCutOffDownloads(t *testing.T) {
	mode := "short"
	r := newFakeRegistry(t, func(w http.ResponseWriter, _ *http.Request) {
		body := []byte(strings.Repeat("y", 4096))
		switch mode {
		case "short":
			w.Header().Set("Content-Length", "8192")
			_, _ = w.Write(body)
		case "endless":
			for range 100 {
				_, _ = w.Write(body)
			}
		default:
			_, _ = w.Write(body)
		}
	})
	s := newStore(t, upstreamsAt(NPM, r.URL))
	w := ecosystem.Fetch{URL: r.URL + "/x", Immutable: true, Limit: 64 << 10}
	if _, err := getNPM(t.Context(), s, w); err == nil {
		t.Error("half a file was taken")
	}
	mode = "endless"
	if _, err := getNPM(t.Context(), s, w); !errors.Is(err, errTooLarge) {
		t.Errorf("a file without an end: %v", err)
	}
	mode = "whole"
	o, err := getNPM(t.Context(), s, w)
	if err != nil || o.cached {
		t.Fatalf("%+v %v", o, err)
	}
	// What a killed process leaves: a part file, a body without facts, facts
	// without a body, a body that was cut.
	k := filepath.Base(o.path)
	old := filepath.Join(s.dir, "tmp", "part-old")
	if err := os.WriteFile(old, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(old, time.Now().Add(-2*time.Hour), time.Now().Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, harm := range []func() error{
		func() error { return os.Remove(o.path + ".json") },
		func() error { return os.Remove(o.path) },
		func() error { return os.Truncate(o.path, 10) },
		func() error { return os.WriteFile(o.path+".json", []byte("{"), 0o600) },
	} {
		if err := harm(); err != nil {
			t.Fatal(err)
		}
		s2, err := Open(s.dir, s.upstreams)
		if err != nil {
			t.Fatal(err)
		}
		again, err := getNPM(t.Context(), s2, w)
		if err != nil || again.meta.Size != 4096 || again.cached || filepath.Base(again.path) != k {
			t.Errorf("after a crash: %+v %v", again, err)
		}
		s2.Close()
	}
	if left := listParts(t, s); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	s.Close()
	if _, err := getNPM(t.Context(), s, ecosystem.Fetch{URL: r.URL + "/y", Immutable: true, Limit: 1 << 20}); err == nil {
		t.Error("a closed store downloads")
	}
}

// Lists are asked for again, cheaply where the registry has ETags, and are
// served as they were while the registry is away. What is gone is gone.
func TestListsAreRevalidated(t *testing.T) {
	version, state := "1", "up"
	full := 0
	r := newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
		switch {
		case state == "down":
			http.Error(w, "x", http.StatusBadGateway)
		case state == "gone":
			http.NotFound(w, q)
		case q.Header.Get("If-None-Match") == `"`+version+`"`:
			w.WriteHeader(http.StatusNotModified)
		default:
			full++
			w.Header().Set("ETag", `"`+version+`"`)
			_, _ = w.Write([]byte(version))
		}
	})
	s := newStore(t, upstreamsAt(NPM, r.URL))
	s.listTTL = 0
	read := func() string {
		t.Helper()
		text, _, err := readNPM(t.Context(), s, ecosystem.Fetch{URL: r.URL + "/list"})
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	for range 2 {
		if got := read(); got != "1" || full != 1 {
			t.Errorf("%s after %d full answers", got, full)
		}
	}
	version = "2"
	if got := read(); got != "2" {
		t.Errorf("an old list: %s", got)
	}
	state = "down"
	if got := read(); got != "2" {
		t.Errorf("with the registry away: %s", got)
	}
	state = "gone"
	if got := read(); !strings.Contains(got, "404") {
		t.Errorf("with the list gone: %s", got)
	}
}

// A list that by its time was asked for tomorrow is not fresh: the clock was set
// back, and it would be served as it is for a day.
func TestFutureListIsNotFresh(t *testing.T) {
	asked := 0
	r := newFakeRegistry(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = w.Write([]byte("list"))
	})
	s := newStore(t, upstreamsAt(NPM, r.URL))
	read := func() {
		t.Helper()
		if _, _, err := readNPM(t.Context(), s, ecosystem.Fetch{URL: r.URL + "/list"}); err != nil {
			t.Fatal(err)
		}
	}
	read()
	read()
	if asked != 1 {
		t.Fatalf("asked %d times for a fresh list", asked)
	}
	found := 0
	err := filepath.WalkDir(s.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		var f metadata
		if err != nil || json.Unmarshal(text, &f) != nil || f.CheckedAt.IsZero() {
			return err
		}
		found++
		f.CheckedAt = time.Now().Add(24 * time.Hour)
		if text, err = json.Marshal(f); err != nil {
			return err
		}
		return os.WriteFile(path, text, 0o600)
	})
	if err != nil || found != 1 {
		t.Fatalf("%d lists in the cache, %v", found, err)
	}
	read()
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

// T16: what metadata or a redirect names is reached by https at public
// addresses, or not at all; credentials go to their own registry only.
func TestTransportDestinations(t *testing.T) {
	var seen []string
	inner := newFakeRegistry(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("the host's secret"))
	})
	r := newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
		seen = append(seen, q.URL.Path+" "+q.Header.Get("Authorization"))
		switch q.URL.Path {
		case "/npm/away":
			http.Redirect(w, q, inner.URL+"/secret", http.StatusFound)
		case "/npm/meta":
			http.Redirect(w, q, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
		case "/npm/loop":
			http.Redirect(w, q, "/npm/loop", http.StatusFound)
		case "/npm/aside":
			http.Redirect(w, q, "/elsewhere", http.StatusFound)
		default:
			_, _ = w.Write([]byte("ok"))
		}
	})
	s := newStore(
		t, Upstreams{
			Registries: map[string]ecosystem.Upstream{
				NPM: ecosystem.At(ecosystem.Endpoint{URL: r.URL + "/npm"}.WithAuth("Bearer hush"))}})
	for _, path := range []string{"/npm/away", "/npm/meta", "/npm/loop"} {
		if _, err := getNPM(t.Context(), s, ecosystem.Fetch{URL: r.URL + path, Limit: 1 << 10}); err == nil {
			t.Errorf("%s was followed", path)
		}
	}
	if got := inner.requests(); len(got) > 0 {
		t.Errorf("a private address was asked for %q", got)
	}
	seen = nil
	if _, err := getNPM(t.Context(), s, ecosystem.Fetch{URL: r.URL + "/npm/aside", Limit: 1 << 10}); err != nil {
		t.Error(err)
	}
	if fmt.Sprint(seen) != "[/npm/aside Bearer hush /elsewhere ]" {
		t.Errorf("credentials went to %q", seen)
	}
	for _, address := range []string{
		"http://example.com/x", "https://127.0.0.1/x", "https://[::1]/x", "https://10.1.2.3/x",
		"https://[::ffff:192.168.0.1]/x", "https://localhost/x", "https://x.internal/",
		"https://host/x", "https://u:p@example.com/x", "https://example.com:8443/x", "https://169.254.169.254/x",
		"ftp://example.com/x", "file:///etc/passwd", "https://x.localhost./",
	} {
		if _, err := getNPM(t.Context(), s, ecosystem.Fetch{URL: address, Limit: 1 << 10}); err == nil {
			t.Errorf("%s was asked", address)
		}
	}
	// A name of the public network that resolves to a private address is
	// stopped when it is dialled.
	if err := s.transport.checkAddress(t.Context(), "tcp", "192.168.1.1:443", nil); !errors.Is(err, errPrivateAddress) {
		t.Errorf("rebinding: %v", err)
	}
	for addr, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1111": true, "127.0.0.1": false, "10.0.0.1": false, "172.16.0.1": false,
		"192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false,
		"0.0.0.0": false, "224.0.0.1": false, "255.255.255.255": false, "::1": false, "fe80::1": false, "fc00::1": false,
		"ff02::1": false, "::ffff:10.0.0.1": false,
		"64:ff9b::7f00:1": false, "2002:7f00:1::": false, "198.18.0.1": false, "::": false,
	} {
		if got := isPublic(netip.MustParseAddr(addr)); got != want {
			t.Errorf("public(%s) = %v", addr, got)
		}
	}
}

// Credentials show up in no form that is printed.
func TestCredentialsAreHidden(t *testing.T) {
	e, err := ecosystem.ParseEndpoint("https://user:hunter2@example.com/npm/")
	if err != nil || e.URL != "https://example.com/npm" {
		t.Fatalf("%v %v", e.URL, err)
	}
	up := Upstreams{Registries: map[string]ecosystem.Upstream{NPM: ecosystem.At(e)}}
	for _, text := range []string{fmt.Sprint(e), fmt.Sprintf("%#v", e), fmt.Sprintf("%+v", up), e.LogValue().String()} {
		if strings.Contains(text, "hunter2") || strings.Contains(text, strings.TrimPrefix(header(e), "Basic ")) {
			t.Errorf("it says %s", text)
		}
	}
}

func TestHandlerLimits(t *testing.T) {
	r := npmRegistry(t)
	s := newStore(t, upstreamsAt(NPM, r.URL))
	p := NewPolicy()
	p.AllowWithNeeds(newDependency(NPM, "a", "1.0.0"))
	h := s.NewHandler(HandlerOptions{Policy: p, MaxRequests: 3, MaxBytes: 1 << 20})
	for i := range 5 {
		if code, _ := getPath(t, h, http.MethodGet, "/npm/a"); (code == http.StatusOK) != (i < 3) {
			t.Errorf("request %d: %d", i, code)
		}
	}
	h = s.NewHandler(HandlerOptions{Policy: p, MaxBytes: 10})
	if code, _ := getPath(t, h, http.MethodGet, "/npm/a"); code != http.StatusOK {
		t.Error(code)
	}
	if code, text := getPath(t, h, http.MethodGet, "/npm/a"); code != http.StatusTooManyRequests {
		t.Errorf("after the bound: %d %s", code, text)
	}
}

// A cache that has grown too large gives up what was not used for longest.
func TestPrune(t *testing.T) {
	r := newFakeRegistry(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1000)) })
	up := upstreamsAt(NPM, r.URL)
	s := newStore(t, up)
	var kept []*cacheEntry
	for i := range 5 {
		o, err := getNPM(t.Context(), s, ecosystem.Fetch{URL: fmt.Sprint(r.URL, "/", i), Immutable: true, Limit: 2000})
		if err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-time.Duration(10-i) * 48 * time.Hour)
		if err := os.Chtimes(o.path+".json", old, old); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, o)
	}
	if _, err := getNPM(t.Context(), s, ecosystem.Fetch{URL: r.URL + "/0", Immutable: true, Limit: 2000}); err != nil {
		// the oldest is used
		t.Fatal(err)
	}
	s2, err := open(s.dir, up, 3500)
	if err != nil {
		t.Fatal(err)
	}
	s2.active.Wait()
	s2.Close()
	for i, o := range kept {
		_, err := os.Stat(o.path)
		if gone := os.IsNotExist(err); gone != (i == 1 || i == 2) {
			t.Errorf("%d: gone %v", i, gone)
		}
	}
	if o, err := getNPM(t.Context(), s, ecosystem.Fetch{URL: r.URL + "/1", Immutable: true, Limit: 2000}); err != nil ||
		o.cached {
		t.Errorf("what was pruned is had again: %+v %v", o, err)
	}
}
