package depproxy

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
)

// The go command itself, against the operator's own proxy: what the lock names
// is there, what it does not is refused with what to do, what was added comes
// with what it needs, sums are checked by the checksum database.
func TestGoProxyWithGoCommand(t *testing.T) {
	hosttest.Long(t, "the go command itself")
	up := hostUpstreams(t, Go, "/github.com/google/uuid/@v/v1.6.0.info")
	s := newStore(t, up)
	var fetched []string
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.24\n\nrequire github.com/google/uuid v1.6.0\n",
		"go.sum": "github.com/google/uuid v1.6.0 h1:NIvaJDMOsjHA8n1jAhLSgzrAzy1Hgr+hNrb57e+94F0=\ngithub.com/google/uuid " +
			"v1.6.0/go.mod h1:TIyPZe4MgqvfeYDBFedMoGGpEw/LqOeaOT+nhxU+yHo=\n",
		"m.go": "package m\n\nimport _ \"github.com/google/uuid\"\n",
	})
	files := map[string][]byte{}
	for _, f := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(dir, f))
		if err != nil {
			t.Fatal(err)
		}
		files[f] = text
	}
	p, notes := LockedPolicy(files)
	if len(notes) > 0 {
		t.Fatal(notes)
	}
	srv := serve(
		t, s.NewHandler(
			HandlerOptions{Policy: p, OnFetch: func(f FetchReport) { fetched = append(fetched, f.Dependency.String()) }}))
	env := goTestEnv(srv, dir)

	if out, err := run(t, dir, env, "go", "mod", "download"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !slices.Contains(fetched, "go github.com/google/uuid@v1.6.0") {
		t.Errorf("fetched %v", fetched)
	}
	// A version that nobody locked is there to look at and not to have.
	out, err := run(t, dir, env, "go", "get", "github.com/google/uuid@v1.5.0")
	if err == nil || !strings.Contains(out, "add_dependency") {
		t.Errorf("another version: %v\n%s", err, out)
	}
	out, err = run(t, dir, env, "go", "get", "golang.org/x/term@v0.30.0")
	if err == nil || !strings.Contains(out, "add_dependency") {
		t.Errorf("a name that nobody added: %v\n%s", err, out)
	}
	p.AllowWithNeeds(newDependency(Go, "golang.org/x/term", "v0.30.0"))
	if out, err = run(t, dir, env, "go", "get", "golang.org/x/term@v0.30.0"); err != nil {
		t.Fatalf("an added module: %v\n%s", err, out)
	}
	if out, err = run(t, dir, env, "go", "mod", "verify"); err != nil {
		t.Errorf("verify: %v\n%s", err, out)
	}
	sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil || !strings.Contains(string(sums), "golang.org/x/sys v0.31.0") {
		t.Errorf("what the module needs is not in go.sum: %s", sums)
	}
	if grew := p.Additions(); !slices.Contains(grew, newDependency(Go, "golang.org/x/sys", "v0.31.0")) {
		t.Errorf("learnt %v", grew)
	}
	if out, err := run(t, dir, env, "go", "mod", "download"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// The registry is away: what is in the cache is served.
	s2, err := Open(s.dir, up)
	if err != nil {
		t.Fatal(err)
	}
	defer s2.Close()
	s2.client.Transport = roundTripper(func(*http.Request) (*http.Response, error) { return nil, http.ErrHandlerTimeout })
	s2.listTTL = 0
	srv2 := serve(t, s2.NewPolicyHandler(p))
	if err := os.RemoveAll(filepath.Join(dir, ".mod")); err != nil {
		t.Fatal(err)
	}
	if out, err := run(t, dir, goTestEnv(srv2, dir), "go", "mod", "download"); err != nil {
		t.Errorf("with the registry away: %v\n%s", err, out)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// goRegistry is a proxy with a few versions of one module, and one that has
// pseudo-versions only.
func goRegistry(t *testing.T) *fakeRegistry {
	return newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
		text := map[string]string{
			"/example.com/m/@v/list":       "v1.2.0\nv1.10.0\nv2.0.0-rc.1\nnonsense\n",
			"/example.com/m/@latest":       `{"Version":"v1.10.0"}`,
			"/example.com/m/@v/v1.2.0.mod": "module example.com/m\nrequire example.com/need v1.0.0\n",
			"/example.com/pseudo/@v/list":  "",
			"/example.com/pseudo/@latest":  `{"Version":"v0.0.0-20200101000000-abcdefabcdef"}`,
		}
		if body, ok := text[q.URL.Path]; ok {
			_, _ = w.Write([]byte(body))
			return
		}
		http.NotFound(w, q)
	})
}
