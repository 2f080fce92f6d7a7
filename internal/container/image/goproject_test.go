package image

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/hosttest"
)

// The tree lies in a container where it was compiled ahead: what it has in vendor/,
// and what C compiles, is not compiled again. A Go project that calls C is built,
// vetted and tested with it.
func TestProjectIsCompiledAhead(t *testing.T) {
	hosttest.Long(t, "Go and C are compiled in containers")
	t.Setenv("GOPROXY", "off")
	test := "package c\n\nimport \"testing\"\n\nfunc TestLen(t *testing.T) {\n\tif Len(\"four\") != 4 " +
		"{\n\t\tt.Error(Len(\"four\"))\n\t}\n}\n"
	for name, c := range map[string]struct {
		tools []string
		files map[string]string
	}{
		"with C, and vendored": {[]string{"go", "cgo"}, map[string]string{
			"go.mod": vendorMod, "vendor/modules.txt": vendorList, "vendor/example.org/dep/dep.go": vendorDep, "c_test.go": test,
			"own.c": "int own(void) { return 4; }\n",
			"c.go": "package c\n\n// #include <string.h>\n// int own(void);\nimport \"C\"\n\nimport " +
				"\"example.org/dep\"\n\nfunc Len(s string) int { return int(C.own()) * int(C.strlen(C.CString(s))) / " +
				"dep.Len(\"four\") }\n",
		}},
		"vendored alone": {[]string{"go"}, map[string]string{
			"go.mod": vendorMod, "vendor/modules.txt": vendorList, "vendor/example.org/dep/dep.go": vendorDep, "c_test.go": test,
			"c.go": "package c\n\nimport \"example.org/dep\"\n\nfunc Len(s string) int { return dep.Len(s) }\n",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			withC := slices.Contains(c.tools, "cgo")
			if !withC {
				hosttest.Long(t, "one with C shows the same")
			}
			be := newTestBuilder(t)
			img := be.mustEnsure(t, Request{Toolchains: c.tools, Repo: newProject(t).commit(c.files)})
			out := be.mustRun(t, img, toolboxSetup+`
go vet -x ./... 2>/tmp/x && go test -x ./... 2>>/tmp/x
echo compiled: $(grep -cE '/(compile|cgo) |gcc .* -c ' /tmp/x || true)
echo cgo: $(go env CGO_ENABLED)`)
			if !strings.Contains(out, "ok  \texample.org/c") || !strings.Contains(out, "compiled: 0\n") ||
				withC != strings.Contains(out, "cgo: 1\n") {
				t.Errorf("%s", out)
			}
			if withC {
				t.Run("under the race detector", func(t *testing.T) {
					hosttest.Long(t, "the standard library is compiled for the race detector")
					if out := be.mustRun(t, img, toolboxSetup+`go test -race ./... 2>&1 | tail -1`); !strings.HasPrefix(
						out, "ok  \texample.org/c") {
						t.Errorf("%q", out)
					}
				})
			}
		})
	}
}

// A module that another one has in its vendor folder.
const (
	vendorMod  = "module example.org/c\n\ngo 1.24\n\nrequire example.org/dep v1.0.0\n"
	vendorList = "# example.org/dep v1.0.0\n## explicit; go 1.24\nexample.org/dep\n"
	vendorDep  = "package dep\n\nfunc Len(s string) int { return len(s) }\n"
)

// One module that no registry has costs what needs it, and nothing else: the image is
// made, and says what it lacks each time.
func TestOneGoModuleIsMissing(t *testing.T) {
	hosttest.Long(t, "one of many kinds of images")
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(http.FileServer(http.Dir(strings.TrimSpace(string(cache)) + "/cache/download")))
	t.Cleanup(proxy.Close)
	t.Setenv("GOPROXY", proxy.URL)
	t.Setenv("GONOSUMDB", "*")
	be := newTestBuilder(t)
	req := Request{Toolchains: []string{"go"}, Repo: newProject(t).commit(map[string]string{
		"go.mod": strings.Replace(pflagMod, "require ", "require example.invalid/none v1.0.0\n\nrequire ", 1),
		"go.sum": pflagSum, "main.go": pflagTool,
		"b/b.go": "package b\n\nimport _ \"example.invalid/none\"\n",
	})}
	img := be.mustEnsure(t, req)
	want := "the modules of go.mod cannot be downloaded; its gates may fail: "
	if len(img.Notes) != 1 || !strings.HasPrefix(img.Notes[0], want) ||
		!strings.Contains(img.Notes[0], "example.invalid/none") {
		t.Errorf("notes %q", img.Notes)
	}
	if out := be.mustRun(t, img, toolboxSetup+"go run .; go build ./b || echo red"); !strings.HasPrefix(out, "0\n") ||
		!strings.HasSuffix(out, "red\n") {
		t.Errorf("%q", out)
	}
	again, err := be.Ensure(newContext(t), req)
	if err != nil || again.ID != img.ID || len(again.Notes) != 1 {
		t.Errorf("the next task is told %q, %v", again.Notes, err)
	}
}

// Modules of a workspace may need one another in versions that no registry has: all
// of them are built and tested offline.
func TestGoWorkspace(t *testing.T) {
	hosttest.Long(t, "TestGoDependenciesOffline has one module; TestDetect of internal/gates a workspace")
	localProxy(t)
	be := newTestBuilder(t)
	lib := "module example.invalid/lib\n\ngo 1.24\n\nrequire github.com/spf13/pflag v1.0.10\n"
	img := be.mustEnsure(t, Request{Toolchains: []string{"go"}, Repo: newProject(t).commit(map[string]string{
		"go.work":      "go 1.24\n\nuse (\n\t.\n\t./lib\n)\n\nreplace example.invalid/lib v0.0.0 => ./lib\n",
		"go.mod":       "module example.invalid/tool\n\ngo 1.24\n\nrequire example.invalid/lib v0.0.0\n",
		"main.go":      "package main\n\nimport \"example.invalid/lib\"\n\nfunc main() { println(lib.N()) }\n",
		"main_test.go": "package main\n\nimport \"testing\"\n\nfunc TestMain(t *testing.M) { main() }\n",
		"lib/go.mod":   lib, "lib/go.sum": pflagSum,
		"lib/lib.go": "package lib\n\nimport \"github.com/spf13/pflag\"\n\nfunc N() int { return pflag.NArg() }\n",
	})})
	if len(img.Notes) > 0 {
		t.Errorf("notes %q", img.Notes)
	}
	out := be.mustRun(t, img, toolboxSetup+
		"go vet ./... && go test ./... && cd lib && go vet ./... && go test ./... && go list -m all")
	if !strings.Contains(out, "ok  \texample.invalid/tool") || !strings.Contains(out, "github.com/spf13/pflag v1.0.10") {
		t.Errorf("%q", out)
	}
}

// Packages that no check needs cost no image where they cannot be had, and are not
// asked for again.
func TestSparePackages(t *testing.T) {
	hosttest.Long(t, "TestGatesStartWithoutDeps has packages that are not there")
	be := newTestBuilder(t)
	asked := 0
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(registry.Close)
	up := upstreams()
	up.Registries[ecosystem.NPM] = ecosystem.At(ecosystem.Endpoint{URL: registry.URL})
	useRegistries(t, be, up, t.TempDir())
	needed := Request{Toolchains: []string{"node"}, Repo: tinyProject(t)}
	be.dropAtEnd(t, needed, newBuiltBase())
	_, err := be.Ensure(newContext(t), needed)
	requireCode(t, err, company.EImage, "the npm packages of package-lock.json cannot be installed")

	spare := needed
	spare.Spare = []string{"node"}
	img := be.mustEnsure(t, spare)
	if len(img.Notes) != 1 ||
		img.Notes[0] != "the npm packages of package-lock.json cannot be installed; no check needs them, so they are left "+
			"out" {
		t.Errorf("notes %q", img.Notes)
	}
	if out := be.runInTree(t, img, "node -p 6*7"); out != "42\n" {
		t.Errorf("%q", out)
	}
	n := asked
	again, err := be.Ensure(newContext(t), spare)
	if err != nil || again.ID != img.ID || asked != n || len(again.Notes) != 1 {
		t.Errorf("the registry is asked again: %d times, %q, %v", asked-n, again.Notes, err)
	}
}
