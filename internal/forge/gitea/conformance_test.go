package gitea

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"company/internal/forge"
	"company/internal/forge/forgetest"
)

// What runs here runs against the fake, and, where these are given, against a
// real Gitea (make strangers/gitea): the fake has to do what that does.
var (
	giteaDirFlag = flag.String("gitea", "", "folder of a Gitea that scripts/build-gitea.sh made; empty: the fake")
	tableFlag    = flag.String("table", "", "write what was seen to this file")
)

// openStages opens stages for the cases of one test. A real Gitea is started once
// for each path, and keeps its people from case to case.
func openStages(t *testing.T) func(t *testing.T, path string) forgetest.Host {
	if *giteaDirFlag == "" {
		return func(t *testing.T, path string) forgetest.Host {
			s := forgetest.NewGitea(t, path)
			s.DelayMergeCheck(3)
			return s
		}
	}
	real := map[string]*forgetest.RealGitea{}
	return func(in *testing.T, path string) forgetest.Host {
		if real[path] == nil {
			real[path] = forgetest.StartRealGitea(t, *giteaDirFlag, path)
		}
		real[path].ClearFaults()
		real[path].ClearRequests()
		return real[path].ForCase(in)
	}
}

// FRG-1, FRG-2.
func TestForge(t *testing.T) {
	t.Parallel()
	open, seen := openStages(t), &report{}
	forgetest.Exercise(t, func(t *testing.T) *forgetest.Fixture {
		if *giteaDirFlag == "" {
			t.Parallel() // a real one keeps its people from case to case
			return forgetest.NewFixture(t, open(t, ""), driver)
		}
		b := forgetest.NewFixture(t, open(t, ""), driver)
		seen.recordCase(b)
		return b
	})
	t.Run("below a path", func(t *testing.T) {
		b := forgetest.NewFixture(t, open(t, "/tools/git"), driver)
		seen.recordCase(b)
		testSubpath(b)
	})
	t.Run("a login that may not ask", func(t *testing.T) {
		b := forgetest.NewFixture(t, open(t, ""), driver)
		seen.recordCase(b)
		testRestrictedPermissions(b)
	})
	t.Run("scopes", func(t *testing.T) {
		b := forgetest.NewFixture(t, open(t, ""), driver)
		seen.recordCase(b)
		testTokenScopes(b)
	})
	if g, ok := open(t, "").(*forgetest.RealGitea); ok && *tableFlag != "" {
		if err := os.WriteFile(*tableFlag, []byte(seen.renderPage(g.Version())), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A forge that does not live at its host's root is reached by what people
// configure: forge.url, and a remote below it.
func testSubpath(b *forgetest.Fixture) {
	t := b.T
	remote := b.Host.CloneURL(b.Repo)
	set := &forge.Selector{
		Settings: forge.Settings{Kind: "gitea", URL: b.Host.BaseURL(), TokenEnv: "TOKEN"},
		Drivers:  []forge.Driver{Driver},
		Env:      func(string) string { return b.Host.Secret("owner-token") }, Transport: b.Host.Client().Transport,
	}
	f, choice, err := set.ForRemote(t.Context(), remote)
	if err != nil || choice.Kind != "gitea" || choice.Repo.String() != "acme/app" {
		t.Fatalf("%+v %v", choice, err)
	}
	if a, err := f.Access(t.Context()); err != nil || !a.Push {
		t.Errorf("%+v %v", a, err)
	}
	opened := forgetest.MustOpen(t, f, b.PR())
	if want := b.Host.BaseURL() + "/acme/app/pulls/1"; opened.URL != want {
		t.Errorf("%s, want %s", opened.URL, want)
	}
	host := strings.TrimPrefix(strings.TrimSuffix(b.Host.BaseURL(), "/tools/git"), "https://")
	if _, secret, err := set.Credential(t.Context(), host, remote); err != nil || secret == "" {
		t.Errorf("no login for git: %v", err)
	}
	// Another program of the same host gets none.
	if _, secret, err := set.Credential(
		t.Context(), host, strings.Replace(remote, "/tools/git/", "/wiki/", 1)); err != nil || secret != "" {
		t.Errorf("a login for another program (%v)", err)
	}
	b.OnObserve("a pull request at " + strings.Replace(opened.URL, host, "HOST", 1))
}

// Gitea tells what people may to administrators alone. A writer's login hears
// itself, and others only where nobody who can be assigned just reads.
func testRestrictedPermissions(b *forgetest.Fixture) {
	t, s := b.T, b.Host
	s.AddLogin("writer", forgetest.Token{Login: "wim"})
	forgetest.MustOpen(t, b.Forge, b.PR())
	s.AddComment(b.Repo, 1, forgetest.Comment{User: "wim", Body: "by myself"})
	s.AddComment(b.Repo, 1, forgetest.Comment{User: "ann", Body: "by an administrator"})
	s.AddComment(b.Repo, 1, forgetest.Comment{User: "mallory", Body: "by a stranger"})
	heard := func() string {
		t.Helper()
		f, err := b.WithLogin("writer").Feedback(t.Context(), forge.Ref{Office: "k3fq", Task: "t12", Number: 1})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, it := range f.Items {
			if it.Trusted {
				out = append(out, it.Body)
			}
		}
		return fmt.Sprint(out)
	}
	if got := heard(); got != "[by myself by an administrator]" {
		t.Errorf("without teams: %s", got)
	}
	s.AddTeam(b.Repo, "readers", "read", "ralf")
	s.AddComment(b.Repo, 1, forgetest.Comment{User: "ralf", Body: "by a reader of a team"})
	if got := heard(); got != "[by myself]" {
		t.Errorf("with a team that reads: %s", got)
	}
	b.OnObserve("a writer's token is not told what others may; with a team that only reads, it hears its own user alone")
}

// The scopes that the help names do; with one less, Access says which.
func testTokenScopes(b *forgetest.Fixture) {
	t := b.T
	all := strings.FieldsFunc(Driver.TokenPermissions, func(r rune) bool { return r == ',' || r == ' ' })
	all = slices.DeleteFunc(all, func(s string) bool { return !strings.Contains(s, ":") })
	b.Host.AddLogin("enough", forgetest.Token{Login: "ann", Scopes: all})
	if a, err := b.WithLogin("enough").Access(t.Context()); err != nil || !a.Push || len(a.MissingPermissions) > 0 {
		t.Errorf("%v: %+v %v", all, a, err)
	}
	for i, without := range all {
		less := slices.Delete(slices.Clone(all), i, i+1)
		b.Host.AddLogin("less", forgetest.Token{Login: "ann", Scopes: less})
		a, err := b.WithLogin("less").Access(t.Context())
		if without == "write:repository" { // not even the repository is shown
			forgetest.RequireCode(t, err, "E_AUTH", true)
			continue
		}
		if err != nil || !slices.Contains(a.MissingPermissions, without) {
			t.Errorf("%v: %+v %v", less, a, err)
		}
	}
	b.OnObserve("a token with " + Driver.TokenPermissions + " does all of this; each one that is missing is named")
}

// report holds the results of the cases, for bin/strangers-gitea.md.
type report struct{ rows []*row }

type row struct {
	name     string
	observed []string
	ok       bool
}

func (r *report) recordCase(b *forgetest.Fixture) {
	_, name, _ := strings.Cut(b.T.Name(), "/")
	one := &row{name: strings.ReplaceAll(name, "_", " ")}
	r.rows = append(r.rows, one)
	b.OnObserve = func(what string) { one.observed = append(one.observed, what) }
	b.T.Cleanup(func() { one.ok = !b.T.Failed() })
}

func (r *report) renderPage(version string) string {
	slices.SortFunc(r.rows, func(a, b *row) int { return strings.Compare(a.name, b.name) })
	var out strings.Builder
	fmt.Fprintf(&out, `# Against a real Gitea

What the Gitea driver's tests saw of Gitea %s, run on loopback with SQLite. `+"`make strangers/gitea`"+
		` builds it from its Go module and writes this
page; the same cases run in `+"`make test`"+
		` against our fake, which has to behave as this server does. Its people: an administrator, a writer and a
reader of the repository, members of teams that write and that read, a stranger. From Gitea 1.27 on the module needs others that no public module proxy has,
so this is the newest that is built.

| Case | Holds | Seen |
|---|---|---|
`, version)
	for _, one := range r.rows {
		ok := "yes"
		if !one.ok {
			ok = "**no**"
		}
		fmt.Fprintf(&out, "| %s | %s | %s |\n", one.name, ok, strings.Join(one.observed, "; "))
	}
	return out.String()
}
