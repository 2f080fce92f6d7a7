package depproxy

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/hosttest"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// fakeRegistry is a registry of the test's own, which remembers what it was asked.
type fakeRegistry struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
	serve http.HandlerFunc
}

func newFakeRegistry(t *testing.T, serve http.HandlerFunc) *fakeRegistry {
	r := &fakeRegistry{serve: serve}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		r.asked = append(r.asked, q.URL.EscapedPath())
		r.mu.Unlock()
		r.serve(w, q)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *fakeRegistry) requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.asked...)
}

// The kinds of registries, as the tests name them.
const (
	Go        = ecosystem.Go
	NPM       = ecosystem.NPM
	PyPI      = ecosystem.PyPI
	Crates    = ecosystem.Crates
	Packagist = ecosystem.Packagist
	Debian    = ecosystem.Debian
)

// upstreamsAt is one registry at an address.
func upstreamsAt(kind, url string) Upstreams {
	return Upstreams{Registries: map[string]ecosystem.Upstream{kind: ecosystem.At(ecosystem.Endpoint{URL: url})}}
}

// upstreamsAtAll is a registry of each kind that a project may use, at one address.
func upstreamsAtAll(url string) Upstreams {
	up := Upstreams{Registries: map[string]ecosystem.Upstream{}}
	for _, kind := range Ecosystems() {
		up.Registries[kind] = ecosystem.At(ecosystem.Endpoint{URL: url})
	}
	return up
}

func newStore(t *testing.T, up Upstreams) *Store {
	t.Helper()
	s, err := Open(t.TempDir(), up)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.transport.outages.pause = time.Millisecond
	return s
}

// hostUpstreams gives the registries of this host, and skips where the one that a
// test needs does not answer.
func hostUpstreams(t *testing.T, kind, probe string) Upstreams {
	t.Helper()
	up, err := LoadClientSettings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !up.Serves(kind) {
		hosttest.Lacks(t, "this host has no %s registry: %v", kind, up.Notes)
	}
	base := up.Registries[kind].Endpoints[0].URL
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, base+probe, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(q)
	if err != nil || resp.StatusCode != http.StatusOK {
		hosttest.Lacks(t, "the %s registry of this host does not answer: %v", kind, err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	return up
}

func serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv
}

// getPath makes one request and gives its status and text.
func getPath(t *testing.T, h http.Handler, method, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, "http://127.0.0.1:8377/", nil)
	r.URL.Path, r.URL.RawPath, r.RequestURI = unescape(path), path, path
	h.ServeHTTP(w, r.WithContext(t.Context()))
	return w.Code, w.Body.String()
}

func unescape(p string) string {
	return strings.NewReplacer("%2f", "/", "%2F", "/", "%40", "@").Replace(p)
}

func run(t *testing.T, dir string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	home := filepath.Join(dir, ".home")
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + os.TempDir()}, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func newDependency(kind, name, version string) company.Dependency {
	return company.Dependency{Ecosystem: kind, Name: name, Version: version}
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func goTestEnv(srv *httptest.Server, dir string) []string {
	return []string{
		"GOPROXY=" + srv.URL + "/go", "GOFLAGS=-modcacherw", "GOTOOLCHAIN=local", "GOMODCACHE=" + filepath.Join(dir, ".mod"),
		"GOCACHE=" + filepath.Join(dir, ".gocache"), "GOENV=off", "GONOSUMDB=", "GOVCS=*:off", "GOWORK=off",
		"GOTELEMETRY=off",
	}
}

// getNPM gets a file as npm's protocol does, and readNPM reads one.
func getNPM(ctx context.Context, s *Store, w ecosystem.Fetch) (*cacheEntry, error) {
	return s.get(ctx, order{Fetch: w, kind: NPM})
}

func readNPM(ctx context.Context, s *Store, w ecosystem.Fetch) ([]byte, *cacheEntry, error) {
	return s.read(ctx, order{Fetch: w, kind: NPM}, func(context.Context, int64) error { return nil })
}
