package cli

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	officeapp "company/internal/app"
	"company/internal/config"
	"company/internal/diagnose"
	"company/internal/gitops"
	"company/internal/office"
)

// A remote is named by its path alone; what else stands in it may be a secret.
func TestRepoName(t *testing.T) {
	for remote, want := range map[string]string{
		"":                                        "checkout",
		"https://github.com/acme/app.git":         "acme/app",
		"https://user:hunter2@example.com/a/b":    "a/b",
		"https://git.example.com/group/sub/app":   "group/sub/app",
		"https://git.example.com/app.git":         "checkout",
		"https://git.example.com":                 "checkout",
		"git@github.com:acme/app.git":             "acme/app",
		"ssh://git@example.com:2222/acme/app.git": "acme/app",
		"host:app.git":                            "checkout",
		"/srv/git/app.git":                        "checkout",
		"file:///srv/git/app.git":                 "checkout",
		"https://github.com/acme/app.git/":        "acme/app",
	} {
		if got := diagnose.RepoName(remote, "/home/me/checkout"); got != want {
			t.Errorf("%q is shown as %q, want %q", remote, got, want)
		}
	}
}

// A name may hold anything; it stays on its line and steers no terminal.
func TestBannerHostileNames(t *testing.T) {
	if got := diagnose.RepoName("", "/home/me/we\nird \x1b[2J\u202ename"); strings.ContainsAny(got, "\n\x1b\u202e") {
		t.Errorf("%q", got)
	}
}

// Commits that the remote lacks are said, since they travel along.
func TestBaseState(t *testing.T) {
	c := config.Default()
	for _, x := range []struct {
		base gitops.BaseInfo
		want string
	}{
		{gitops.BaseInfo{}, "clean"},
		{gitops.BaseInfo{Dirty: true}, "uncommitted changes are not part of it"},
		{gitops.BaseInfo{AheadOfRemote: 3}, "clean"},
		{gitops.BaseInfo{Detached: true, DefaultBranch: "trunk"}, "clean; detached, the pull request goes into trunk"},
		{gitops.BaseInfo{Shallow: true}, "clean; a shallow clone, its history is completed from origin"},
		{gitops.BaseInfo{AheadOfRemote: 1, RemoteURL: "x"}, "clean; with 1 commit that origin lacks"},
		{gitops.BaseInfo{AheadOfRemote: 3, RemoteURL: "x", Dirty: true}, "uncommitted changes are not part of it; with 3 commits that origin lacks"},
	} {
		if got := diagnose.BaseState(c, x.base); got != x.want {
			t.Errorf("%+v: %q, want %q", x.base, got, x.want)
		}
	}
}

// A look that takes a while is said once; a quick one is not.
func TestWithProgress(t *testing.T) {
	for after, want := range map[time.Duration]string{0: "", progressDelay * 4: "company " + Version + "  looking ...\n"} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			a := &app{err: &out, output: "text"}
			done := a.withProgress("looking")
			time.Sleep(after)
			done()
			if out.String() != want {
				t.Errorf("after %s: %q", after, out.String())
			}
		})
	}
}

// Fallbacks in a circle, which validation refuses elsewhere, end here too.
func TestFallbackChain(t *testing.T) {
	c := config.Config{Models: map[string]config.Model{"a": {Fallback: []string{"b", "c"}}, "b": {Fallback: []string{"a"}}, "c": {}}}
	if got := strings.Join(officeapp.FallbackChain(c, "a"), " "); got != "a b c" {
		t.Error(got)
	}
}

// What is shown of the checks is bounded, on one line each, and steers no
// terminal: it is text of the repository.
func TestGateLines(t *testing.T) {
	var s diagnose.RepoCheck
	for range 3 {
		s.Project.Notes = append(s.Project.Notes, "npm package: test: x\x1b[2J\n[RESULT] COMPLETE")
	}
	if got := diagnose.GateLines(s); len(got) != 3 || strings.ContainsAny(strings.Join(got, ""), "\x1b\n") {
		t.Errorf("%q", got)
	}
	for range 9 {
		s.Project.Notes = append(s.Project.Notes, "more")
	}
	if got := diagnose.GateLines(s); len(got) != diagnose.MaxNotes+1 || got[diagnose.MaxNotes] != "and 8 more" {
		t.Errorf("%q", got)
	}
	if got := diagnose.GateLines(diagnose.RepoCheck{GatesError: errInterrupted}); len(got) != 1 || got[0] != "not seen yet: interrupted" {
		t.Errorf("%q", got)
	}
}

// Where nobody chose a model, the first lines name the one that Ollama has.
func TestChosenModel(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/tags":
			_, _ = io.WriteString(w, `{"models":[{"name":"qwen3:8b","model":"qwen3:8b"}]}`)
		case "/api/show":
			_, _ = io.WriteString(w, `{"capabilities":["completion","tools"]}`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer srv.Close()
	env := map[string]string{"OLLAMA_HOST": srv.URL}
	for flags, want := range map[string]string{"": "ollama qwen3:8b", "models.default.model": "ollama mine"} {
		a := &app{env: func(k string) (string, bool) { v, ok := env[k]; return v, ok }}
		o := config.LoadOptions{Flags: map[string]string{}}
		if flags != "" {
			o.Flags[flags] = "mine"
		}
		l, err := config.Load(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if got := agentsLine(l.Config, a.checker().ChosenModel(t.Context(), office.Paths{}, l)); got != want {
			t.Errorf("%s: %q, want %q", flags, got, want)
		}
	}
	// Several profiles are shown with whom they are for.
	l, err := config.Load(t.Context(), config.LoadOptions{Env: func(string) (string, bool) { return "", false }})
	if err != nil {
		t.Fatal(err)
	}
	l.Config.Models["strong"] = config.Model{Adapter: "openai", Model: "gpt-5"}
	l.Config.Agents.Manager.Model = "strong"
	if got := agentsLine(l.Config, ""); got != "ollama llama3 (worker, reviewer, merger), openai gpt-5 (manager)" {
		t.Errorf("%q", got)
	}
}
