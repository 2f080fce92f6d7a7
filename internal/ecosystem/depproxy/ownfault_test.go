package depproxy

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What goes wrong with the cache on this machine is not told as the registry's fault: a president
// would look for it there, and pip would take a package for one that does not exist.
func TestOwnFaultsAreNotTheRegistrys(t *testing.T) {
	var told []Failure
	options := func(p *Policy) HandlerOptions {
		return HandlerOptions{Policy: p, OnFailure: func(f Failure) { told = append(told, f) }}
	}
	r := newFakeRegistry(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "v1.0.0") })
	s := newStore(t, upstreamsAt(Go, r.URL))
	p := NewPolicy()
	p.Allow(newDependency(Go, "example.com/m", ""))
	parts := filepath.Join(s.dir, "tmp")
	if err := os.Remove(parts); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(parts, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	code, text := getPath(t, s.NewHandler(options(p)), http.MethodGet, "/go/example.com/m/@v/list")
	if code != http.StatusInsufficientStorage || !strings.Contains(text, "cache of packages cannot be used now") ||
		strings.Contains(text, s.dir) {
		t.Errorf("%d %s", code, text)
	}

	h := s.NewHandler(options(p)).(*handler)
	w := httptest.NewRecorder()
	q := &request{handler: h, w: w, r: httptest.NewRequest(http.MethodGet, "/go/example.com/m/@v/list", nil)}
	q.writeAnswer(nil, &os.PathError{Op: "write", Path: parts, Err: syscall.ENOSPC})
	if w.Code != http.StatusInsufficientStorage || !strings.Contains(w.Body.String(), "the host's disk is full") {
		t.Errorf("%d %s", w.Code, w.Body)
	}

	if len(told) != 2 || !strings.Contains(told[0].Why, parts) ||
		!strings.Contains(told[1].Why, "the host's disk is full") || told[0].Lasts || told[1].Lasts {
		t.Errorf("told %+v", told)
	}
	for _, f := range told {
		if strings.Contains(f.Why+f.Fix, "registry") {
			t.Errorf("%+v", f)
		}
	}
}
