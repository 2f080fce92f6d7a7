package forgetest

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/lib/hosttest"
)

// The actions of people and programs around a pull request, and a forge's reaction. Each case covers behaviour of a
// real server that its documentation does not mention.

func (b *Fixture) mustFeedback(ref forge.Ref) forge.Feedback {
	b.T.Helper()
	feedback, err := b.Forge.Feedback(b.T.Context(), ref)
	if err != nil {
		b.T.Fatal(err)
	}
	return feedback
}

func findItem(f forge.Feedback, body string) forge.Item {
	for _, item := range f.Items {
		if item.Body == body {
			return item
		}
	}
	return forge.Item{}
}

var ownRef = forge.Ref{Office: "k3fq", Task: "t12", Number: 1}

// T22: only people with push permission are heard. Members of the organisation and invited people with read
// permission are not.
func testTrustedAuthors(fixture *Fixture) {
	host, repo := fixture.Host, fixture.Repo
	host.Invite(repo, "rita", "read")
	host.AddTeam(repo, "readers", "read", "ralf")
	host.AddTeam(repo, "writers", "write", "wanda")
	fixture.mustOpen(fixture.PR())
	want := map[string]bool{"ann": true, "wim": true, "wanda": true, "rita": false, "ralf": false, "mallory": false}
	for who := range want {
		host.AddComment(repo, 1, Comment{User: who, Body: "/company said by " + who})
		if who != "ann" { // a forge refuses a rejection by the author
			host.AddReview(repo, 1, Comment{User: who, Body: "judged by " + who, State: "CHANGES_REQUESTED"})
		}
	}
	feedback := fixture.mustFeedback(ownRef)
	for who, heard := range want {
		for _, body := range []string{"/company said by " + who, "judged by " + who} {
			if item := findItem(feedback, body); body != "judged by ann" && (item.Author != who || item.Trusted != heard) {
				fixture.T.Errorf("%s: %+v, want heard %v", body, item, heard)
			}
		}
	}
	fixture.reportObserved(
		"heard: an administrator, a writer, a member of a team that writes; not heard: a reader, a member " +
			"of a team that reads, a stranger")
	if got := len(host.Requests("GET", "/collaborators/mallory/")); got > 0 {
		fixture.T.Errorf("a stranger's permission was asked %d times: each costs a request", got)
	}
}

// A missing pull request counts as gone only if the forge reports this and still shows its repository.
func testNotFoundIsNotGone(fixture *Fixture) {
	fixture.mustOpen(fixture.PR())
	page := map[string]string{"Content-Type": "text/html"}
	for name, fault := range map[string]Fault{
		"a proxy's page":               {Path: "/pulls/1", Code: http.StatusNotFound, Header: page, Body: "<html>404"},
		"a proxy's page everywhere":    {Path: "/api/", Code: http.StatusNotFound, Header: page, Body: "<html>404"},
		"the repository is not shown":  {Path: "/acme/app", Code: http.StatusNotFound, Body: `{"message":"Not Found"}`},
		"the comments are not shown":   {Path: "/comments", Code: http.StatusNotFound, Body: `{"message":"Not Found"}`},
		"the repository is gone (410)": {Path: "/acme/app", Code: http.StatusGone, Body: `{"message":"Gone"}`},
	} {
		fault.Times = 100
		fixture.Host.AddFault(fault)
		_, err := fixture.Forge.Feedback(fixture.T.Context(), ownRef)
		fixture.Host.ClearFaults()
		if err == nil || errors.Is(err, forge.ErrPRGone) {
			fixture.T.Errorf("%s: %v", name, err)
		}
	}
	// A single 404 is not conclusive, so the request is repeated.
	fixture.Host.AddFault(Fault{Path: "/pulls/1", Code: http.StatusNotFound, Body: `{"message":"Not Found"}`})
	if f := fixture.mustFeedback(ownRef); f.State != company.PROpen {
		fixture.T.Errorf("%+v", f)
	}
	_, err := fixture.Forge.Feedback(fixture.T.Context(), forge.Ref{Office: "k3fq", Task: "t12", Number: 77})
	if !errors.Is(err, forge.ErrPRGone) {
		fixture.T.Errorf("one that is not there: %v", err)
	}
}

// Replies and resolved conversations differ from new requests.
func testConversations(fixture *Fixture) {
	pr := fixture.PR()
	host, repo := fixture.Host, fixture.Repo
	host.Commit(repo, pr.Branch, "origin/"+pr.Branch, "b.go", "package a\n\n// one\n// two\n// three\n")
	fixture.mustOpen(pr)
	first := host.AddLineComment(repo, 1, Comment{User: "wim", Body: "rename this", Path: "b.go", Line: 3})
	host.AddLineComment(repo, 1, Comment{User: "ann", Body: "why?", Path: "b.go", Line: 3, ReplyTo: first})
	ended := host.AddLineComment(repo, 1, Comment{User: "wim", Body: "settled", Path: "b.go", Line: 4})
	host.AddLineComment(repo, 1, Comment{User: "ann", Body: "settled, yes", Path: "b.go", Line: 4, ReplyTo: ended})
	host.AddLineComment(repo, 1, Comment{User: "wim", Body: "and this", Path: "b.go", Line: 5})
	host.Resolve(repo, 1, ended, "ann")
	feedback := fixture.mustFeedback(ownRef)
	for body, want := range map[string]struct{ reply, resolved bool }{
		"rename this": {false, false}, "why?": {true, false}, "settled": {false, true}, "settled, yes": {true, true},
		"and this": {false, false},
	} {
		if item := findItem(feedback, body); item.Kind != forge.ItemLine || (item.Reply != "") != want.reply ||
			item.Resolved != want.resolved {
			fixture.T.Errorf("%s: %+v", body, item)
		}
	}
	fixture.reportObserved("replies and resolved conversations are told apart")
}

// A commit may have many statuses. The last status of each context counts.
func testManyStatuses(fixture *Fixture) {
	pr := fixture.PR()
	fixture.mustOpen(pr)
	add := func(name, state string) {
		fixture.Host.AddStatus(
			fixture.Repo, Status{SHA: string(pr.Head), Context: name, State: state, Description: name + " is " + state})
	}
	add("ci/first", "failure")
	add("ci/again", "failure")
	for i := range 110 {
		add(fmt.Sprint("ci/", i), "success")
	}
	add("ci/again", "success")
	add("ci/last", "failure")
	feedback := fixture.mustFeedback(ownRef)
	var failed []string
	for _, item := range feedback.Items {
		failed = append(failed, item.Name)
	}
	if len(failed) != 2 || findItem(feedback, "ci/first is failure").Name == "" ||
		findItem(feedback, "ci/last is failure").Name == "" {
		fixture.T.Errorf("failed: %v", failed)
	}
	fixture.reportObserved("of 114 statuses the two failures are found")
}

// Reading the login's permissions changes no data: it creates no fork.
func testAccessReadOnly(fixture *Fixture) {
	host := fixture.Host
	host.AddLogin("outsider", Token{Login: "olaf"})
	host.AddLogin("reader", Token{Login: "ann", MissingPermissions: []string{"pull_requests", "contents"}})
	ask := func(login string) forge.Access {
		fixture.T.Helper()
		access, err := fixture.WithLogin(login).Access(fixture.T.Context())
		if err != nil {
			fixture.T.Fatal(login, err)
		}
		return access
	}
	if a := ask("owner-token"); !a.Push || len(a.MissingPermissions) > 0 {
		fixture.T.Errorf("%+v", a)
	}
	if a := ask("outsider"); a.Push || a.Fork != "" {
		fixture.T.Errorf("%+v", a)
	}
	if access := ask("reader"); access.Push || len(access.MissingPermissions) == 0 {
		fixture.T.Errorf("a token that only reads: %+v", access)
	} else {
		fixture.reportObserved("a token that only reads lacks %s", strings.Join(access.MissingPermissions, ", "))
	}
	if n := len(host.Requests("POST", "/forks")); n > 0 {
		fixture.T.Errorf("%d forks were asked for", n)
	}
	if pulls := host.Pulls(fixture.Repo); len(pulls) > 0 {
		fixture.T.Errorf("%+v", pulls)
	}
	if _, err := fixture.WithLogin("outsider").Target(fixture.T.Context()); err != nil {
		fixture.T.Fatal(err)
	}
	if a := ask("outsider"); a.Push || !strings.Contains(a.Fork, "/olaf/app") {
		fixture.T.Errorf("its fork is not seen: %+v", a)
	}
}

// FRG-3: a title that a person wrote over ours is kept.
func testPersonsTitle(fixture *Fixture) {
	pr := fixture.PR()
	fixture.mustOpen(pr)
	fixture.Host.EditPull(fixture.Repo, 1, func(p *Pull) { p.Title = "Better words" })
	pr.Title, pr.Body = "words of ours", "more was done"
	for range 2 {
		fixture.mustOpen(pr)
		if p := fixture.onlyPull(); p.Title != "Better words" || !strings.Contains(p.Body, "more was done") {
			fixture.T.Errorf("%+v", p)
		}
	}
}

// waitForFeedback reads feedback until the forge has computed mergeability. The duration depends on the forge.
func (b *Fixture) waitForFeedback(want func(forge.Feedback) bool) {
	b.T.Helper()
	looks := 0
	hosttest.Eventually(b.T, "the feedback settles", func() (any, bool) {
		feedback := b.mustFeedback(ownRef)
		looks++
		return feedback, !feedback.Pending && want(feedback)
	})
	b.reportObserved("settled after %d looks", looks)
}
