package depproxy

import (
	"bytes"
	"company/internal/ecosystem"
	"company/internal/lib/hosttest"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func debianPolicy(suites ...string) *Policy {
	p := NewPolicy()
	p.AllowParts(Debian, suites...)
	return p
}

// archive is an archive of the test's own.
func newArchive(t *testing.T, files map[string]string) (*fakeRegistry, Upstreams) {
	r := newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
		body, ok := files[q.URL.Path]
		if !ok {
			http.NotFound(w, q)
			return
		}
		sum := sha256.Sum256([]byte(body))
		w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:4])+`"`)
		if q.Header.Get("If-None-Match") == w.Header().Get("ETag") {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		if strings.HasSuffix(q.URL.Path, ".gz") && q.Header.Get("Accept-Encoding") != "identity" {
			w.Header().Set("Content-Encoding", "gzip")
		}
		_, _ = io.WriteString(w, body)
	})
	up := upstreamsAt(Debian, r.URL+"/debian")
	up.Registries[Debian].Endpoints[0].Parts = map[string][]string{"bookworm": {"main"}}
	return r, up
}

// The archives of this host's own apt sources are served as they are: a
// signature that gpgv accepts, an index by its digest, a package that is what
// the index says.
func TestDebianUpstream(t *testing.T) {
	hosttest.Long(t, "the archive of this host")
	up, err := LoadClientSettings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := slices.IndexFunc(up.Registries[Debian].Endpoints,
		func(a ecosystem.Endpoint) bool { return slices.Contains(a.Parts["bookworm"], "main") })
	if n < 0 {
		hosttest.Lacks(t, "this host has no source of bookworm: %v", up.Notes)
	}
	s := newStore(t, up)
	h := s.NewPolicyHandler(debianPolicy("bookworm"))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	get := func(path string) []byte {
		t.Helper()
		w := httptest.NewRecorder()
		h.ServeHTTP(
			w, httptest.NewRequest(http.MethodGet, fmt.Sprintf("http://127.0.0.1:8377/debian/%d/%s", n, path),
				nil).WithContext(ctx))
		if w.Code == http.StatusBadGateway {
			hosttest.Lacks(t, "the archive does not answer")
		}
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		return w.Body.Bytes()
	}
	signed := get("dists/bookworm/InRelease")
	if gpgv, err := exec.LookPath("gpgv"); err == nil {
		file := filepath.Join(t.TempDir(), "InRelease")
		if err := os.WriteFile(file, signed, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(
			ctx, gpgv, "--keyring", "/usr/share/keyrings/debian-archive-keyring.gpg", file).CombinedOutput(); err != nil {
			t.Errorf("gpgv: %v: %s", err, out)
		}
	}
	dir := "main/binary-" + runtime.GOARCH
	m := regexp.MustCompile(`(?m)^ ([0-9a-f]{64}) +[0-9]+ ` + dir + `/Packages\.gz$`).FindSubmatch(signed)
	if m == nil {
		t.Fatal("no Packages.gz in InRelease")
	}
	index := get("dists/bookworm/" + dir + "/by-hash/SHA256/" + string(m[1]))
	z, err := gzip.NewReader(bytes.NewReader(index))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(io.LimitReader(z, 256<<20))
	if err != nil {
		t.Fatal(err)
	}
	at := max(bytes.Index(text, []byte("\nFilename: pool/main/h/hello/hello_")), 0) // the whole is long for an expression
	file := regexp.MustCompile(`^\nFilename: (pool/main/h/hello/hello_[^ \n]+\.deb)\n`).FindSubmatch(text[at:])
	if file == nil {
		t.Fatalf("no hello in %s", dir)
	}
	stanza := text[bytes.Index(text, file[0]):]
	sum := sha256.Sum256(get(string(file[1])))
	if !bytes.Contains(stanza[:min(len(stanza), 2000)], []byte("SHA256: "+hex.EncodeToString(sum[:]))) {
		t.Errorf("%s is not what the index says", file[1])
	}
}

// Only what apt needs of the suites that are allowed is asked for; nothing
// else causes a request.
func TestDebianPaths(t *testing.T) {
	r, up := newArchive(t, nil)
	up.Registries[Debian].Endpoints[0].Parts["trixie"] = []string{"main"}
	h := newStore(t, up).NewPolicyHandler(debianPolicy("bookworm", "sid", "../x"))
	hash := strings.Repeat("ab", 32)
	for _, path := range []string{
		"/debian/", "/debian/0", "/debian/0/", "/debian/0/dists", "/debian/0/dists/bookworm", "/debian/0/dists/bookworm/",
		"/debian/0/pool", "/debian/0/pool/main",
		"/debian/dists/bookworm/InRelease", "/debian/1/dists/bookworm/InRelease", "/debian/-1/dists/bookworm/InRelease",
		"/debian/00/dists/bookworm/InRelease",
		"/debian/0/dists/sid/InRelease", "/debian/0/dists/bookworm/../../x/InRelease",
		"/debian/0/dists/bookworm/%2e%2e/InRelease", "/debian/0/dists/bookworm/..%2f..%2fx/InRelease",
		"/debian/0/dists%2fbookworm/main/InRelease", "/debian/0/pool/main/h/%00.deb", "/debian/0/pool/main/h/a%0d%0a.deb",
		"/debian/0/pool/main/h/a b.deb", "/debian/0/pool/main/h/a%20b.deb",
		"/debian/0/pool/main/h/%252e%252e.deb", "/debian/0/pool/main/.git/config", "/debian/0/pool//main/x.deb",
		"/debian/0/pool/main/h\\x.deb", "/debian/0/pool/main/h/x%3fy.deb", "/debian/0/pool/main/h/x%23y.deb",
		"/debian/0/pool/main/ü/x.deb", "/debian/0/pool/main/%ff/x.deb", "/debian/0/pool/main/%zz/x.deb",
		"/debian/0/dists/bookworm/main/secret", "/debian/0/dists/bookworm/main/binary-amd64/Packages.exe",
		"/debian/0/dists/bookworm/main/by-hash/SHA256/short", "/debian/0/dists/bookworm/main/by-hash/MD5Sum/" + hash[:32],
		"/debian/0/dists/bookworm/main/by-hash/SHA512/" + hash, "/debian/0/project/trace/x",
		"/debian/0/pool/main/" + strings.Repeat("a/", 300) + "x.deb",
		"/debian/0/pool/main/" + strings.Repeat("a", 300) + "/x.deb",
	} {
		w := httptest.NewRecorder()
		q := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8377/", nil)
		q.URL.Path, q.URL.RawPath = unescape(path), path
		h.ServeHTTP(w, q.WithContext(t.Context()))
		if w.Code != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if code, text := getPath(t, h, http.MethodGet, "/debian/0/dists/trixie/InRelease"); code != http.StatusForbidden ||
		!strings.Contains(text, "container.setup") {
		t.Errorf("%d %s", code, text)
	}
	if code, _ := getPath(t, h, http.MethodPost,
		"/debian/0/dists/bookworm/InRelease"); code != http.StatusMethodNotAllowed {
		t.Error(code)
	}
	if got := r.requests(); len(got) != 0 {
		t.Errorf("asked outside: %v", got)
	}
	if code, _ := getPath(t, h, http.MethodGet, "/debian/0/dists/bookworm/InRelease"); code != http.StatusNotFound ||
		len(r.requests()) != 1 {
		t.Errorf("%d after %v", code, r.requests())
	}
}

// What a worker, a reviewer or a gate holds does not reach an archive, whatever
// its lock files name or its agent asks for.
func TestDebianNotForWorkers(t *testing.T) {
	r, up := newArchive(t, map[string]string{"/debian/dists/bookworm/InRelease": "x"})
	s := newStore(t, up)
	p := NewPolicy()
	p.AllowWithNeeds(newDependency(Debian, "hello", ""))
	p.AllowWithNeeds(newDependency(Debian, "bookworm", ""))
	p.AllowWithNeeds(newDependency(NPM, "bookworm", ""))
	for name, h := range map[string]http.Handler{"nothing": s.NewPolicyHandler(nil), "added": s.NewPolicyHandler(p)} {
		for _, path := range []string{"/debian/0/dists/bookworm/InRelease", "/debian/0/pool/main/h/hello/hello_1_amd64.deb"} {
			if code, text := getPath(t, h, http.MethodGet, path); code != http.StatusForbidden {
				t.Errorf("%s: %s: %d %s", name, path, code, text)
			}
		}
	}
	if IsRegistryPath("/debian/0/dists/bookworm/InRelease") || slices.Contains(Ecosystems(), Debian) ||
		CheckName(newDependency(Debian, "hello", "")) == nil {
		t.Error("a worker's port hands Debian on, or it can be added")
	}
	if got := r.requests(); len(got) != 0 {
		t.Errorf("asked outside: %v", got)
	}
}

// Lists are looked at again and served stale when the archive is away; packages
// and what is named by its digest are asked for once; a page in the place of a
// package, or of an index, is not kept.
func TestDebianCache(t *testing.T) {
	index := "Package: x\n"
	sum := sha256.Sum256([]byte(index))
	byHash := "dists/bookworm/main/binary-amd64/by-hash/SHA256/" + hex.EncodeToString(sum[:])
	deb := "!<arch>\nrest"
	files := map[string]string{
		"/debian/dists/bookworm/InRelease": "one", "/debian/" + byHash: "<html>log in</html>",
		"/debian/pool/main/g/g++/g++_1~2_amd64.deb":            "<html>log in</html>",
		"/debian/dists/bookworm/main/binary-amd64/Packages.gz": "gz as it is",
	}
	r, up := newArchive(t, files)
	s := newStore(t, up)
	s.listTTL = 0
	h := s.NewPolicyHandler(debianPolicy("bookworm"))
	want := func(path string, code int, text string) {
		t.Helper()
		w := httptest.NewRecorder()
		h.ServeHTTP(
			w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8377/debian/0/"+path, nil).WithContext(t.Context()))
		if w.Code != code || code == http.StatusOK && w.Body.String() != text {
			t.Errorf("%s: %d %q, want %d %q", path, w.Code, w.Body, code, text)
		}
	}
	pool := "pool/main/g/g%2b%2b/g%2b%2b_1%7e2_amd64.deb"
	want(byHash, http.StatusBadGateway, "")
	want(pool, http.StatusBadGateway, "")
	files["/debian/"+byHash], files["/debian/pool/main/g/g++/g++_1~2_amd64.deb"] = index, deb
	want(byHash, http.StatusOK, index)
	want(pool, http.StatusOK, deb)
	want("pool/main/g/g++/g++_1~2_amd64.deb", http.StatusOK, deb)
	want("dists/bookworm/InRelease", http.StatusOK, "one")
	want("dists/bookworm/InRelease", http.StatusOK, "one")
	files["/debian/dists/bookworm/InRelease"] = "two"
	want("dists/bookworm/InRelease", http.StatusOK, "two")
	want("dists/bookworm/main/binary-amd64/Packages.gz", http.StatusOK, "gz as it is")
	asked := len(r.requests())
	want(byHash, http.StatusOK, index)
	want(pool, http.StatusOK, deb)
	if got := r.requests(); len(got) != asked {
		t.Errorf("asked again: %v", got[asked:])
	}
	r.Close()
	want("dists/bookworm/InRelease", http.StatusOK, "two")
	want(pool, http.StatusOK, deb)
	want("pool/main/o/other_1_all.deb", http.StatusBadGateway, "")
}

// Both forms of apt's sources are read; what is not checked with Debian's keys,
// is for another architecture, off, or no http address is not served.
func TestAptSources(t *testing.T) {
	root := t.TempDir()
	conf := filepath.Join(root, "apt-config")
	write(t, root, map[string]string{
		"etc/apt/sources.list": "# deb http://off.invalid/debian bookworm main\ndeb http://m.invalid/debian/ bookworm main " +
			"contrib # x\ndeb-src http://m.invalid/debian bookworm main\n" +
			"deb [ arch=amd64,arm64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg ] http://m.invalid/debian " +
			"bookworm-updates main\n" +
			"deb [signed-by=/etc/keys/other.gpg] http://other.invalid/x bookworm main\ndeb [trusted=yes] " +
			"http://unsigned.invalid/x bookworm main\n" +
			"deb cdrom:[Debian]/ bookworm main\ndeb http://flat.invalid/x ./\ndeb http://flat.invalid/x ./ main\ndeb " +
			"[arch=m68k] http://m68k.invalid/x bookworm main\ndeb\ndebx http://y bookworm main\n",
		"etc/apt/sources.list.d/a.sources": "Types: deb deb-src\n# a comment\nURIs: https://s.invalid/sec\nSuites: " +
			"bookworm-security\nComponents: main\n  non-free\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n\n" +
			"Types: deb\nURIs: http://off.invalid\nSuites: bookworm\nComponents: main\nEnabled: no\n\nTypes: deb\nURIs: " +
			"http://own.invalid\nSuites: bookworm\nComponents: main\nSigned-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n " +
			"x\n",
		"etc/apt/auth.conf.d/s.conf": "machine s.invalid login me password pw\n",
		"apt-config": "#!/bin/sh\n[ \"$3\" = Acquire::http::Proxy ] && echo " +
			"\"P='http://proxy.invalid:3142'\"\nexit 0\n",
	})
	if err := os.Chmod(conf, 0o755); err != nil {
		t.Fatal(err)
	}
	up, err := Environment{Getenv: func(string) string { return "" }, HomeDir: root, RootDir: root,
		Programs: map[string]string{"go": "no-such-go", "apt-config": conf}}.LoadUpstreams(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(
		up.SourceLines(Debian, "http://127.0.0.1:1", "/k.gpg", "bookworm", "bookworm-updates", "bookworm-security"), "\n")
	if want := "deb [signed-by=/k.gpg] http://127.0.0.1:1/debian/0 bookworm main contrib\ndeb [signed-by=/k.gpg] " +
		"http://127.0.0.1:1/debian/0 bookworm-updates main\n" +
		"deb [signed-by=/k.gpg] http://127.0.0.1:1/debian/1 bookworm-security main non-free"; got != want {
		t.Errorf("%s", got)
	}
	all := up.Registries[Debian].Endpoints
	if len(all) != 2 || all[0].URL != "http://m.invalid/debian" || all[0].Proxy != "http://proxy.invalid:3142" ||
		all[1].Proxy != "" || header(all[1]) != ecosystem.BasicAuth("me", "pw") {
		t.Errorf("%+v", all)
	}
	notes := strings.Join(up.Notes, "\n")
	for _, w := range []string{"not checked with Debian's own keys", "an apt source is not an http or https address"} {
		if !strings.Contains(notes, w) {
			t.Errorf("no note %q in %s", w, notes)
		}
	}
	if strings.Contains(fmt.Sprintf("%v %+v", all[1], up.Notes), "pw") {
		t.Error("a password is shown")
	}
}
