package github

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/forge/forgetest"
	"company/internal/lib/secret"
)

// Rate limits are waited for within a bound; beyond it the orchestrator tries
// later, and nothing is asked meanwhile.
func TestRateLimits(t *testing.T) {
	b := newBench(t)
	pr := b.PR()
	b.Server.AddFault(
		forgetest.Fault{Method: "POST", Path: "/pulls", Code: 403, Header: map[string]string{"Retry-After": "1"},
			Body: `{"message":"You have exceeded a secondary rate limit.","documentation_url":"https://docs.github.com/rest/overview#secondary-rate-limits"}`})
	b.Server.AddFault(
		forgetest.Fault{Method: "GET", Path: "/pulls", Code: 429, Header: map[string]string{"Retry-After": "1"},
			Body: `{"message":"slow down"}`})
	start := time.Now()
	forgetest.MustOpen(t, b.Forge, pr)
	if d := time.Since(start); d < 2*time.Second {
		t.Errorf("nobody waited: %s", d)
	}
	b.Server.AddLogin("owner-token", forgetest.Token{Login: "ann", Remaining: 0, Reset: time.Now().Add(time.Hour)})
	b.Server.ClearRequests()
	start = time.Now()
	pr.Body = "x"
	_, err := b.Forge.Open(t.Context(), pr)
	forgetest.RequireCode(t, err, company.EForge, false)
	if !strings.Contains(err.Error(), "rate limit") || time.Since(start) >= forge.MaxWait ||
		len(b.Server.Requests("", "/api")) > 1 {
		t.Errorf("%v, %d requests", err, len(b.Server.Requests("", "/api")))
	}
	// One that is nearly over is waited for.
	b = newBench(t)
	pr = b.PR()
	b.Server.AddLogin("owner-token", forgetest.Token{Login: "ann", Remaining: 0, Reset: time.Now().Add(time.Second)})
	forgetest.MustOpen(t, b.Forge, pr)
}

// What did not change is not sent again, and does not count.
func TestEntityTags(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	forgetest.MustOpen(t, b.Forge, b.PR())
	ref := forge.Ref{Office: "k3fq", Task: "t12", Number: 1}
	for range 4 { // mergeable settles with the second look
		if _, err := b.Forge.Feedback(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
	}
	b.Server.ClearRequests()
	f, err := b.Forge.Feedback(t.Context(), ref)
	if err != nil || f.State != company.PROpen || f.Pending {
		t.Fatalf("%+v %v", f, err)
	}
	for _, r := range b.Server.Requests("GET", "/api") {
		if r.Code != 304 {
			t.Errorf("%+v", r)
		}
	}
	b.Server.AddComment(b.Repo, 1, forgetest.Comment{User: "acme", Body: "new"})
	if f, err = b.Forge.Feedback(t.Context(), ref); err != nil || len(f.Items) != 1 {
		t.Errorf("%+v %v", f, err)
	}
}

// The pull requests of a repository that was transferred are listed below its new owner's
// branches: the old remote's name finds none of them, and opens none beside them.
func TestTransferredRepository(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Server.AddFault(forgetest.Fault{Method: "GET", Path: "/repos/acme/app/pulls", Code: 200, Times: 9, Body: "[]"})
	b.Server.AddFault(
		forgetest.Fault{Method: "POST", Path: "/repos/acme/app/pulls", Code: 422, Times: 9,
			Body: `{"message": "Validation Failed", "errors": [{"resource": "PullRequest", "code": "custom", "message": "A pull request already exists for new:x."}]}`})
	b.Server.AddFault(
		forgetest.Fault{Method: "GET", Path: "/repos/acme/app", Code: 200, Times: 9,
			Body: `{"full_name": "new/app", "html_url": "https://github.com/new/app"}`})
	_, err := b.Forge.Open(t.Context(), b.PR())
	e := forgetest.RequireCode(t, err, company.EForge, true)
	if !strings.Contains(e.Message, "https://github.com/new/app") || !strings.Contains(e.Hint, "git remote set-url") {
		t.Errorf("%s\n%s", e.Message, e.Hint)
	}
}

// Without the right to push, the branch goes to the login's own fork, made
// once, and the pull request comes from there.
func TestFork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Server.AddLogin("guest-token", forgetest.Token{Login: "guest"})
	f := mustNew(t, b, "guest-token")
	b.Server.AddRepo("guest", "app", forgetest.NewSourceRepo(t, map[string]string{"x": "unrelated"})) // the name is taken
	target, err := f.Target(t.Context())
	if err != nil || target.Owner != "guest" || !strings.HasSuffix(target.URL, "/guest/app-1.git") {
		t.Fatalf("%+v %v", target, err)
	}
	if again, err := mustNew(t, b, "guest-token").Target(t.Context()); err != nil || again != target {
		t.Errorf("%+v %v", again, err)
	}
	fork := b.Server.Repo("guest/app-1")
	head := b.Server.Commit(fork, "develop-t12-k3fq", "origin/main", "a.go", "package a // from the fork\n")
	pr := forge.PR{Office: "k3fq", Task: "t12", Title: "t", Body: "b", Branch: "develop-t12-k3fq", Owner: target.Owner,
		Base: "main", Head: company.OID(head), Labels: []string{"company"}}
	// Somebody's branch of the same name in the repository itself is not ours.
	b.Server.Commit(b.Repo, "develop-t12-k3fq", "origin/main", "z.go", "package a\n")
	b.Server.AddPull(b.Repo, forgetest.Pull{Title: "theirs", HeadRef: "develop-t12-k3fq", Base: "main", User: "ann"})
	got := forgetest.MustOpen(t, f, pr)
	if again := forgetest.MustOpen(t, f, pr); again != got || got.Number != 2 {
		t.Errorf("%+v %+v", got, again)
	}
	all := b.Server.Pulls(b.Repo)
	if len(all) != 2 || all[1].HeadOwner != "guest" || all[1].HeadSHA != head || len(all[1].Labels) != 0 {
		t.Errorf("%+v", all)
	}
	// A token that may not fork says what it lacks.
	b.Server.AddLogin("other-token", forgetest.Token{Login: "other", MissingPermissions: []string{"administration"}})
	_, err = mustNew(t, b, "other-token").Target(t.Context())
	if e := forgetest.RequireCode(t, err, company.EAuth, true); !strings.Contains(
		e.Why, `TEST_TOKEN lacks "administration: write" on acme/app`) {
		t.Errorf("%s", e.Why)
	}
	b.Server.SetPrivate(b.Repo)
	_, err = mustNew(t, b, "other-token").Target(t.Context())
	forgetest.RequireCode(t, err, company.ENotFound, true)
}

// A draft of ours is made ready when its reasons are gone; one that a person
// made stays.
func TestDraft(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	pr := b.PR()
	pr.Draft = true
	forgetest.MustOpen(t, b.Forge, pr)
	draft := func() bool { t.Helper(); return b.Server.Pulls(b.Repo)[0].Draft }
	if !draft() {
		t.Error("no draft")
	}
	forgetest.MustOpen(t, b.Forge, pr)
	pr.Draft = false
	forgetest.MustOpen(t, b.Forge, pr)
	if draft() {
		t.Error("still a draft")
	}
	b.Server.EditPull(b.Repo, 1, func(p *forgetest.Pull) { p.Draft = true })
	forgetest.MustOpen(t, b.Forge, pr)
	if !draft() {
		t.Error("a person's draft was made ready")
	}
	b.Server.EditPull(b.Repo, 1, func(p *forgetest.Pull) { p.Draft = false })
	pr.Draft = true
	forgetest.MustOpen(t, b.Forge, pr)
	if draft() || strings.Contains(b.Server.Pulls(b.Repo)[0].Body, " draft -->") {
		t.Error("what a person made ready is a draft again")
	}
	// No drafts in this repository's plan.
	b = newBench(t)
	pr = b.PR()
	pr.Draft = true
	b.Server.AddFault(forgetest.Fault{Method: "POST", Path: "/pulls", Code: 422,
		Body: `{"message":"Draft pull requests are not supported in this repository.","documentation_url":"https://docs.github.com/rest"}`})
	forgetest.MustOpen(t, b.Forge, pr)
	if draft() {
		t.Error("a draft")
	}
}

// Reviews are asked of those whom the base's CODEOWNERS names for the changed
// paths; one who cannot review does not spoil it for the others.
func TestCodeOwners(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Server.Invite(b.Repo, "bob", "write")
	b.Server.AddTeam(b.Repo, "core", "read")
	pr := b.PR()
	pr.CodeOwners, pr.Paths = true, []string{"a.go", "docs/x.md"} // carol is not a collaborator
	forgetest.MustOpen(t, b.Forge, pr)
	p := b.Server.Pulls(b.Repo)[0]
	if fmt.Sprint(p.Reviewers, p.Teams) != "[bob] [core]" {
		t.Errorf("%v %v", p.Reviewers, p.Teams)
	}
	b.Server.ClearRequests()
	pr.Paths = []string{"a.go"}
	forgetest.MustOpen(t, b.Forge, pr)
	if n := len(b.Server.Requests("POST", "requested_reviewers")); n != 0 {
		t.Errorf("asked again: %d", n)
	}
}

// loginAsApp logs in as a GitHub App that is installed on the repository.
func loginAsApp(t *testing.T, b *forgetest.Fixture) (f *Client, o forge.Options, installation int64) {
	t.Helper()
	key, installation := b.Server.AddApp(77, b.Repo)
	o = b.Options("unused")
	o.App, o.AppKey = forge.App{ID: 77}, secret.New(key)
	f, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return f, o, installation
}

// A GitHub App logs in with its key, finds its installation, and makes tokens
// again before they end.
func TestAppLogin(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	f, o, installation := loginAsApp(t, b)
	pr := b.PR()
	forgetest.MustOpen(t, f, pr)
	if err := f.Comment(t.Context(), forge.Ref{Office: "k3fq", Task: "t12", Number: 1}, "k", "ours"); err != nil {
		t.Fatal(err)
	}
	fb, err := f.Feedback(t.Context(), forge.Ref{Office: "k3fq", Task: "t12", Number: 1})
	if err != nil || len(fb.Items) != 1 || !fb.Items[0].Ours {
		t.Errorf("%+v %v", fb, err)
	}
	first, err := f.Credential(t.Context())
	if err != nil || first.Source != "GitHub App 77" || time.Until(first.Expires) < 30*time.Minute {
		t.Errorf("%+v %v", first, err)
	}
	// The server withdraws it: a new one is made, once.
	b.Server.AddLogin(first.Secret.Reveal(), forgetest.Token{Expires: time.Now().Add(-time.Minute)})
	forgetest.MustOpen(t, f, pr)
	second, err := f.Credential(t.Context())
	if err != nil || second.Secret == first.Secret {
		t.Errorf("the same token, %v", err)
	}
	// Near its end it is renewed.
	f.app.cached.Expires = time.Now().Add(renewBefore / 2)
	third, err := f.Credential(t.Context())
	if err != nil || third.Secret == second.Secret {
		t.Errorf("the same token, %v", err)
	}
	// Also where the wall clock was set back by a day: it seems to last until tomorrow.
	f.app.cached.Expires, f.app.madeAt = time.Now().Add(24*time.Hour), time.Now().Add(-tokenLife)
	if fourth, err := f.Credential(t.Context()); err != nil || fourth.Secret == third.Secret {
		t.Errorf("the same token, %v", err)
	}
	if n := len(b.Server.Requests("GET", "/installation")); n != 1 {
		t.Errorf("the installation was looked up %d times", n)
	}
	o.App.Installation = installation
	other := newBench(t)
	o2 := other.Options("")
	o2.App, o2.AppKey = o.App, o.AppKey
	g, err := New(o2)
	if err != nil {
		t.Fatal(err)
	}
	_, err = g.Credential(t.Context())
	forgetest.RequireCode(t, err, company.EAuth, true)
	for _, bad := range []string{"", "words", "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n"} {
		o.AppKey = secret.New(bad)
		_, err := New(o)
		forgetest.RequireCode(t, err, company.EAuth, true)
	}
}

// A note of ours is written whatever others say with its mark: people, and
// other Apps. Where the login has no name, as a token that a workflow was given,
// people's words do not count either.
func TestCommentIgnoresForgedNotes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	asApp, _, _ := loginAsApp(t, b)
	forgetest.MustOpen(t, asApp, b.PR())
	made, err := asApp.Credential(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ref := forge.Ref{Office: "k3fq", Task: "t12", Number: 1}
	for _, c := range []struct {
		key, text string
		by        *Client
		other     forgetest.Comment
	}{
		{"app:1", "by the App", asApp, forgetest.Comment{User: "wim"}},
		{"app:2", "by the App", asApp, forgetest.Comment{User: "other-app[bot]", Bot: true}},
		{"app:3", "by the App", asApp, forgetest.Comment{User: "company"}},
		{"token:1", "by a token without a name", mustNew(t, b, made.Secret.Reveal()), forgetest.Comment{User: "wim"}},
	} {
		c.other.Body = ref.NoteMarker(c.key) + "\nnot ours"
		id := b.Server.AddComment(b.Repo, 1, c.other)
		for range 2 {
			if err := c.by.Comment(t.Context(), ref, c.key, c.text); err != nil {
				t.Fatal(err)
			}
		}
		f, err := c.by.Feedback(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		ours := 0
		for _, said := range b.Server.Comments(b.Repo, 1) {
			if strings.Contains(said.Body, ref.NoteMarker(c.key)) && strings.Contains(said.Body, c.text) {
				ours++
			}
		}
		if ours != 1 {
			t.Errorf("%s beside %s: written %d times", c.key, c.other.User, ours)
		}
		for _, it := range f.Items {
			if it.ID == fmt.Sprintf("comment:%d", id) && it.Ours {
				t.Errorf("%s: what %s wrote is taken for ours", c.key, c.other.User)
			}
		}
	}
	// Who cannot be asked for the moment does not mean that we take anybody's word.
	plain := mustNew(t, b, "owner-token")
	b.Server.AddFault(forgetest.Fault{Method: "GET", Path: "/user", Code: 502, Times: 4})
	if err := plain.Comment(t.Context(), ref, "app:1", "by ann"); company.CodeOf(err) != company.EForge {
		t.Errorf("%v", err)
	}
}

// Failing checks come with what they say and the end of their log; the log's
// address does not see the login.
func TestChecks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	pr := b.PR()
	forgetest.MustOpen(t, b.Forge, pr)
	sha := string(pr.Head)
	id := b.Server.AddCheck(b.Repo,
		forgetest.Check{SHA: sha, Name: "test (go)", Status: "completed", Conclusion: "failure",
			URL: "https://ci.example.com", App: "github-actions",
			Summary: "1 failed", Annotations: []forgetest.Annotation{{Path: "a.go", Line: 3, Message: "boom"}},
			Log: strings.Repeat("noise\n", 20_000) + "--- FAIL: TestX\n"})
	b.Server.AddCheck(b.Repo, forgetest.Check{SHA: sha, Name: "lint", Status: "completed", Conclusion: "success"})
	b.Server.AddCheck(b.Repo, forgetest.Check{SHA: sha, Name: "slow", Status: "in_progress"})
	f, err := b.Forge.Feedback(t.Context(), forge.Ref{Office: "k3fq", Task: "t12", Number: 1})
	if err != nil || len(f.Items) != 1 || !f.Pending {
		t.Fatalf("%+v %v", f, err)
	}
	it := f.Items[0]
	if it.ID != fmt.Sprint("check:", id) || it.Name != "test (go)" || !strings.Contains(it.Body, "1 failed\n") ||
		!strings.Contains(it.Body, "a.go:3: boom") ||
		!strings.HasSuffix(it.Body, "--- FAIL: TestX") || len(it.Body) > forge.MaxItemBytes {
		t.Errorf("%+v", it)
	}
	for _, r := range b.Server.Requests("GET", "/download/") {
		if r.Auth {
			t.Error("the login went to the log's address")
		}
	}
	// A token without the right to read checks: the rest is told.
	b.Server.AddLogin("owner-token", forgetest.Token{Login: "ann", MissingPermissions: []string{"checks", "statuses"}})
	b.Server.AddComment(b.Repo, 1, forgetest.Comment{User: "acme", Body: "hello"})
	if f, err = b.Forge.Feedback(t.Context(), forge.Ref{Office: "k3fq", Task: "t12", Number: 1}); err != nil ||
		len(f.Items) != 1 || f.Items[0].Body != "hello" {
		t.Errorf("%+v %v", f, err)
	}
}

// T21: the login goes to the API's host and nowhere else.
func TestJobLogDropsLogin(t *testing.T) {
	t.Parallel()
	b, other := newBench(t), newBench(t)
	b.Server.AddFault(
		forgetest.Fault{Method: "GET", Path: "/repos/acme/app", Code: 307,
			Header: map[string]string{"Location": other.Server.URL + "/api/v3/repos/acme/app"}})
	_, _ = b.Forge.Target(t.Context()) // the other's certificate is not even trusted; what it saw counts
	for _, r := range other.Server.Requests("", "") {
		if r.Auth {
			t.Errorf("%+v", r)
		}
	}
}

// The text of a refusal: what, why, what to do, and no token.
func TestExplainError(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Server.AddLogin("owner-token", forgetest.Token{Login: "ann", MissingPermissions: []string{"pull_requests"}})
	_, err := b.Forge.Open(t.Context(), b.PR())
	e := forgetest.RequireCode(t, err, company.EAuth, true)
	if e.Message != "GitHub refused the token (403) while looking for the pull request" ||
		e.Why != `TEST_TOKEN lacks "pull_requests: read" on acme/app` {
		t.Errorf("%s\n%s", e.Message, e.Why)
	}
	b.Server.AddFault(
		forgetest.Fault{Method: "GET", Path: "/pulls", Code: 403,
			Header: map[string]string{"X-GitHub-SSO": "required; url=https://github.com/orgs/acme/sso?x=1"},
			Body:   `{"message":"Resource protected by organization SAML enforcement."}`})
	_, err = b.Forge.Open(t.Context(), b.PR())
	if e = forgetest.RequireCode(t, err, company.EAuth, true); !strings.Contains(
		e.Hint, "https://github.com/orgs/acme/sso") {
		t.Errorf("%s", e.Hint)
	}
}

func TestEnterpriseURLs(t *testing.T) {
	t.Parallel()
	for site, want := range map[string][2]string{
		"https://github.com":      {"https://api.github.com/", "https://api.github.com/graphql"},
		"https://ghe.example.com": {"https://ghe.example.com/api/v3/", "https://ghe.example.com/api/graphql"},
		"https://ghe.example.com:8443/api/v3": {"https://ghe.example.com:8443/api/v3/",
			"https://ghe.example.com:8443/api/graphql"},
	} {
		s := forge.Selector{Settings: forge.Settings{Kind: "github", URL: site},
			Drivers: []forge.Driver{Driver}, Env: func(string) string { return "x" }}
		host := strings.Split(strings.Split(site, "//")[1], "/")[0]
		f, _, err := s.ForRemote(t.Context(), "https://"+host+"/acme/app")
		if err != nil {
			t.Fatal(err)
		}
		c := f.(*Client)
		if c.api.BaseURL.String() != want[0] || c.graphURL != want[1] {
			t.Errorf("%s: %s %s", site, c.api.BaseURL, c.graphURL)
		}
	}
}

// From a fork GitHub does not tell who may push. Where an organisation owns the
// repository, its owner alone is heard, beside the login's own user.
func TestTrustFromFork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Server.AddLogin("guest-token", forgetest.Token{Login: "guest"})
	pr := b.PR()
	b.Server.AddPull(
		b.Repo, forgetest.Pull{Title: "t", Body: pr.MarkedBody(), HeadRef: pr.Branch, Base: "main", User: "guest"})
	b.Server.AddTeam(b.Repo, "readers", "read", "ralf")
	for _, who := range []string{"acme", "ann", "wim", "ralf", "guest", "mallory"} {
		b.Server.AddComment(b.Repo, 1, forgetest.Comment{User: who, Body: "/company from " + who})
	}
	for _, c := range []struct{ kind, want string }{{"User", "[acme ann wim guest]"}, {"Organization", "[acme guest]"}} {
		b.Server.SetOwnerKind(b.Repo, c.kind)
		f, err := mustNew(t, b, "guest-token").Feedback(t.Context(), forge.Ref{Office: "k3fq", Task: "t12", Number: 1})
		if err != nil {
			t.Fatal(err)
		}
		var heard []string
		for _, it := range f.Items {
			if it.Trusted {
				heard = append(heard, it.Author)
			}
		}
		if fmt.Sprint(heard) != c.want {
			t.Errorf("owned by a %s: %v, want %s", c.kind, heard, c.want)
		}
	}
}
