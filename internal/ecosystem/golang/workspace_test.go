package golang

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"testing"

	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
)

// workHost is a host whose go command downloads, and says where and how.
type workHost struct {
	partialHost
	ran    []string
	graphs []string          // where it downloaded a module graph
	fail   map[string]string // what a run ends with, by its folder
}

func (h *workHost) Run(_ context.Context, dir string, env []string, argv ...string) (string, error) {
	work := env[slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, "GOWORK=") })]
	if slices.Contains(argv, "edit") {
		return "{}", nil
	}
	if slices.Contains(argv, "list") {
		h.graphs = append(h.graphs, dir+" "+work)
		return "", errors.New("a go.mod is missing")
	}
	h.ran = append(h.ran, dir+" "+work+" "+strings.Join(argv[3:], " "))
	if text := h.fail[dir+" "+work]; text != "" {
		return "", errors.New(text)
	}
	return "", nil
}
func (*workHost) Explain(_ context.Context, err error) error { return err }

func (h *workHost) fetch(t *testing.T, texts map[string]string) error {
	t.Helper()
	all, err := Ecosystem{}.Installs(&ecosystemtest.Sources{Texts: texts})
	if err != nil || len(all) == 0 || all[0].Fetch == nil {
		t.Fatalf("%d layers, %v", len(all), err)
	}
	return all[0].Fetch(t.Context(), h)
}

// The modules of a workspace are downloaded together, as it replaces some of them;
// those beside it by themselves.
func TestWorkspaceIsDownloadedAsAWhole(t *testing.T) {
	files := map[string]string{"go.work": "go 1.24\n\nuse (\n\t./a\n\tb\n\t../outside\n)\n", "a/go.mod": needs,
		"b/go.mod": needs, "c/go.mod": needs}
	h := &workHost{}
	if err := h.fetch(t, files); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(h.ran, "; "); got != "/s GOWORK=/s/go.work ; /s/c GOWORK=off " {
		t.Errorf("%q", got)
	}
	// The rest of the graph is downloaded behind them. What of it cannot be had stays in the log.
	if got := strings.Join(h.graphs, "; "); got != "/s GOWORK=/s/go.work; /s/c GOWORK=off" || len(h.logged) != 2 ||
		!strings.Contains(h.logged[0], "go doc of other modules may fail: a go.mod is missing") {
		t.Errorf("%q, %q", got, h.logged)
	}

	// A part that no registry has costs the others nothing.
	h = &workHost{fail: map[string]string{"/s GOWORK=/s/go.work": "a.b/c@v1.0.0: 404 Not Found",
		"/s/b GOWORK=off": "a.b/c@v1.0.0: 404 Not Found"}}
	if err := h.fetch(t, files); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(
		h.ran, "; "); got != "/s GOWORK=/s/go.work ; /s/a GOWORK=off ; /s/b GOWORK=off ; /h GOWORK=off "+
		"example.org/dep@v1.0.0; /s/c GOWORK=off " {
		t.Errorf("%q", got)
	}

	// A registry that is away is an error, and so is a module that was changed.
	for _, words := range []string{"503 Service Unavailable", "404 Not Found; checksum mismatch"} {
		h = &workHost{fail: map[string]string{"/s GOWORK=/s/go.work": words}}
		if err := h.fetch(t, files); err == nil || !strings.Contains(err.Error(), words) || len(h.ran) != 1 {
			t.Errorf("%s: %v after %q", words, err, h.ran)
		}
	}

	files["go.work"] += "replace x.y/z => ../../etc\n"
	if err := (&workHost{}).fetch(t, files); err == nil || !strings.Contains(err.Error(), "outside the repository") {
		t.Errorf("a workspace that leads out: %v", err)
	}
}

// A workspace that carries its dependencies along asks no registry.
func TestVendoredWorkspace(t *testing.T) {
	all, err := Ecosystem{}.Installs(&ecosystemtest.Sources{Texts: map[string]string{
		"go.work": "use ./a\nuse ./b\n", "a/go.mod": needs, "b/go.mod": needs, "vendor/modules.txt": "## workspace\n",
	}})
	if err != nil || len(all) != 1 || all[0].Layer != "godeps" {
		t.Errorf("%+v, %v", all, err)
	}
}

// One dependency of the root that no registry has costs the others nothing, on the
// base; of lock files that a task has changed it is refused.
func TestOneMissingModule(t *testing.T) {
	base := &ecosystemtest.Sources{Texts: map[string]string{"go.mod": needs}}
	fail := map[string]string{"/s GOWORK=off": "example.org/dep@v1.0.0: reading …: 404 Not Found"}
	h := &workHost{fail: fail}
	if err := h.fetch(t, base.Texts); err != nil {
		t.Error(err)
	}
	if got := strings.Join(h.ran, "; "); got != "/s GOWORK=off ; /h GOWORK=off example.org/dep@v1.0.0" {
		t.Errorf("%q", got)
	}
	if len(h.told) == 0 || !strings.HasPrefix(
		h.told[len(h.told)-1], "the modules of go.mod cannot be downloaded; its gates may fail: ") {
		t.Errorf("people are told %q", h.told)
	}
	all, err := Ecosystem{}.Installs(
		&ecosystemtest.Sources{Texts: map[string]string{"go.mod": needs + "\n"}, Before: base})
	if err != nil || len(all) != 3 {
		t.Fatalf("%d layers, %v", len(all), err)
	}
	if err := all[2].Fetch(t.Context(), &workHost{fail: fail}); err == nil {
		t.Error("what a task has put into a lock file is left out without a word")
	}
}

// Another version of Go downloads with itself: a go.mod may be too new for this host's.
func TestDownloadWithAnotherVersion(t *testing.T) {
	h := &otherVersionHost{}
	if err := goReleases.Fetch(t.Context(), h, "go1.27.4"); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(h.env, "GOTOOLCHAIN=go1.27.4") || strings.Join(h.argv, " ") != "go version" {
		t.Errorf("%q in %q", h.argv, h.env)
	}
	all, err := Ecosystem{}.Installs(&ecosystemtest.Sources{Texts: map[string]string{"go.mod": needs}})
	if err != nil {
		t.Fatal(err)
	}
	if err := all[0].Fetch(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(h.env, "GOTOOLCHAIN=local") || h.argv[0] != "/t/bin/go" ||
		!strings.HasPrefix(h.env[0], "PATH=/t/bin:") {
		t.Errorf("%q in %q", h.argv, h.env)
	}
	if got := goReleases.Dir("go1.27.4"); path.Base(got) != "toolchain@v0.0.1-go1.27.4"+toolchainSuffix {
		t.Errorf("it lies in %s", got)
	}
}

type otherVersionHost struct {
	partialHost
	env, argv []string
}

func (*otherVersionHost) Places() ecosystem.FetchPlaces {
	return ecosystem.FetchPlaces{Source: "/s", Home: "/h", Out: "/o", Toolchain: "/t"}
}

func (h *otherVersionHost) Run(_ context.Context, _ string, env []string, argv ...string) (string, error) {
	h.env, h.argv = env, argv
	return "{}", nil
}
