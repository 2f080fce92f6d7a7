package depproxy

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/ecosystem"
)

// T16: what a registry of one kind names at the place of another kind's is as foreign as any other
// address, also where that one has put it into the cache.
func TestIndexNamesNoOtherRegistry(t *testing.T) {
	modules := newFakeRegistry(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("private code PK\x05\x06")) })
	const secret = "/corp.example/secret/@v/v1.0.0.zip"
	index := newFakeRegistry(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `<a href="%s">alpha-1.0.zip</a>`, modules.URL+secret)
	})
	up := upstreamsAt(PyPI, index.URL+"/simple")
	up.Registries[Go] = ecosystem.At(ecosystem.Endpoint{URL: modules.URL}.WithAuth("Bearer hush"))
	s := newStore(t, up)
	p := NewPolicy()
	p.Allow(newDependency(PyPI, "alpha", ""))
	for range 2 {
		asked := len(modules.requests())
		if code, text := getPath(t, s.NewPolicyHandler(p), http.MethodGet, "/pypi/files/alpha/alpha-1.0.zip"); code != http.StatusBadGateway || strings.Contains(text, "private") {
			t.Errorf("%d %s", code, text)
		}
		if got := modules.requests(); len(got) > asked {
			t.Fatalf("asked for %q", got)
		}
		// Somebody who may have it has it: what is in the cache is the next thing to steal.
		q := NewPolicy()
		q.Allow(newDependency(Go, "corp.example/secret", "v1.0.0"))
		if code, text := getPath(t, s.NewPolicyHandler(q), http.MethodGet, "/go"+secret); code != http.StatusOK {
			t.Fatalf("%d %s", code, text)
		}
	}
}

// What is brought into the cache for a run counts, also where the run does not wait for it.
func TestBroughtBytesCount(t *testing.T) {
	release := make(chan struct{})
	r := newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
		if strings.HasSuffix(q.URL.Path, "/list") {
			_, _ = fmt.Fprint(w, "v1.0.0\nv1.0.1\n")
			return
		}
		if strings.Contains(q.URL.Path, "v1.0.1") {
			<-release
		}
		_, _ = w.Write(append(make([]byte, 996), "PK\x05\x06"...))
	})
	s := newStore(t, upstreamsAt(Go, r.URL))
	p := NewPolicy()
	p.Allow(newDependency(Go, "example.com/m", ""))

	head := s.NewHandler(HandlerOptions{Policy: p, MaxBytes: 900})
	if code, _ := getPath(t, head, http.MethodHead, "/go/example.com/m/@v/v1.0.0.zip"); code != http.StatusOK {
		t.Error(code)
	}
	if code, _ := getPath(t, head, http.MethodHead, "/go/example.com/m/@v/v1.0.0.zip"); code != http.StatusTooManyRequests {
		t.Errorf("a HEAD costs nothing: %d", code)
	}

	// Once, where it is sent, too.
	once := s.NewHandler(HandlerOptions{Policy: p, MaxBytes: 1500})
	if code, _ := getPath(t, once, http.MethodGet, "/go/example.com/m/@v/v1.0.2.zip"); code != http.StatusOK {
		t.Error(code)
	}
	if code, _ := getPath(t, once, http.MethodGet, "/go/example.com/m/@v/v1.0.2.zip"); code != http.StatusOK {
		t.Errorf("1000 bytes count for more: %d", code)
	}

	left := s.NewHandler(HandlerOptions{Policy: p, MaxBytes: 900})
	ctx, leave := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, leave)
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:8377/go/example.com/m/@v/v1.0.1.zip", nil)
	if err != nil {
		t.Fatal(err)
	}
	left.ServeHTTP(&discardWriter{}, q)
	close(release)
	waitUntil(t, func() bool {
		code, _ := getPath(t, left, http.MethodGet, "/go/example.com/m/@v/list")
		return code == http.StatusTooManyRequests
	})
}

type discardWriter struct{ h http.Header }

func (d *discardWriter) Header() http.Header {
	if d.h == nil {
		d.h = http.Header{}
	}
	return d.h
}
func (d *discardWriter) Write(p []byte) (int, error) { return len(p), nil }
func (d *discardWriter) WriteHeader(int)             {}

func waitUntil(t *testing.T, ok func() bool) {
	t.Helper()
	for began := time.Now(); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 20*time.Second {
			t.Fatal("it did not come to pass")
		}
	}
}

// The cache is bounded while its office runs, and not when the next one starts.
func TestOpenCacheIsPruned(t *testing.T) {
	r := newFakeRegistry(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1000)) })
	s, err := open(t.TempDir(), upstreamsAt(NPM, r.URL), 10_000)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	for i := range 40 {
		if _, err := getNPM(t.Context(), s, ecosystem.Fetch{URL: fmt.Sprint(r.URL, "/", i), Immutable: true, Limit: 2000}); err != nil {
			t.Fatal(err)
		}
	}
	var held int64
	err = filepath.WalkDir(s.dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && filepath.Ext(e.Name()) == "" {
			info, ierr := e.Info()
			if held += info.Size(); ierr != nil {
				return ierr
			}
		}
		return err
	})
	if err != nil || held > 12_000 || held < 5_000 {
		t.Errorf("%d bytes of 10,000 in the cache, %v", held, err)
	}
}

// Large descriptions are parsed one after the other: each takes many times its size, and a client
// may ask for 64 at once.
func TestLargeTextsAreReadInTurn(t *testing.T) {
	r := newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
		size := map[string]int{"/small": 1 << 20, "/fair": 5 << 20}[q.URL.Path]
		_, _ = w.Write(make([]byte, cmp.Or(size, 40<<20)))
	})
	s := newStore(t, upstreamsAt(NPM, r.URL))
	read := func(f *fetcher, path string) error {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, _, err := f.Read(ctx, ecosystem.Fetch{URL: r.URL + path})
		return err
	}
	for i := range 3 { // into the cache
		f := s.fetcherOf(NPM, nil)
		if _, _, err := f.Read(t.Context(), ecosystem.Fetch{URL: fmt.Sprint(r.URL, "/large", i)}); err != nil {
			t.Fatal(err)
		}
		f.endRequest()
	}
	a, b, c := s.fetcherOf(NPM, nil), s.fetcherOf(NPM, nil), s.fetcherOf(NPM, nil)
	defer b.endRequest()
	defer c.endRequest()
	for i, f := range []*fetcher{a, b} {
		if err := read(f, fmt.Sprint("/large", i)); err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	if err := read(c, "/large2"); err == nil {
		t.Error("120 MiB of descriptions are parsed at once")
	}
	if err := read(c, "/small"); err != nil {
		t.Errorf("a small one waits, too: %v", err)
	}
	a.endRequest()
	if err := read(c, "/large2"); err != nil {
		t.Errorf("there is room: %v", err)
	}
	// A request that has had a smaller one waits for its next as any other.
	d := s.fetcherOf(NPM, nil)
	defer d.endRequest()
	if err := read(d, "/fair"); err != nil {
		t.Error(err)
	}
	if err := read(d, "/large1"); err == nil {
		t.Error("the second text of a request takes no turn")
	}
}
