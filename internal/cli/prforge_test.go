package cli

import (
	"context"
	"errors"
	"strings"
	"testing"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/config"
	"company/internal/diagnose"
	"company/internal/forge"
	"company/internal/gitops"
	"company/internal/office"
	"company/internal/view"
)

// Two projects whose forges number alike: the number alone is refused, the
// task names the pull request.
func TestAmbiguousPRNumber(t *testing.T) {
	pr := func(task company.TaskID, number int) *company.Task {
		return &company.Task{ID: task, PR: &company.PullRequest{Number: number, State: company.PROpen}}
	}
	s := &company.State{LastTask: 3, Tasks: map[company.TaskID]*company.Task{"t1": pr("t1", 7), "t2": pr("t2", 7), "t3": pr("t3", 8)}}
	src := view.Source{State: s}
	var refusal *company.Error
	if _, err := src.PullRecord("7"); company.CodeOf(err) != company.EUsage || !errors.As(err, &refusal) || !strings.Contains(refusal.Hint, "t1 or t2") {
		t.Errorf("%v", err)
	}
	for arg, want := range map[string]company.TaskID{"t1": "t1", "t2": "t2", "#8": "t3", "8": "t3"} {
		if got, err := src.PullRecord(arg); err != nil || got.Task().ID != want {
			t.Errorf("%s: %v", arg, err)
		}
	}
	for _, arg := range []string{"t9", "0", "x", "-1"} {
		if _, err := src.PullRecord(arg); company.CodeOf(err) != company.EUsage {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

// What opens a pull request by hand is a command that a shell takes as it is.
func TestOpenCommand(t *testing.T) {
	pr := &company.PullRequest{Title: "it's $(here)", Branch: "develop-t1-abcd", Base: "main"}
	got := openCommand("git@github.com:acme/app.git", "/x y/7.md", pr)
	for _, want := range []string{"gh pr create --repo acme/app --base main --head develop-t1-abcd", `--body-file '/x y/7.md'`, "https://github.com/acme/app/compare/main...develop-t1-abcd?expand=1"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if strings.Contains(got, "title it's") || openCommand("/srv/app.git", "x", pr) != "" || openCommand("git@example.com:a/b", "x", pr) != "" {
		t.Error(got)
	}
}

// What a person is told to do for a login is what is read for that forge,
// and GitHub's token goes to no other.
func TestGiteaLoginHint(t *testing.T) {
	c := config.Default()
	c.Forge.Kind, c.Forge.URL = "gitea", "https://git.example.com/tools"
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"GITHUB_TOKEN": "hub", "HOME": t.TempDir()}[name]
		return v, ok
	}
	forges := officeapp.OpenForges(nil, c, nil, env)
	const remote = "https://git.example.com/tools/acme/app.git"
	fix := officeapp.TokenHint(forges, c, remote)
	for _, want := range []string{"export GITEA_TOKEN=", "read:user", "write:repository", "write:issue"} {
		if !strings.Contains(fix, want) {
			t.Errorf("no %s in %s", want, fix)
		}
	}
	if strings.Contains(fix, "GITHUB_TOKEN") {
		t.Error(fix)
	}
	_, secret, err := officeapp.ForgeLogin(forges, officeapp.TokenCredential(c, env))(gitops.WithRemote(context.Background(), remote), "git.example.com")
	var e *company.Error
	if secret != "" || !errors.As(err, &e) || !strings.Contains(e.Hint, "GITEA_TOKEN") {
		t.Errorf("%q %v", secret, err)
	}
}

// Doctor says what the token may, which is less than what the person may.
func TestAccessResult(t *testing.T) {
	repo := forge.Repo{Owner: "acme", Name: "app"}
	for _, c := range []struct {
		may  forge.Access
		ok   bool
		want string
	}{
		{forge.Access{Push: true}, true, "may push"},
		{forge.Access{MissingPermissions: []string{"write:repository"}}, false, "lacks write:repository"},
		{forge.Access{Push: true, MissingPermissions: []string{"write:issue"}}, false, "lacks write:issue"},
		{forge.Access{Fork: "https://git.example.com/ann/app.git"}, true, "ann/app.git is used"},
		{forge.Access{}, true, "the first delivery forks it"},
	} {
		if got := diagnose.AccessResult(repo, c.may, "export T"); got.OK != c.ok || !strings.Contains(got.Found, c.want) || !c.ok && got.Fix != "export T" {
			t.Errorf("%+v: %+v", c.may, got)
		}
	}
}

// People read a pull request's text as it was meant, not as a forge needs it.
func TestReadableBody(t *testing.T) {
	got := readableBody("<!-- company office=k3fq task=t1 title=00000000 -->\n# Add @\u200btypes/node: a -&gt; b &lt;c&gt; &amp;lt; | x\\|y\n<details><summary>Costs</summary>\n\ntext\n</details>\n<!-- /company -->\n")
	if want := "# Add @types/node: a -> b <c> &lt; | x|y\nCosts\n\ntext\n"; got != want {
		t.Errorf("%q", got)
	}
}

// A branch that people changed asks for another step.
func TestNextStepChangedBranch(t *testing.T) {
	was, now := company.OID(strings.Repeat("a", 40)), company.OID(strings.Repeat("b", 40))
	for _, c := range []struct {
		change *company.BranchChange
		url    string
		has    []string
		lacks  string
	}{
		{nil, "", []string{"company pr merge 2"}, "follows"},
		{&company.BranchChange{Kind: company.BranchAhead, Delivered: was, Now: now, Commits: 1}, "", []string{"company pr merge 2", "no gate", "company submit --follows t1"}, "pr close"},
		{&company.BranchChange{Kind: company.BranchRewritten, Delivered: was, Now: now}, "", []string{"company submit --follows t1", "company pr close 2", "how to merge what was delivered: company pr merge 2"}, "no gate"},
		{&company.BranchChange{Kind: company.BranchGone, Delivered: was}, "", []string{"makes the branch anew", "company pr close 2", "how to merge what was delivered: company pr merge 2"}, "your own git"},
		{&company.BranchChange{Kind: company.BranchRewritten, Delivered: was, Now: now}, "https://example.com/pull/2", []string{"review and merge it at", "no gate"}, "pr close"},
	} {
		task := &company.Task{ID: "t1", BranchChange: c.change, PR: &company.PullRequest{Number: 2, URL: c.url, State: company.PROpen, Branch: "b", Base: "main", Head: was}}
		got := (&app{}).nextStep(context.Background(), office.Paths{}, task)
		for _, want := range c.has {
			if !strings.Contains(got, want) {
				t.Errorf("%+v: no %q in %s", c.change, want, got)
			}
		}
		if strings.Contains(got, c.lacks) {
			t.Errorf("%+v: %s", c.change, got)
		}
	}
}

// A pull request that ended asks for nothing.
func TestNextStepEnded(t *testing.T) {
	for state, want := range map[company.PRState]string{company.PRMerged: "it is merged", company.PRClosed: "it is closed"} {
		got := (&app{}).nextStep(context.Background(), office.Paths{}, &company.Task{ID: "t1", PR: &company.PullRequest{Number: 2, State: state, Branch: "b", Base: "main"}})
		if !strings.Contains(got, want) || strings.Contains(got, "pr merge") {
			t.Errorf("%s: %s", state, got)
		}
	}
}
