package image

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/depproxy"
	"company/internal/ecosystem/ecosystemtest"
	"company/internal/lib/hosttest"
)

// dropVersionsAtEnd removes the versions that a test chooses and fetches.
func (be *testBuilder) dropVersionsAtEnd(t *testing.T) {
	t.Helper()
	dir := filepath.Join(be.dir, versionsFolder)
	before := map[string]bool{}
	for _, e := range mustReadDir(t, dir) {
		before[e.Name()] = true
	}
	t.Cleanup(func() {
		for _, e := range mustReadDir(t, dir) {
			if !before[e.Name()] {
				if err := removeTree(filepath.Join(dir, e.Name())); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

func mustReadDir(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return all
}

// A module that needs a newer Go than this host's gets that one: for its modules, its
// image and its work. The next task with the same wish makes nothing.
func TestFetchedGo(t *testing.T) {
	hosttest.Long(t, "the standard library of a second Go is compiled")
	be := newTestBuilder(t)
	withRegistries(t, be, ecosystem.Go)
	be.dropVersionsAtEnd(t)
	newer := be.otherGo(t)
	repo := newProject(t).commit(map[string]string{
		"go.mod": "module example.org/n\n\ngo " + newer + "\n\nrequire github.com/spf13/pflag v1.0.10\n", "go.sum": pflagSum,
		"main.go": pflagTool, "main_test.go": pflagTest,
	})
	req := Request{Toolchains: []string{"go"}, Repo: repo}
	img := be.mustEnsure(t, req)
	if len(img.Notes) > 0 {
		t.Errorf("notes %q", img.Notes)
	}
	out := be.mustRun(t, img, toolboxSetup+
		"go version; go vet ./... && go test ./...; go env GOROOT GOTOOLCHAIN; ls /opt/gomod")
	if !strings.Contains(out, "go version go"+newer+".") || !strings.Contains(out, "ok  \texample.org/n") ||
		!strings.Contains(out, "/usr/local/go\nlocal\n") || strings.Contains(out, "golang.org") {
		t.Errorf("%q", out)
	}
	x, err := be.Preview(newContext(t), req)
	if err != nil || len(x.Fetched) != 1 || !strings.HasPrefix(x.Fetched[0], "go"+newer+".") ||
		!strings.HasSuffix(x.Fetched[0], ", which go.mod asks for") {
		t.Errorf("people are told %q, %v", x.Fetched, err)
	}

	be.registries = nil // what was chosen is known
	said := len(be.progressLines)
	again, err := be.Ensure(newContext(t), req)
	if err != nil || again.ID != img.ID || len(be.progressLines) != said {
		t.Errorf("the second task has %s, not %s, and was told %q: %v", again.ID, img.ID, be.progressLines[said:], err)
	}
}

// otherGo is a language version of Go that this host does not have: the next one, or,
// where that is not released, an earlier one on a host that is told to be older.
func (be *testBuilder) otherGo(t *testing.T) string {
	t.Helper()
	host := be.hostTree(t, "go")
	var minor int
	if _, err := fmt.Sscanf(host.version, "go1.%d", &minor); err != nil {
		t.Fatal(err)
	}
	all, err := be.registries.ListVersions(newContext(t), host.Versions.Package)
	if err != nil {
		hosttest.Lacks(t, "no registry has releases of Go: %v", err)
	}
	next := fmt.Sprintf("1.%d", minor+1)
	if version, _ := host.Versions.Choose(next, all); version != "" {
		return next
	}
	host.version = fmt.Sprintf("go1.%d", minor-2)
	be.trees["go"] = &hostLookup{tree: host}
	be.trees["go"].Do(func() {})
	return fmt.Sprintf("1.%d", minor-1)
}

// Where the operator logs in at a registry, and the repository may not use that, a
// release comes through our own mirror, and is held against the checksum database all
// the same.
func TestFetchedGoThroughTheMirror(t *testing.T) {
	hosttest.Long(t, "TestFetchedNode fetches a toolchain")
	hosttest.Long(t, "a release of Go is fetched")
	b, err := New(Config{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	be := &testBuilder{Builder: b}
	withRegistries(t, be, ecosystem.Go)
	b.withLogins = b.registries
	tool := be.hostTree(t, "go").Toolchain
	all, err := b.registries.ListVersions(newContext(t), tool.Versions.Package)
	if err != nil {
		hosttest.Lacks(t, "no registry has releases of Go: %v", err)
	}
	version, shown := tool.Versions.Choose("1.25", all)
	tree := hostTree{Toolchain: tool, dir: b.treeDir(tool, version), version: shown, wanted: version, asked: "go.mod"}
	if err := b.fetchTree(newContext(t), Request{}, tree); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"bin/go", "pkg/tool/linux_" + arch + "/compile"} {
		info, err := os.Stat(filepath.Join(tree.dir, file))
		if err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("%s is not a program: %v", file, err)
		}
	}
	if _, err := os.Stat(filepath.Join(tree.dir, "src/go.mod")); err != nil {
		t.Error(err)
	}
	if left := mustReadDir(t, filepath.Join(b.dir, "tmp")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// A project of another major version of Node gets it, with an npm that goes with it,
// out of npm's registry.
func TestFetchedNode(t *testing.T) {
	hosttest.Long(t, "TestToolchains has Node of the host")
	hosttest.Long(t, "a version of Node is fetched")
	be := newTestBuilder(t)
	withRegistries(t, be, ecosystem.NPM)
	be.dropVersionsAtEnd(t)
	want := "22"
	if strings.HasPrefix(be.hostTree(t, "node").version, "22.") {
		want = "20"
	}
	files := lockNPM(t, map[string]string{
		"package.json": `{"name":"x","version":"1.0.0","scripts":{"test":"node --test"},"engines":{"node":"` + want +
			`.x"},"dependencies":{"is-odd":"3.0.1"}}`,
		"a.test.js": "require('node:test').test('odd', () => { if (!require('is-odd')(3)) throw 1 })\n",
	})
	img := be.mustEnsure(t, Request{Toolchains: []string{"node"}, Repo: newProject(t).commit(files)})
	if len(img.Notes) > 0 {
		t.Errorf("notes %q", img.Notes)
	}
	out := be.runInTree(
		t, img, `node --version; npm --version; npx --version >/dev/null; npm test 2>&1 | grep -E '^# (pass|fail)|^ℹ (pass|fail)'`)
	if !strings.HasPrefix(out, "v"+want+".") || !strings.Contains(out, "pass 1\n") || !strings.Contains(out, "fail 0\n") {
		t.Errorf("%q", out)
	}
}

// npmServer has versions of Node that cannot be had.
func npmServer(t *testing.T, tarball func(w http.ResponseWriter)) (depproxy.Upstreams, *int) {
	t.Helper()
	asked := 0
	var srv *httptest.Server
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".tgz") {
			tarball(w)
			return
		}
		asked++
		name := strings.TrimPrefix(r.URL.Path, "/")
		fmt.Fprintf(w, `{"name":%q,"versions":{"97.1.0":{"version":"97.1.0","dist":{"tarball":%q,"integrity":"sha512-%s"}}}}`,
			name, srv.URL+"/x/-/"+name+"-97.1.0.tgz", strings.Repeat("A", 86)+"==")
	}))
	t.Cleanup(srv.Close)
	up := upstreams()
	up.Registries[ecosystem.NPM] = ecosystem.At(ecosystem.Endpoint{URL: srv.URL})
	return up, &asked
}

// A version that cannot be had is a note, and what this host has is taken: no version
// is tried twice, and the registry is not asked in a circle.
func TestVersionThatCannotBeHad(t *testing.T) {
	for name, c := range map[string]struct {
		wants   string
		tarball func(w http.ResponseWriter)
		offline bool
		why     string
	}{
		"none":          {"98", nil, false, "no such version can be had"},
		"offline":       {"97", nil, true, "another is not fetched, container.deps is off"},
		"no such file":  {"97", func(w http.ResponseWriter) { w.WriteHeader(404) }, false, "-97.1.0.tgz"},
		"registry away": {"97", func(w http.ResponseWriter) { w.WriteHeader(503) }, false, "-97.1.0.tgz"},
		"another content": {"97", func(w http.ResponseWriter) {
			_, _ = w.Write(ecosystemtest.Crate(t, "package", "1.0.0", [2]string{"bin/node", "x"}))
		}, false, "-97.1.0.tgz"},
	} {
		t.Run(name, func(t *testing.T) {
			hosttest.Long(t, "one more row")
			be := newTestBuilder(t)
			be.dropVersionsAtEnd(t)
			up, asked := npmServer(t, c.tarball)
			useRegistries(t, be, up, t.TempDir())
			has := be.hostTree(t, "node").version
			req := Request{Toolchains: []string{"node"}, Offline: c.offline,
				Repo: newProject(t).commit(map[string]string{".nvmrc": c.wants + "\n", "package.json": "{}"})}
			img := be.mustEnsure(t, req)
			want := ".nvmrc wants node " + c.wants + ", the image has " + has + ": "
			if len(img.Notes) != 1 || !strings.HasPrefix(img.Notes[0], want) ||
				!strings.HasSuffix(img.Notes[0], c.why+" (install it on this host)") {
				t.Errorf("notes %q, want %q … %q", img.Notes, want, c.why)
			}
			if out := be.mustRun(t, img, "node --version"); out != "v"+has+"\n" {
				t.Errorf("%q", out)
			}
			n, lines := *asked, be.countProgress("fetching")
			if again, err := be.Ensure(newContext(t), req); err != nil || again.ID != img.ID || len(again.Notes) != 1 ||
				be.countProgress("fetching") != lines || c.tarball != nil && *asked != n {
				t.Errorf("the second time it is tried again: %v, %q, asked %d and %d times", err, again.Notes, n, *asked)
			}
		})
	}
}

// Where no registry has a version that Debian has, Debian's is taken.
func TestVersionOfDebian(t *testing.T) {
	be := newTestBuilder(t)
	host := be.hostTree(t, "node")
	debian, _, _ := strings.Cut(host.Toolchain.Version, ".")
	if strings.HasPrefix(host.version, debian+".") {
		host.version = "97.0.0"
		be.trees["node"] = &hostLookup{tree: host}
		be.trees["node"].Do(func() {})
	}
	repo := newProject(t).commit(map[string]string{".nvmrc": debian + "\n", "package.json": "{}"})
	steps, notes, err := be.planLayers(
		newContext(t), Request{Toolchains: []string{"node"}, Offline: true, Repo: repo}, newBuiltBase())
	if err != nil || len(notes) != 1 ||
		notes[0] != "Node comes from Debian: this host has another version than the requested one" {
		t.Errorf("notes %q, %v", notes, err)
	}
	if steps[1].kind != "debian" || !strings.Contains(steps[1].why, "nodejs") {
		t.Errorf("the layer %s: %s", steps[1].kind, steps[1].why)
	}
}

// The files of a tree ask in their order; of Go's every one counts, and the highest
// wins. What is not the project's own asks for nothing.
func TestReadWishOfATree(t *testing.T) {
	byName := map[string]ecosystem.Toolchain{}
	for _, k := range toolchains() {
		byName[k.Name] = k
	}
	for name, c := range map[string]struct {
		tool, has string
		files     map[string]string
		want      string
	}{
		"nothing": {"go", "go1.26.1", map[string]string{"README": ""}, ""},
		"of a part": {"go", "go1.26.1",
			map[string]string{"go.mod": "go 1.20\n", "tools/go.mod": "go 1.27.1\n", "b/go.mod": "go 1.27\n"},
			"tools/go.mod wants go 1.27.1, the image has 1.26.1"},
		"of the workspace": {"go", "go1.26.1", map[string]string{"go.mod": "go 1.27\n", "go.work": "go 1.28\n"},
			"go.work wants go 1.28, the image has 1.26.1"},
		"of an example": {"go", "go1.26.1",
			map[string]string{"go.mod": "go 1.20\n", "examples/x/go.mod": "go 1.28\n", "vendor/y/go.mod": "go 1.28\n",
				"_old/go.mod": "go 1.28\n"}, ""},
		"the first file": {"node", "20.1.0", map[string]string{".nvmrc": "22\n", ".node-version": "24\n"},
			".nvmrc wants node 22, the image has 20.1.0"},
		"which is met": {"node", "20.1.0",
			map[string]string{".nvmrc": "20\n", "package.json": `{"engines":{"node":">=22"}}`}, ""},
		"the manifest": {"node", "20.1.0",
			map[string]string{"package.json": `{"engines":{"node":">=22"}}`, "a/package.json": `{"engines":{"node":">=24"}}`},
			"package.json wants node >=22, the image has 20.1.0"},
		"the CI": {"node", "20.1.0",
			map[string]string{"package.json": "{}", ".github/workflows/a.yml": setUpNode("[24, 22.x, 18]", "ubuntu-latest")},
			".github/workflows/a.yml wants node 22, the image has 20.1.0"},
		"an older CI": {"node", "20.1.0",
			map[string]string{"package.json": "{}", ".github/workflows/a.yml": setUpNode("[14, 18]", "ubuntu-latest")},
			".github/workflows/a.yml wants node 18, the image has 20.1.0"},
		"a CI that is met": {"node", "20.1.0",
			map[string]string{".github/workflows/a.yml": setUpNode("[20, 22]", "ubuntu-latest")}, ""},
		"the newest in a CI": {"node", "20.1.0",
			map[string]string{".github/workflows/a.yml": setUpNode("[22, latest]", "ubuntu-latest")}, ""},
		"a CI of macOS": {"node", "20.1.0",
			map[string]string{".github/workflows/a.yml": setUpNode("[22]", "macos-latest")}, ""},
		"before the CI": {"node", "20.1.0",
			map[string]string{"package.json": `{"engines":{"node":">=20"}}`,
				".github/workflows/a.yml": setUpNode("[22]", "ubuntu-latest")}, ""},
		"below the root": {"node", "20.1.0", map[string]string{"web/.nvmrc": "22\n"},
			"web/.nvmrc wants node 22, the image has 20.1.0"},
		"where none is": {"node", "", map[string]string{".nvmrc": "22\n"}, ""},
		"text of a stranger": {"rust", "1.90.0", map[string]string{"rust-toolchain": "\x1b[2J\n"},
			"rust-toolchain wants rust"},
	} {
		t.Run(name, func(t *testing.T) {
			repo := newProject(t).commit(c.files)
			tree, err := listTree(t.Context(), *repo, repo.Commit)
			if err != nil {
				t.Fatal(err)
			}
			w, err := readWish(t.Context(), tree, byName[c.tool], c.has)
			got := ""
			if w != nil {
				got = w.describeUnmet(c.tool, "")
			}
			if err != nil || (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) || strings.Contains(got, "\x1b") {
				t.Errorf("%q, want %q (%v)", got, c.want, err)
			}
		})
	}
}

// setUpNode is a workflow whose matrix has versions of Node.
func setUpNode(versions, on string) string {
	return "jobs:\n  test:\n    runs-on: " + on + "\n    strategy: {matrix: {node: " + versions + "}}\n    steps:\n" +
		"      - uses: actions/setup-node@v4\n        with: {node-version: \"${{ matrix.node }}\"}\n      - run: npm test\n"
}

// What was chosen once stays, and what could not be had is asked for again later.
func TestChosenVersionStays(t *testing.T) {
	b, err := New(Config{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	tool := ecosystem.Toolchain{Name: "x",
		Versions: &ecosystem.Versions{Choose: func(wants string, all []string) (string, string) {
			for _, v := range all {
				if strings.HasPrefix(v, wants) {
					return v, "x" + v
				}
			}
			return "", ""
		}}}
	ask := func(all ...string) func() ([]string, error) { return func() ([]string, error) { return all, nil } }
	choose := func(wants string, list func() ([]string, error)) string {
		c, err := b.chooseVersion(tool, wants, list)
		if err != nil {
			return err.Error()
		}
		return c.Version + " " + c.Shown
	}
	away := func() ([]string, error) { return nil, company.E(company.ERegistry, "away") }
	for i, c := range []struct {
		wants string
		list  func() ([]string, error)
		want  string
	}{{"2", ask("1.0"), " "}, {"2", away, "away"}, {"2", ask("2.1"), "2.1 x2.1"}, {"2", ask("2.9"), "2.1 x2.1"},
		{"2", away, "2.1 x2.1"}, {"3", ask("3.0"), "3.0 x3.0"}, {"../../x", ask("../../x"), "../../x x../../x"}} {
		if got := choose(c.wants, c.list); got != c.want {
			t.Errorf("%d: %q is %q, want %q", i, c.wants, got, c.want)
		}
	}
	b.refused["a"] = refusal{"it is away", time.Now().Add(time.Minute)}
	b.refused["b"] = refusal{"it was away", time.Now().Add(-time.Minute)}
	if b.whyRefused("a") != "it is away" || b.whyRefused("b") != "" || b.whyRefused("c") != "" {
		t.Error("what could not be had is not known, or for ever")
	}
}
