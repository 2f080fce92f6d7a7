package depproxy

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"company/internal/ecosystem"
	"company/internal/lib/hosttest"
)

// What a registry answers for a while in the place of a file (the page of a captive portal,
// nothing, half of it) is not served for good: files without a digest are looked at before
// they are kept, and one that may have been cut is asked for again.
func TestBadAnswersAreNotKept(t *testing.T) {
	const zip, portal = "PK\x03\x04 some files PK\x05\x06 and the end",
		"<!DOCTYPE html><html><body>please log in</body></html>"
	tile := strings.Repeat("hash of 32 bytes ", 16) // 256+16 bytes, of which 8*32 are taken
	files := []struct{ kind, path, upstream, body string }{
		{Go, "/go/example.com/m/@v/v1.0.0.zip", "/example.com/m/@v/v1.0.0.zip", zip},
		{Go, "/go/example.com/m/@v/v1.0.0.mod", "/example.com/m/@v/v1.0.0.mod",
			"module example.com/m\n\nrequire example.com/other v1.2.3\n"},
		{Go, "/go/example.com/m/@v/v1.0.0.info", "/example.com/m/@v/v1.0.0.info",
			`{"Version":"v1.0.0","Time":"2020-01-01T00:00:00Z"}`},
		{Go, "/go/sumdb/sum.golang.org/tile/8/0/000.p/8", "/sumdb/sum.golang.org/tile/8/0/000.p/8", tile[:8*32]},
		{Go, "/go/sumdb/sum.golang.org/lookup/example.com/m@v1.0.0", "/sumdb/sum.golang.org/lookup/example.com/m@v1.0.0",
			"1234\nexample.com/m v1.0.0 h1:x=\n"},
		{PyPI, "/pypi/files/alpha/alpha-1.0-py3-none-any.whl", "/f/alpha-1.0-py3-none-any.whl", zip},
		{PyPI, "/pypi/files/alpha/alpha-1.0.tar.gz", "/f/alpha-1.0.tar.gz", "\x1f\x8b and more of it"},
		{PyPI, "/pypi/files/alpha/alpha-1.0-py3-none-any.whl.metadata", "/f/alpha-1.0-py3-none-any.whl.metadata",
			"Metadata-Version: 2.1\nName: alpha\n"},
	}
	for _, f := range files {
		for how, bad := range map[string]func(w http.ResponseWriter){
			"a page":  func(w http.ResponseWriter) { _, _ = w.Write([]byte(portal)) },
			"nothing": func(w http.ResponseWriter) { w.Header().Set("Content-Length", "0") },
			"half of it": func(w http.ResponseWriter) {
				c, rw, err := w.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = fmt.Fprintf(rw, "HTTP/1.1 200 OK\r\nConnection: close\r\nETag: \"the-same\"\r\n\r\n%s",
					f.body[:len(f.body)/2])
				_ = rw.Flush()
				_ = c.Close()
			},
		} {
			t.Run(f.path+"/"+how, func(t *testing.T) {
				var isBad atomic.Bool
				r := newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
					switch {
					case q.URL.Path == f.upstream && isBad.Load():
						bad(w)
					case q.URL.Path == f.upstream && q.Header.Get("If-None-Match") != "":
						w.WriteHeader(http.StatusNotModified)
					case q.URL.Path == f.upstream:
						_, _ = w.Write([]byte(f.body))
					case q.URL.Path == "/simple/alpha/":
						_, _ = w.Write(
							[]byte(`<a href="/f/alpha-1.0-py3-none-any.whl" data-core-metadata="true">alpha-1.0-py3-none-any.whl</a><a href="/f/alpha-1.0.tar.gz">alpha-1.0.tar.gz</a>`))
					default:
						http.NotFound(w, q)
					}
				})
				up := upstreamsAt(Go, r.URL)
				up.Registries[PyPI] = ecosystem.At(ecosystem.Endpoint{URL: r.URL + "/simple"})
				goes := up.Registries[Go]
				goes.Settings = map[string]string{"GOSUMDB": "sum.golang.org"}
				up.Registries[Go] = goes
				s := newStore(t, up)
				s.listTTL = 0
				p := NewPolicy()
				p.Allow(newDependency(Go, "example.com/m", ""))
				p.Allow(newDependency(PyPI, "alpha", ""))
				h := s.NewPolicyHandler(p)
				isBad.Store(true)
				if code, text := getPath(t, h, http.MethodGet, f.path); how != "half of it" && code == http.StatusOK {
					t.Errorf("%d %q", code, text)
				}
				isBad.Store(false)
				if code, text := getPath(t, h, http.MethodGet, f.path); code != http.StatusOK || text != f.body {
					t.Errorf("afterwards: %d %q", code, text)
				}
				asked := len(r.requests())
				if code, text := getPath(t, h, http.MethodGet, f.path); code != http.StatusOK || text != f.body {
					t.Errorf("from the cache: %d %q", code, text)
				}
				for _, again := range r.requests()[asked:] {
					if again == f.upstream {
						t.Error("a whole file is asked for again")
					}
				}
			})
		}
	}
}

// A file that came into the cache as a package is not a small text: its size counts for each
// order.
func TestCachedFilesHaveALimit(t *testing.T) {
	r := newFakeRegistry(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 2000)) })
	s := newStore(t, upstreamsAt(NPM, r.URL))
	w := ecosystem.Fetch{URL: r.URL + "/a", Immutable: true, Limit: 4000}
	if _, err := getNPM(t.Context(), s, w); err != nil {
		t.Fatal(err)
	}
	w.Limit = 1000
	if _, _, err := readNPM(t.Context(), s, w); !errors.Is(err, errTooLarge) {
		t.Errorf("2000 bytes are read where 1000 may be: %v", err)
	}
}

// What a registry says that packages need may name one of them in millions of versions.
func TestVersionsAreBounded(t *testing.T) {
	hosttest.NotRaced(t, "one goroutine adds versions")
	p := NewPolicy()
	one := newDependency(Go, "a.b/c", "")
	for i := range maxVersions + 100 {
		one.Version = fmt.Sprintf("v0.0.%d", i)
		p.AllowWithNeeds(one)
	}
	all := 0
	for _, g := range p.Clone().names {
		all += len(g.withNeeds)
	}
	if all != maxVersions {
		t.Errorf("%d versions", all)
	}
	if p.Allow(one); p.Allows(one) {
		t.Error("one more has room")
	}
	one.Version = "v0.0.7"
	if !p.Allows(one) || !p.isAdded(one) {
		t.Error("an early one is gone")
	}
}
