package golang

import (
	"fmt"
	"strings"
	"testing"

	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
)

const needs = "module example.org/tool\n\ngo 1.24\n\nrequire example.org/dep v1.0.0\n"

// Which lock files count, and what needs a registry.
func TestModules(t *testing.T) {
	m, err := readModules(&ecosystemtest.Sources{Texts: map[string]string{
		"go.mod": needs, "go.sum": "x", "tools/go.mod": "module t\n", "b/vend/go.mod": needs,
		"b/vend/vendor/modules.txt": "# x\n",
		"b/vend/vendor/x/go.mod":    needs, "testdata/go.mod": needs, "_old/go.mod": needs, ".hidden/go.mod": needs,
		"bad dir;x/go.mod": needs,
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(m.dirs, " "); got != ". b/vend tools" {
		t.Errorf("modules %q", got)
	}
	if got := strings.Join(m.download, " "); got != "." || !m.vendored {
		t.Errorf("to download %q, vendored %v", got, m.vendored)
	}
	// A replacement may lead to what the go command does not look into.
	if got := strings.Join(m.locks,
		" "); got != ".hidden/go.mod _old/go.mod b/vend/go.mod b/vend/vendor/x/go.mod go.mod go.sum testdata/go.mod "+
		"tools/go.mod" {
		t.Errorf("lock files %q", got)
	}
}

// The base's modules are compiled with the base; those of changed lock files lie
// above that.
func TestLayersOfABranch(t *testing.T) {
	base := &ecosystemtest.Sources{Texts: map[string]string{"go.mod": needs}}
	for name, c := range map[string]struct{ branch, want string }{
		"changed":                {needs + "\n", "gomod godeps gomod"},
		"equal":                  {needs, "gomod godeps"},
		"needs nothing any more": {"module example.org/tool\n", "gomod godeps"},
	} {
		all, err := Ecosystem{}.Installs(&ecosystemtest.Sources{Texts: map[string]string{"go.mod": c.branch}, Before: base})
		if err != nil {
			t.Fatal(err)
		}
		var layers []string
		for i, in := range all {
			layers = append(layers, in.Layer)
			if in.Fetch != nil && in.Own != (i == 0) {
				t.Errorf("%s: layer %d is made within the wrong policy", name, i)
			}
		}
		if got := strings.Join(layers, " "); got != c.want {
			t.Errorf("%s: layers %q, want %q", name, got, c.want)
		}
	}
}

// A large module without dependencies has a layer with its compiled packages. Files that the
// go command ignores do not count.
func TestLargeModuleIsCompiledAhead(t *testing.T) {
	for name, c := range map[string]struct {
		files  int
		format string
		want   int
	}{
		"large":         {manyFiles, "p%d/p.go", 1},
		"small":         {manyFiles - 1, "p%d/p.go", 0},
		"data of tests": {manyFiles, "testdata/p%d/p.go", 0},
		"no Go":         {manyFiles, "p%d/p.go.txt", 0},
	} {
		texts := map[string]string{"go.mod": "module example.org/tool\n\ngo 1.24\n"}
		for i := range c.files {
			texts[fmt.Sprintf(c.format, i)] = "package p\n"
		}
		all, err := Ecosystem{}.Installs(&ecosystemtest.Sources{Texts: texts})
		if err != nil || len(all) != c.want {
			t.Errorf("%s: %d layers, want %d (%v)", name, len(all), c.want, err)
		}
	}
}

// Whatever happens to the base tree, there is an image: the gates say what is wrong
// with it.
func TestBaseTreeNeverFailsTheImage(t *testing.T) {
	all, err := Ecosystem{}.Installs(&ecosystemtest.Sources{Texts: map[string]string{"go.mod": needs}})
	if err != nil || len(all) != 2 {
		t.Fatalf("%d layers, %v", len(all), err)
	}
	compiled := all[1]
	if want := "the base commit takes too long to build; what did compile is kept"; compiled.IfKilled != want {
		t.Errorf("killed for memory: %q, want %q", compiled.IfKilled, want)
	}
	for exit, why := range map[int]string{1: "does not build cleanly", 92: "does not fit into the build container",
		93: "builds, but go vet finds something in it or in its tests", 124: "takes too long to build",
		137: "takes too long to build"} {
		for i, step := range compiled.Steps {
			says := why
			if i != 1 {
				says = "does not fit into the build container" // `cp` and `git` end with codes of their own
			}
			if step.Excuse == nil || step.Excuse(exit) != "the base commit "+says+"; what did compile is kept" {
				t.Errorf("exit code %d of %q fails the image, or is told otherwise", exit, step.Progress)
			}
		}
	}
}

// A password of the operator's is in no environment that may not use it, and a
// mirror stands for all that is not on this host's disk.
func TestProxies(t *testing.T) {
	const setting = "https://me:word@a.example,file:///cache|https://b.example,direct"
	for want, at := range map[string]ecosystem.FetchPlaces{
		"https://me:word@a.example file:///cache https://b.example": {UseLogins: true},
		"file:///cache https://b.example":                           {},
		"file:///cache http://mirror/go":                            {Mirror: "http://mirror"},
	} {
		if got, err := chooseProxies(setting, at); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q, want %q (%v)", got, want, err)
		}
	}
	if got, err := chooseProxies("https://me:word@a.example", ecosystem.FetchPlaces{}); err != nil ||
		strings.Join(got, " ") != "off" {
		t.Errorf("%q (%v)", got, err)
	}
	if _, err := chooseProxies("direct", ecosystem.FetchPlaces{UseLogins: true}); err == nil {
		t.Error("modules are fetched from where their names say")
	}
}

// What compiles ahead leaves its outputs and no other file.
func TestPlacesOfFiles(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	for file, want := range map[string]bool{"0a/" + sum + "-a": true, "0a/" + sum + "-d": true, "0a/" + sum: false,
		"trim.txt": false, "../0a/" + sum + "-a": false} {
		if _, ok := (cacheCollector{}).Place(ecosystem.Entry{Path: file}); ok != want {
			t.Errorf("%s of a build cache: %v", file, ok)
		}
	}
	for file, want := range map[string]bool{
		"a.b/c@v1.0.0/c.go": true, "cache/download/a.b/c/@v/v1.0.0.zip": true, "cache/download/sumdb": false,
		"cache/download/a.b/c/@v/v1.0.0.lock": false, "cache/lock": false,
		"a.b/c@v1.0.0/yarn.lock": true, "a.b/c@v1.0.0/web/flake.lock": true, "a.b/c@v1.0.0/cache/lock": true,
		// folders
		"a.b/c.lock": true, "a.b/c.lock@v1.0.0": true, "a.b/c@v1.0.0/file.lock": true, "cache/download/a.b/c.lock": true,
		"cache/download/a.b/c.lock/@v": true,
	} {
		if _, ok := (moduleCollector{&modules{}}).Place(ecosystem.Entry{Path: file}); ok != want {
			t.Errorf("%s of a module cache: %v", file, ok)
		}
	}
}
