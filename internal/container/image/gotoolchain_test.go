package image

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/dirhash"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/golang"
	"company/internal/lib/hosttest"
)

// toolboxSetup is what the toolbox does before the first command: clone, and
// link the baked build cache into a cache of the worker's own.
const toolboxSetup = `set -eu
git clone -q --shared ` + RepoPath + ` /work/repo && cd /work/repo
mkdir -p $HOME/.cache && cp -rs /opt/gocache $HOME/.cache/go-build
`

// A worker tests a module offline, as the agent, on a read-only root, and
// compiles nothing of the standard library (CTR-1; the image's part of it).
func TestGoTestOffline(t *testing.T) {
	be := newTestBuilder(t)
	p := newProject(t)
	p.commit(map[string]string{"go.mod": "module example.org/m\n\ngo 1.24\n"})
	p.git("checkout", "-q", "-b", "private")
	secret := p.commit(map[string]string{"secret": "of another branch"})
	p.git("checkout", "-q", "main")
	repo := p.commit(map[string]string{
		"m.go": "package m\n\nimport (\n\t\"encoding/json\"\n\t\"net/http\"\n)\n\nfunc M(v any) (int, error) {\n\tb, " +
			"err := json.Marshal(v)\n\treturn len(b) + http.StatusOK, err\n}\n",
		"m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestM(t *testing.T) {\n\tif n, _ := M(1); n != 201 " +
			"{\n\t\tt.Fatal(n)\n\t}\n}\n",
	})
	img := be.mustEnsure(t, Request{Toolchains: []string{"go"}, Repo: repo})
	if len(img.Layers) != 5 {
		t.Errorf("a module without requirements has layers %v", img.Layers)
	}
	out := be.mustRun(t, img, toolboxSetup+`
id -u; git rev-parse HEAD; git branch --show-current; git rev-list --all --count
if git cat-file -e `+string(secret.Commit)+` 2>/dev/null; then echo LEAKED; fi
go test -x ./... >/tmp/x 2>&1 || { cat /tmp/x; exit 1; }
grep -E '^ok' /tmp/x
echo std compiled: $(grep -c -e 'compile .* -std ' /tmp/x || true)
go test ./... && go vet ./... && go build ./...
if touch /opt/gocache/x 2>/dev/null || touch /opt/gomod/x 2>/dev/null || touch /opt/repo.git/x 2>/dev/null; then echo WRITABLE; fi
`)
	want := []string{"65532\n" + string(repo.Commit) + "\nmain\n2\n", "ok  \texample.org/m", "std compiled: 0\n",
		"(cached)"}
	for _, w := range want {
		if !strings.Contains(out, w) {
			t.Errorf("%q is not in\n%s", w, out)
		}
	}
	for _, w := range []string{"LEAKED", "WRITABLE"} {
		if strings.Contains(out, w) {
			t.Errorf("%s:\n%s", w, out)
		}
	}
}

const (
	pflagMod = "module example.org/tool\n\ngo 1.24\n\nrequire github.com/spf13/pflag v1.0.10\n"
	pflagSum = "github.com/spf13/pflag v1.0.10 h1:4EBh2KAYBwaONj6b2Ye1GiHfwjqyROoF4RwYO+vPwFk=\ngithub.com/spf13/pflag " +
		"v1.0.10/go.mod h1:McXfInJRrz4CZXVZOBLb0bTZqETkiAhM9Iw0y3An2Bg=\n"
	pflagTool = "package main\n\nimport (\n\t\"fmt\"\n\n\t\"github.com/spf13/pflag\"\n)\n\nfunc main() { " +
		"fmt.Println(pflag.NewFlagSet(\"x\", pflag.ContinueOnError).NArg()) }\n"
	pflagTest = "package main\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) {\n\t_ = " +
		"os.WriteFile(\"/opt/out/ran\", nil, 0o600)\n\tos.Exit(m.Run())\n}\n\nfunc TestX(t *testing.T) { main() }\n"
)

// localProxy makes the module cache of this host the registry. It has pflag,
// because this program is made with it.
func localProxy(t *testing.T) {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOPROXY", "file://"+strings.TrimSpace(string(out))+"/cache/download")
}

// serveModule adds a registry with example.invalid/lib. Its go.mod names a module that none of its
// packages needs, and of which the registry has no package. It gives the lines for go.mod and go.sum.
func serveModule(t *testing.T) (mod, sum string) {
	t.Helper()
	at := t.TempDir()
	write := func(name string, text []byte) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(at, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hash := func(text string) string {
		h, err := dirhash.Hash1([]string{"go.mod"},
			func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil })
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	const libMod, farMod = "module example.invalid/lib\n\ngo 1.24\n\nrequire example.invalid/far v1.0.0\n",
		"module example.invalid/far\n\ngo 1.24\n"
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for name, text := range map[string]string{"go.mod": libMod,
		"lib.go": "// Package lib is far from here.\npackage lib\n"} {
		f, err := w.Create("example.invalid/lib@v1.0.0/" + name)
		if err == nil {
			_, err = io.WriteString(f, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	write("example.invalid/lib/@v/v1.0.0.zip", packed.Bytes())
	for name, mod := range map[string]string{"lib": libMod, "far": farMod} {
		write("example.invalid/"+name+"/@v/v1.0.0.info", []byte(`{"Version":"v1.0.0"}`))
		write("example.invalid/"+name+"/@v/v1.0.0.mod", []byte(mod))
	}
	whole, err := dirhash.HashZip(filepath.Join(at, "example.invalid/lib/@v/v1.0.0.zip"), dirhash.Hash1)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOPROXY", "file://"+at+","+os.Getenv("GOPROXY"))
	return "\nrequire example.invalid/lib v1.0.0\n", "example.invalid/far v1.0.0/go.mod " + hash(farMod) +
		"\nexample.invalid/lib v1.0.0 " + whole + "\nexample.invalid/lib v1.0.0/go.mod " + hash(libMod) + "\n"
}

// Dependencies of the lock files are there, and compiled: offline build, vet
// and test work, and a new commit with the same lock files costs the history
// alone. No code of the project runs while the image is made (T23).
// go doc shows a package of another module, which needs the go.mod files of the whole module graph.
func TestGoDependenciesOffline(t *testing.T) {
	localProxy(t)
	libMod, libSum := serveModule(t)
	be := newTestBuilder(t)
	p := newProject(t)
	first := p.commit(map[string]string{
		"go.mod": pflagMod + libMod, "go.sum": pflagSum + libSum, "main.go": pflagTool, "main_test.go": pflagTest,
		"lib.go": "package main\n\nimport _ \"example.invalid/lib\"\n",
	})
	img := be.mustEnsure(t, Request{Toolchains: []string{"go"}, Repo: first})
	out := be.mustRun(t, img, toolboxSetup+`
go build -x -o /tmp/tool . 2>/tmp/x; /tmp/tool
echo compiled: $(grep -c '/compile ' /tmp/x || true)
go vet ./... && go test ./... && go mod verify
if ls /opt/out/ran /opt/out.log 2>/dev/null; then echo RAN; fi
go doc example.invalid/lib; go doc pflag.NArg; ls /opt/gomod/cache/download/example.invalid/far/@v
`)
	for _, w := range []string{"0\ncompiled: 0\n", "ok  \texample.org/tool", "all modules verified",
		"Package lib is far from here.", "func NArg() int", "v1.0.0.mod"} {
		if !strings.Contains(out, w) {
			t.Errorf("%q is not in\n%s", w, out)
		}
	}
	if strings.Contains(out, "RAN") {
		t.Errorf("the project's code ran in preparation:\n%s", out)
	}

	// does not parse: red, but an image
	second := p.commit(map[string]string{"extra.go": "package main\n\nfunc extra() {\n"})
	before := be.countProgress("preparing")
	next := be.mustEnsure(t, Request{Toolchains: []string{"go"}, Repo: second})
	if n := be.countProgress("preparing") - before; n != 1 || next.ID == img.ID {
		t.Errorf("%d layers were made for a commit with the same lock files, want 1", n)
	}
}

// A base that does not compile is the gates' business. Vendored dependencies
// need no registry.
func TestBaseThatDoesNotCompile(t *testing.T) {
	hosttest.Long(t, "test/e2e and test/attack have a base that does not compile")
	t.Setenv("GOPROXY", "off")
	be := newTestBuilder(t)
	repo := newProject(t).commit(map[string]string{
		"go.mod":   "module example.org/red\n\ngo 1.24\n\nrequire example.org/dep v1.0.0\n",
		"main.go":  "package main\n\nfunc main( {\n",
		"ok/ok.go": "package ok\n\nimport _ \"example.org/dep\"\n", "vendor/example.org/dep/dep.go": "package dep\n",
		"vendor/modules.txt": "# example.org/dep v1.0.0\n## explicit; go 1.24\nexample.org/dep\n",
	})
	img := be.mustEnsure(t, Request{Toolchains: []string{"go"}, Repo: repo})
	if be.countProgress("does not build cleanly") != 1 {
		t.Errorf("nobody was told: %q", be.progressLines)
	}
	out := be.mustRun(t, img, toolboxSetup+
		"go build -x ./ok 2>/tmp/x; echo compiled: $(grep -c '/compile ' /tmp/x || true)")
	if !strings.Contains(out, "compiled: 0") {
		t.Errorf("what is not broken was not kept:\n%s", out)
	}
}

// What a go.mod asks of the host is refused, each with its reason (T23, T24).
func TestGoModRefused(t *testing.T) {
	hosttest.Long(t, "one of many kinds of images")
	cases := map[string]struct {
		proxy string
		files map[string]string
		want  string
	}{
		"replaced by a path of the host": {"",
			map[string]string{"go.mod": pflagMod + "\nreplace github.com/spf13/pflag => ../../../root/go\n"},
			"outside the repository"},
		"replaced by an absolute path": {"",
			map[string]string{"go.mod": pflagMod + "\nreplace github.com/spf13/pflag => /etc\n"}, "outside the repository"},
		"wrong checksum": {"",
			map[string]string{"go.mod": pflagMod, "go.sum": strings.ReplaceAll(pflagSum, "h1:4E", "h1:5E")},
			"checksum mismatch"},
		"no proxy":     {"direct", map[string]string{"go.mod": pflagMod, "go.sum": pflagSum}, "no Go module proxy"},
		"not a go.mod": {"", map[string]string{"go.mod": "require nonsense\n"}, "cannot read go.mod"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			localProxy(t)
			if c.proxy != "" {
				t.Setenv("GOPROXY", c.proxy)
			}
			be := newTestBuilder(t)
			req := Request{Toolchains: []string{"go"}, Repo: newProject(t).commit(c.files)}
			be.dropAtEnd(t, req, newBuiltBase())
			_, err := be.Ensure(newContext(t), req)
			requireCode(t, err, company.EImage, c.want)
		})
	}
}

// fetchGoModules makes the layer of the modules that a request's lock files name, and
// gives its tar.
func (be *testBuilder) fetchGoModules(t *testing.T, req Request) (string, error) {
	t.Helper()
	tree, err := listTree(t.Context(), *req.Repo, req.Repo.locksCommit())
	if err != nil {
		t.Fatal(err)
	}
	plan := &layerPlan{b: be.Builder}
	s := newSources(t.Context(), plan, tree, req)
	if req.Repo.locksCommit() != req.Repo.Commit {
		base, err := listTree(t.Context(), *req.Repo, req.Repo.Commit)
		if err != nil {
			t.Fatal(err)
		}
		s.base = newSources(t.Context(), plan, base, req)
	}
	all, err := golang.Ecosystem{}.Installs(s)
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(in ecosystem.Install) bool { return in.Fetch == nil })
	if len(all) == 0 {
		t.Fatal("no layer of modules")
	}
	own := all[len(all)-1]
	own.Own = false // the policy is about these lock files
	work := t.TempDir()
	l, err := newLayer(filepath.Join(work, "layer.tar"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.removeFile()
	if err := be.fillFetched(own, req, hostTree{})(newContext(t), nil, work, l); err != nil {
		return "", err
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(work, "layer.tar"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text), nil
}
