package image

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/depproxy"
)

// The image of a branch that changed lock files: its own dependencies, on the
// layers and with the history of the base (prepared again from it).
func TestLocksOfABranch(t *testing.T) {
	be := newTestBuilder(t)
	up := upstreams()
	up.Registries[ecosystem.NPM] = ecosystem.At(ecosystem.Endpoint{URL: "http://127.0.0.1:1"})
	useRegistries(t, be, up, t.TempDir())
	p := newProject(t)
	base := p.commit(
		map[string]string{"go.mod": pflagMod, "go.sum": pflagSum, "package.json": `{"dependencies":{"tiny":"1.0.0"}}`,
			"package-lock.json": tinyLock})
	branch := p.commit(map[string]string{"package-lock.json": strings.ReplaceAll(tinyLock, "1.0.0", "1.0.1")})
	goToo := p.commit(map[string]string{"go.sum": pflagSum + "\n"})
	code := p.commit(map[string]string{"main.js": "1"})

	keys := func(locks company.OID) map[string]company.Hash {
		t.Helper()
		repo := *base
		repo.Locks = locks
		steps, notes, err := be.planLayers(
			newContext(t), Request{Toolchains: []string{"go", "node"}, Repo: &repo}, newBuiltBase())
		if err != nil || len(notes) > 0 {
			t.Fatalf("notes %q, error %v", notes, err)
		}
		out := map[string]company.Hash{}
		for _, s := range steps {
			name := s.kind
			for out[name] != "" {
				name += "+"
			}
			out[name] = s.key
			if s.kind == "repo" && !strings.Contains(s.why, string(base.Commit[:12])) {
				t.Errorf("the history is of another commit: %s", s.why)
			}
		}
		return out
	}
	same := func(a, b map[string]company.Hash) string {
		var out []string
		for _, k := range slices.Sorted(maps.Keys(a)) {
			if a[k] == b[k] {
				out = append(out, k)
			}
		}
		return strings.Join(out, " ")
	}
	own := keys("")
	if got := same(own, keys(base.Commit)); got != strings.Join(slices.Sorted(maps.Keys(own)), " ") {
		t.Errorf("the base's own lock files make another image; alike are %s", got)
	}
	changed := keys(branch.Commit)
	if got := same(own, changed); got != "base go godeps gomod gostd node" {
		t.Errorf("a changed package-lock.json: alike are %q", got)
	}
	tree := keys(company.OID(p.git("rev-parse", string(branch.Commit)+"^{tree}")))
	if got := same(changed, tree); !strings.Contains(got, "npm") {
		t.Errorf("a tree and its commit make other packages; alike are %q", got)
	}
	both := keys(goToo.Commit)
	if both["gomod+"] == "" || slices.Contains(slices.Sorted(maps.Keys(changed)), "gomod+") {
		t.Errorf("modules of the branch: %v", both)
	}
	if fmt.Sprint(keys(code.Commit)) != fmt.Sprint(both) {
		t.Error("a change of code alone makes another image for the lock files")
	}
}

// T24: what the go command makes of a branch's go.mod reaches no registry
// unless the policy holds it: versions that have to be looked up, a
// replacement, a name that nobody judged.
func TestBranchGoModulesWithinPolicy(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.Path)
		mu.Unlock()
		switch {
		case strings.HasSuffix(r.URL.Path, "/example.org/known/@v/v1.0.0.mod"):
			_, _ = fmt.Fprint(w, "module example.org/known\n")
		case strings.HasSuffix(r.URL.Path, "/example.org/known/@v/v1.0.0.info"):
			_, _ = fmt.Fprint(w, `{"Version":"v1.0.0"}`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(proxy.Close)
	t.Setenv("GOPROXY", proxy.URL)
	t.Setenv("GOSUMDB", "off")
	be := newRacedBuilder(t)
	up := upstreams()
	up.Registries[ecosystem.Go] = ecosystem.At(ecosystem.Endpoint{URL: proxy.URL})
	useRegistries(t, be, up, t.TempDir())
	head := "module example.org/m\n\ngo 1.24\n\nrequire example.org/known v1.0.0\n"
	for name, more := range map[string]string{
		"plain":       "require canary.example/x v1.0.0\n",
		"a branch":    "require canary.example/x master\n",
		"a commit":    "require example.org/known/canary 0123456789ab\n",
		"long":        "require canary.example/" + strings.Repeat("a/", 120) + "x v1.0.0\n",
		"replacement": "replace example.org/known => canary.example/x v1.0.0\n",
		"its branch":  "replace example.org/known v1.0.0 => canary.example/x master\n",
	} {
		t.Run(name, func(t *testing.T) {
			mu.Lock()
			asked = nil
			mu.Unlock()
			p := newProject(t)
			repo := *p.commit(map[string]string{"go.mod": head})
			repo.Locks, repo.Policy = p.commit(map[string]string{"go.mod": head + more}).Commit, repoPolicy("example.org/known")
			if _, err := be.fetchGoModules(t, Request{Repo: &repo}); company.CodeOf(err) != company.EImage {
				t.Errorf("error %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, a := range asked {
				if strings.Contains(a, "canary") {
					t.Errorf("the registry was asked for %.200s", a)
				}
			}
		})
	}
	// What the policy holds still comes.
	address, stop, err := serveHost(&registryAccess{store: be.registries, policy: repoPolicy("example.org/known")})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	get := func(url string) int {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	defer http.DefaultClient.CloseIdleConnections()
	if got := get(address + "/go/example.org/known/@v/v1.0.0.mod"); got != http.StatusOK {
		t.Errorf("what is allowed: status %d", got)
	}
	root, _, _ := strings.Cut(strings.TrimPrefix(address, "http://"), "/")
	if got := get("http://" + root + "/go/example.org/known/@v/v1.0.0.mod"); got != http.StatusNotFound {
		t.Errorf("another program of this host is served: status %d", got)
	}
}

func repoPolicy(names ...string) *depproxy.Policy {
	p := depproxy.NewPolicy()
	for _, n := range names {
		p.Allow(company.Dependency{Ecosystem: ecosystem.Go, Name: n, Version: "v1.0.0"})
	}
	return p
}

// Many files are read at once, empty and odd ones too.
func TestReadTexts(t *testing.T) {
	p := newProject(t)
	want := map[string]string{"a/package.json": "{}\n", "b/package.json": "", "c/package.json": "\n\n5\nblob\n",
		"d/package.json": "{}\n", "e.txt": "x"}
	repo := p.commit(want)
	tree, err := listTree(newContext(t), *repo, repo.Commit)
	if err != nil {
		t.Fatal(err)
	}
	names := tree.filesNamed("package.json")
	got, err := tree.readTexts(newContext(t), names)
	if err != nil || len(names) != 4 || len(got) != 4 {
		t.Fatalf("%q, %v", got, err)
	}
	for _, n := range names {
		if string(got[n]) != want[n] {
			t.Errorf("%s: %q", n, got[n])
		}
	}
}

// A part of a repository whose modules cannot all be had has the others, and a
// replacement in a folder that the go command does not look into is followed.
func TestPartialModuleDownload(t *testing.T) {
	var zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	w, err := z.Create("example.org/known@v1.0.0/known.go")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write([]byte("package known // THE SOURCE OF KNOWN\n"))
	_ = z.Close()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch file := filepath.Base(r.URL.Path); {
		case !strings.HasPrefix(r.URL.Path, "/example.org/known/"):
			http.NotFound(w, r)
		case file == "v1.0.0.info":
			_, _ = w.Write([]byte(`{"Version":"v1.0.0"}`))
		case file == "v1.0.0.mod":
			_, _ = w.Write([]byte("module example.org/known\n"))
		case file == "v1.0.0.zip":
			_, _ = w.Write(zipped.Bytes())
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(proxy.Close)
	t.Setenv("GOPROXY", proxy.URL)
	t.Setenv("GOSUMDB", "off")
	be := newTestBuilder(t)
	for name, files := range map[string]map[string]string{
		"one of two is gone": {"sub/go.mod": "module example.org/m/sub\n\ngo 1.24\n\nrequire (\n\texample.org/gone " +
			"v1.0.0\n\texample.org/known v1.0.0\n)\n"},
		"replaced by a folder of test data": {
			"sub/go.mod": "module example.org/m/sub\n\ngo 1.24\n\nrequire (\n\texample.org/fake " +
				"v0.0.0\n\texample.org/known v1.0.0\n)\n\nreplace example.org/fake => ../testdata/fake\n",
			"testdata/fake/go.mod":    "module example.org/fake\n\ngo 1.24\n",
			"testdata/broken/go.work": "nonsense",
		},
	} {
		t.Run(name, func(t *testing.T) {
			files["go.mod"] = "module example.org/m\n\ngo 1.24\n"
			repo := newProject(t).commit(files)
			if text, err := be.fetchGoModules(t, Request{Repo: repo}); err != nil ||
				!strings.Contains(text, "THE SOURCE OF KNOWN") {
				t.Errorf("the module that can be had is not there: %v", err)
			}
		})
	}
}
