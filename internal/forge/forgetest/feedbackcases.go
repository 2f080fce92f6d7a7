package forgetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/forge"
)

// What people and programs around a pull request do, and what a forge makes of
// it. Each case stands for something that a real server does and its
// documentation does not say.

func (b *Fixture) mustFeedback(ref forge.Ref) forge.Feedback {
	b.T.Helper()
	f, err := b.Forge.Feedback(b.T.Context(), ref)
	if err != nil {
		b.T.Fatal(err)
	}
	return f
}

func findItem(f forge.Feedback, body string) forge.Item {
	for _, it := range f.Items {
		if it.Body == body {
			return it
		}
	}
	return forge.Item{}
}

var ownRef = forge.Ref{Office: "k3fq", Task: "t12", Number: 1}

// T22: only people with the right to push are heard. Members of the
// organisation, and invited people, with the right to read alone are not.
func testTrustedAuthors(b *Fixture) {
	s, r := b.Host, b.Repo
	s.Invite(r, "rita", "read")
	s.AddTeam(r, "readers", "read", "ralf")
	s.AddTeam(r, "writers", "write", "wanda")
	b.mustOpen(b.PR())
	want := map[string]bool{"ann": true, "wim": true, "wanda": true, "rita": false, "ralf": false, "mallory": false}
	for who := range want {
		s.AddComment(r, 1, Comment{User: who, Body: "/company said by " + who})
		if who != "ann" { // a forge refuses a rejection by the author
			s.AddReview(r, 1, Comment{User: who, Body: "judged by " + who, State: "CHANGES_REQUESTED"})
		}
	}
	f := b.mustFeedback(ownRef)
	for who, heard := range want {
		for _, body := range []string{"/company said by " + who, "judged by " + who} {
			if it := findItem(f, body); body != "judged by ann" && (it.Author != who || it.Trusted != heard) {
				b.T.Errorf("%s: %+v, want heard %v", body, it, heard)
			}
		}
	}
	b.reportObserved("heard: an administrator, a writer, a member of a team that writes; not heard: a reader, a member of a team that reads, a stranger")
	if got := len(s.Requests("GET", "/collaborators/mallory/")); got > 0 {
		b.T.Errorf("a stranger's permission was asked %d times: each costs a request", got)
	}
}

// A missing pull request is gone only where the forge says so of it and still
// shows its repository.
func testNotFoundIsNotGone(b *Fixture) {
	b.mustOpen(b.PR())
	page := map[string]string{"Content-Type": "text/html"}
	for name, f := range map[string]Fault{
		"a proxy's page":               {Path: "/pulls/1", Code: http.StatusNotFound, Header: page, Body: "<html>404"},
		"a proxy's page everywhere":    {Path: "/api/", Code: http.StatusNotFound, Header: page, Body: "<html>404"},
		"the repository is not shown":  {Path: "/acme/app", Code: http.StatusNotFound, Body: `{"message":"Not Found"}`},
		"the comments are not shown":   {Path: "/comments", Code: http.StatusNotFound, Body: `{"message":"Not Found"}`},
		"the repository is gone (410)": {Path: "/acme/app", Code: http.StatusGone, Body: `{"message":"Gone"}`},
	} {
		f.Times = 100
		b.Host.AddFault(f)
		_, err := b.Forge.Feedback(b.T.Context(), ownRef)
		b.Host.ClearFaults()
		if err == nil || errors.Is(err, forge.ErrPRGone) {
			b.T.Errorf("%s: %v", name, err)
		}
	}
	// A moment's 404 is no answer: it is asked again.
	b.Host.AddFault(Fault{Path: "/pulls/1", Code: http.StatusNotFound, Body: `{"message":"Not Found"}`})
	if f := b.mustFeedback(ownRef); f.State != company.PROpen {
		b.T.Errorf("%+v", f)
	}
	_, err := b.Forge.Feedback(b.T.Context(), forge.Ref{Office: "k3fq", Task: "t12", Number: 77})
	if !errors.Is(err, forge.ErrPRGone) {
		b.T.Errorf("one that is not there: %v", err)
	}
}

// Replies and ended conversations differ from new requests.
func testConversations(b *Fixture) {
	pr := b.PR()
	s, r := b.Host, b.Repo
	s.Commit(r, pr.Branch, "origin/"+pr.Branch, "b.go", "package a\n\n// one\n// two\n// three\n")
	b.mustOpen(pr)
	first := s.AddLineComment(r, 1, Comment{User: "wim", Body: "rename this", Path: "b.go", Line: 3})
	s.AddLineComment(r, 1, Comment{User: "ann", Body: "why?", Path: "b.go", Line: 3, ReplyTo: first})
	ended := s.AddLineComment(r, 1, Comment{User: "wim", Body: "settled", Path: "b.go", Line: 4})
	s.AddLineComment(r, 1, Comment{User: "ann", Body: "settled, yes", Path: "b.go", Line: 4, ReplyTo: ended})
	s.AddLineComment(r, 1, Comment{User: "wim", Body: "and this", Path: "b.go", Line: 5})
	s.Resolve(r, 1, ended, "ann")
	f := b.mustFeedback(ownRef)
	for body, want := range map[string]struct{ reply, resolved bool }{
		"rename this": {false, false}, "why?": {true, false}, "settled": {false, true}, "settled, yes": {true, true}, "and this": {false, false},
	} {
		if it := findItem(f, body); it.Kind != forge.ItemLine || (it.Reply != "") != want.reply || it.Resolved != want.resolved {
			b.T.Errorf("%s: %+v", body, it)
		}
	}
	b.reportObserved("replies and resolved conversations are told apart")
}

// A commit has as many statuses as its checks like; the last status of each
// counts.
func testManyStatuses(b *Fixture) {
	pr := b.PR()
	b.mustOpen(pr)
	add := func(name, state string) {
		b.Host.AddStatus(b.Repo, Status{SHA: string(pr.Head), Context: name, State: state, Description: name + " is " + state})
	}
	add("ci/first", "failure")
	add("ci/again", "failure")
	for i := range 110 {
		add(fmt.Sprint("ci/", i), "success")
	}
	add("ci/again", "success")
	add("ci/last", "failure")
	f := b.mustFeedback(ownRef)
	var failed []string
	for _, it := range f.Items {
		failed = append(failed, it.Name)
	}
	if len(failed) != 2 || findItem(f, "ci/first is failure").Name == "" || findItem(f, "ci/last is failure").Name == "" {
		b.T.Errorf("failed: %v", failed)
	}
	b.reportObserved("of 114 statuses the two failures are found")
}

// A question about the login changes nothing: no fork is made.
func testAccessReadOnly(b *Fixture) {
	s := b.Host
	s.AddLogin("outsider", Token{Login: "olaf"})
	s.AddLogin("reader", Token{Login: "ann", MissingPermissions: []string{"pull_requests", "contents"}})
	ask := func(login string) forge.Access {
		b.T.Helper()
		a, err := b.WithLogin(login).Access(b.T.Context())
		if err != nil {
			b.T.Fatal(login, err)
		}
		return a
	}
	if a := ask("owner-token"); !a.Push || len(a.MissingPermissions) > 0 {
		b.T.Errorf("%+v", a)
	}
	if a := ask("outsider"); a.Push || a.Fork != "" {
		b.T.Errorf("%+v", a)
	}
	if a := ask("reader"); a.Push || len(a.MissingPermissions) == 0 {
		b.T.Errorf("a token that only reads: %+v", a)
	} else {
		b.reportObserved("a token that only reads lacks %s", strings.Join(a.MissingPermissions, ", "))
	}
	if n := len(s.Requests("POST", "/forks")); n > 0 {
		b.T.Errorf("%d forks were asked for", n)
	}
	if all := s.Pulls(b.Repo); len(all) > 0 {
		b.T.Errorf("%+v", all)
	}
	if _, err := b.WithLogin("outsider").Target(b.T.Context()); err != nil {
		b.T.Fatal(err)
	}
	if a := ask("outsider"); a.Push || !strings.Contains(a.Fork, "/olaf/app") {
		b.T.Errorf("its fork is not seen: %+v", a)
	}
}

// FRG-3: what a person wrote over our title stays.
func testPersonsTitle(b *Fixture) {
	pr := b.PR()
	b.mustOpen(pr)
	b.Host.EditPull(b.Repo, 1, func(p *Pull) { p.Title = "Better words" })
	pr.Title, pr.Body = "words of ours", "more was done"
	for range 2 {
		b.mustOpen(pr)
		if p := b.onlyPull(); p.Title != "Better words" || !strings.Contains(p.Body, "more was done") {
			b.T.Errorf("%+v", p)
		}
	}
}

// waitForFeedback reads feedback until the forge has worked out whether the branch
// merges; how long that takes is the forge's.
func (b *Fixture) waitForFeedback(want func(forge.Feedback) bool) {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.T.Context(), 2*time.Minute)
	defer cancel()
	for looks := 1; ; looks++ {
		f := b.mustFeedback(ownRef)
		if !f.Pending && want(f) {
			b.reportObserved("settled after %d looks", looks)
			return
		}
		select {
		case <-ctx.Done():
			b.T.Fatalf("it does not settle: %+v", f)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
