package depproxy

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"company/internal/ecosystem"
	"company/internal/ecosystem/node"
)

// TestListsThatARegistryRefuses: what a registry has given and now refuses, as one that has taken a package back does,
// is refused; while it only fails, the last list is served.
func TestListsThatARegistryRefuses(t *testing.T) {
	var status atomic.Int32
	r := newFakeRegistry(t, func(w http.ResponseWriter, _ *http.Request) {
		if code := int(status.Load()); code != 0 {
			http.Error(w, "no", code)
			return
		}
		_, _ = fmt.Fprintf(
			w, `{"name":"b","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"b","version":"1.0.0","dist":{"integrity":%q,"tarball":"http://x/b-1.0.0.tgz"}}}}`, integrity(nil))
	})
	s := newStore(t, upstreamsAt(NPM, r.URL))
	s.listTTL = 0
	p := NewPolicy()
	p.Allow(newDependency(NPM, "b", ""))
	h := s.NewHandler(HandlerOptions{Policy: p})
	if code, _ := getPath(t, h, http.MethodGet, "/npm/b"); code != http.StatusOK {
		t.Fatalf("the registry's list: %d", code)
	}
	for code, served := range map[int]bool{500: true, 503: true, 401: false, 403: false, 451: false} {
		status.Store(int32(code))
		got, text := getPath(t, h, http.MethodGet, "/npm/b")
		if (got == http.StatusOK && strings.Contains(text, "1.0.0")) != served {
			t.Errorf("where the registry answers %d: %d %.100s", code, got, text)
		}
	}
}

// TestVersionsInAnotherSpelling: a pin of PyPI allows the file of that version, however either of them is written (PEP
// 440).
func TestVersionsInAnotherSpelling(t *testing.T) {
	versions := map[string]string{"certifi": "2021.5.30", "alpha": "1.0.0", "beta": "1.0rc1", "gamma": "1.0.post1",
		"delta": "1.0", "other": "1.0.1", "epoch": "1!1.0"}
	r := newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.pypi.simple.v1+json")
		name := strings.Trim(strings.TrimPrefix(q.URL.Path, "/simple/"), "/")
		_, _ = fmt.Fprintf(
			w, `{"meta":{"api-version":"1.0"},"name":%q,"files":[{"filename":"%s-%s-py3-none-any.whl","url":"../../f/x.whl","hashes":{}}]}`, name, name, versions[name])
	})
	s := newStore(t, upstreamsAt(PyPI, r.URL+"/simple"))
	for pin, listed := range map[string]bool{
		"certifi==2021.05.30": true, "alpha==1.0": true, "alpha==1": true, "beta==1.0.0-rc.1": true, "beta==1.0RC1": true,
		"gamma==1.0-1": true, "delta==1.0.0": true,
		"other==1.0": false, "alpha==1.0.0.post0": false, "epoch==1.0": false, "delta==10": false,
	} {
		p, _ := LockedPolicy(map[string][]byte{"requirements.txt": []byte(pin + "\n")})
		name, version, _ := strings.Cut(pin, "==")
		if _, text := getPath(t, s.NewPolicyHandler(p), http.MethodGet, "/pypi/simple/"+name+"/"); strings.Contains(
			text, ".whl") != listed {
			t.Errorf("%s lists %s: %t", pin, versions[name], !listed)
		}
		if pinned := newDependency(PyPI, name, version); listed && CheckName(pinned) == nil {
			if got, err := s.Resolve(t.Context(), pinned); err != nil || got.Version != versions[name] {
				t.Errorf("%s resolves to %v, %v", pin, got, err)
			}
		}
	}
}

// TestDamagedFilesAreAskedForAgain: a cached file that the disk has changed is not served.
func TestDamagedFilesAreAskedForAgain(t *testing.T) {
	r := npmRegistry(t)
	s := newStore(t, upstreamsAt(NPM, r.URL))
	p := NewPolicy()
	p.Allow(newDependency(NPM, "b", "1.0.0"))
	const path = "/npm/b/-/b-1.0.0.tgz"
	if code, _ := getPath(t, s.NewPolicyHandler(p), http.MethodGet, path); code != http.StatusOK {
		t.Fatal(code)
	}
	want := npmFile("b", "1.0.0")
	w := order{Fetch: ecosystem.Fetch{URL: r.URL + "/b-1.0.0.tgz", Digest: node.ParseIntegrity(integrity(want))},
		kind: NPM}
	file := s.entryPath(w.cacheKey())
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text[0] ^= 1
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := Open(s.dir, s.upstreams)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(again.Close)
	if code, got := getPath(t, again.NewPolicyHandler(p), http.MethodGet, path); code != http.StatusOK ||
		got != string(want) {
		t.Errorf("%d %q", code, got)
	}
}

// TestSlowRegistryHoldsUpNoOther: downloads of one registry that never end, all that may run at a time, leave those of
// another their places.
func TestSlowRegistryHoldsUpNoOther(t *testing.T) {
	var begun atomic.Int32
	slow := newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
		begun.Add(1)
		for q.Context().Err() == nil {
			_, _ = w.Write([]byte(" "))
			w.(http.Flusher).Flush()
			time.Sleep(20 * time.Millisecond) // the pace of a slow registry
		}
	})
	good := newFakeRegistry(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("v1.0.0\n")) })
	up := upstreamsAt(NPM, slow.URL)
	up.Registries[Go] = ecosystem.At(ecosystem.Endpoint{URL: good.URL})
	s := newStore(t, up)
	p := NewPolicy()
	p.Allow(newDependency(Go, "example.com/x", "v1.0.0"))
	for i := range maxDownloads {
		p.Allow(newDependency(NPM, fmt.Sprintf("p%d", i), "1.0.0"))
	}
	h := s.NewPolicyHandler(p)
	ask := func(ctx context.Context, path string) int {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8377"+path, nil).WithContext(ctx))
		return w.Code
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int)
	for i := range maxDownloads {
		go func() { ended <- ask(ctx, fmt.Sprintf("/npm/p%d", i)) }()
	}
	waitFor(t, func() bool { return begun.Load() >= maxDownloads })
	if code := ask(t.Context(), "/go/example.com/x/@v/list"); code != http.StatusOK {
		t.Errorf("a list of another registry: %d", code)
	}
	cancel()
	for range maxDownloads {
		<-ended
	}
}
