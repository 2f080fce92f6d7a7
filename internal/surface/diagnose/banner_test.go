package diagnose

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/office"
	"company/internal/office/config"
	"company/internal/office/config/configtest"
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
		if got := RepoName(remote, "/home/me/checkout"); got != want {
			t.Errorf("%q is shown as %q, want %q", remote, got, want)
		}
	}
}

// A name may hold anything; it stays on its line and steers no terminal.
func TestBannerHostileNames(t *testing.T) {
	if got := RepoName("", "/home/me/we\nird \x1b[2J\u202ename"); strings.ContainsAny(got, "\n\x1b\u202e") {
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
		{gitops.BaseInfo{Dirty: true}, "without the uncommitted changes"},
		{gitops.BaseInfo{AheadOfRemote: 3}, "clean"},
		{gitops.BaseInfo{Detached: true, DefaultBranch: "trunk"}, "clean; detached HEAD, the pull request targets trunk"},
		{gitops.BaseInfo{Shallow: true}, "clean; shallow clone, its history is fetched from origin"},
		{gitops.BaseInfo{AheadOfRemote: 1, RemoteURL: "x"}, "clean; with 1 commit not on origin"},
		{gitops.BaseInfo{AheadOfRemote: 3, RemoteURL: "x", Dirty: true},
			"without the uncommitted changes; with 3 commits not on origin"},
	} {
		if got := BaseState(c, x.base); got != x.want {
			t.Errorf("%+v: %q, want %q", x.base, got, x.want)
		}
	}
}

// What is shown of the checks is bounded, on one line each, and steers no
// terminal: it is text of the repository.
func TestGateLines(t *testing.T) {
	var s RepoCheck
	for range 3 {
		s.Project.Notes = append(s.Project.Notes, "npm package: test: x\x1b[2J\n[RESULT] COMPLETE")
	}
	if got := GateLines(s); len(got) != 3 || strings.ContainsAny(strings.Join(got, ""), "\x1b\n") {
		t.Errorf("%q", got)
	}
	for range 9 {
		s.Project.Notes = append(s.Project.Notes, "more")
	}
	if got := GateLines(s); len(got) != MaxNotes+1 || got[MaxNotes] != "and 8 more" {
		t.Errorf("%q", got)
	}
	if got := GateLines(RepoCheck{GatesError: errors.New("interrupted")}); len(got) != 1 ||
		got[0] != "not detected yet: interrupted" {
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
		d := &Checker{Env: func(k string) (string, bool) { v, ok := env[k]; return v, ok }}
		o := config.LoadOptions{Flags: map[string]string{}}
		if flags != "" {
			o.Flags[flags] = "mine"
		}
		l, err := config.Load(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if got := AgentsLine(l.Config, d.ChosenModel(t.Context(), office.Paths{}, l)); got != want {
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
	if got := AgentsLine(l.Config, ""); got != "ollama llama3 (worker, reviewer, merger), openai gpt-5 (manager)" {
		t.Errorf("%q", got)
	}
}

// A cap in USD that no price can hold is refused where somebody set it, and
// told of where it is the default.
func TestUSDCapNeedsPrice(t *testing.T) {
	const price = ", price: {input: 1, output: 2}}"
	for _, c := range []struct {
		name, models string
		set          []string
		refused      string // in the reason
		line         string
	}{
		{"the default", "default: {adapter: openai, model: fake-1}", nil, "",
			"5M tokens (no price is known for fake-1, so the limit of $5.00 does not apply)"},
		{"a price", "default: {adapter: openai, model: fake-1" + price, nil, "", "$5.00"},
		{"a list price", "default: {adapter: openai, model: gpt-5}", []string{"budget.usd=0.0001"}, "", "$0.0001"},
		{"somebody's", "default: {adapter: openai, model: fake-1}", []string{"budget.usd=0.0001"},
			"no price is known for fake-1", ""},
		{"somebody's, beside one in tokens", "default: {adapter: openai, model: fake-1}",
			[]string{"budget.usd=3", "budget.tokens=200000"}, "",
			"200k tokens (no price is known for fake-1, so the limit of $3.00 does not apply)"},
		{"somebody's, and no tokens at all", "default: {adapter: openai, model: fake-1}",
			[]string{"budget.usd=3", "budget.tokens=none"}, "no price is known", ""},
		{"in tokens", "default: {adapter: openai, model: fake-1}", []string{"budget.tokens=200000", "budget.usd=none"}, "",
			"200k tokens"},
		{"none", "default: {adapter: openai, model: fake-1}", []string{"budget.tokens=none", "budget.usd=none"}, "",
			"no limit"},
		{"of a fallback", "default: {adapter: openai, model: gpt-5, fallback: [b]}, b: {adapter: ollama, model: qwen3}",
			[]string{"budget.usd=3"}, "no price is known for qwen3", ""},
		{"nobody uses it", "default: {adapter: openai, model: gpt-5}, b: {adapter: ollama, model: qwen3}",
			[]string{"budget.usd=3"}, "", "$3.00"},
	} {
		dir := t.TempDir()
		configtest.WriteFile(t, filepath.Join(dir, "company", "config.yaml"), "models: {"+c.models+"}\n")
		flags := map[string]string{}
		for _, s := range c.set {
			key, value, _ := strings.Cut(s, "=")
			flags[key] = value
		}
		l, err := config.Load(t.Context(),
			config.LoadOptions{Env: configtest.Env(map[string]string{"XDG_CONFIG_HOME": dir}), Flags: flags})
		if err != nil {
			t.Fatal(err)
		}
		err = CheckUSDCap(l)
		var e *company.Error
		if c.refused != "" {
			if !errors.As(err, &e) || e.Code != company.EUsage || !strings.Contains(e.Why, c.refused) ||
				!strings.Contains(e.Hint, "--budget-tokens 200k") || !strings.Contains(e.Hint, "price") {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if got := BudgetLine(l.Config, officeapp.CompanySettings(l.Config).Cap, ""); err != nil || got != c.line {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

// The head of a submission names the folder of the office, also where one stands in it.
func TestShortPath(t *testing.T) {
	dir := configtest.Dir(t)
	t.Chdir(dir)
	for path, want := range map[string]string{dir: dir, filepath.Join(dir, ".company"): ".company",
		filepath.Dir(dir): ".."} {
		if got := shortPath(path); got != want {
			t.Errorf("%s is shown as %s, want %s", path, got, want)
		}
	}
}
