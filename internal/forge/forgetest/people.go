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

func (b *Bench) feedback(ref forge.Ref) forge.Feedback {
	b.T.Helper()
	f, err := b.Forge.Feedback(b.T.Context(), ref)
	if err != nil {
		b.T.Fatal(err)
	}
	return f
}

func said(f forge.Feedback, body string) forge.Item {
	for _, it := range f.Items {
		if it.Body == body {
			return it
		}
	}
	return forge.Item{}
}

var ours = forge.Ref{Office: "k3fq", Task: "t12", Number: 1}

// T22: only who may push is heard. Members of the organisation who read, and
// people who were invited to read, are not.
func whoIsHeard(b *Bench) {
	s, r := b.Stage, b.Repo
	s.Invite(r, "rita", "read")
	s.AddTeam(r, "readers", "read", "ralf")
	s.AddTeam(r, "writers", "write", "wanda")
	b.open(b.PR())
	want := map[string]bool{"ann": true, "wim": true, "wanda": true, "rita": false, "ralf": false, "mallory": false}
	for who := range want {
		s.Say(r, 1, Said{User: who, Body: "/company said by " + who})
		if who != "ann" { // nobody rejects what they opened
			s.Judge(r, 1, Said{User: who, Body: "judged by " + who, State: "CHANGES_REQUESTED"})
		}
	}
	f := b.feedback(ours)
	for who, heard := range want {
		for _, body := range []string{"/company said by " + who, "judged by " + who} {
			if it := said(f, body); body != "judged by ann" && (it.Author != who || it.Trusted != heard) {
				b.T.Errorf("%s: %+v, want heard %v", body, it, heard)
			}
		}
	}
	b.saw("heard: an administrator, a writer, a member of a team that writes; not heard: a reader, a member of a team that reads, a stranger")
	if got := len(s.Asked("GET", "/collaborators/mallory/")); got > 0 {
		b.T.Errorf("a stranger's permission was asked %d times: each costs a request", got)
	}
}

// What is not found is gone only where the forge itself says so of the pull
// request, and shows its repository.
func notFoundIsNotGone(b *Bench) {
	b.open(b.PR())
	page := map[string]string{"Content-Type": "text/html"}
	for name, f := range map[string]Fault{
		"a proxy's page":               {Path: "/pulls/1", Code: http.StatusNotFound, Header: page, Body: "<html>404"},
		"a proxy's page everywhere":    {Path: "/api/", Code: http.StatusNotFound, Header: page, Body: "<html>404"},
		"the repository is not shown":  {Path: "/acme/app", Code: http.StatusNotFound, Body: `{"message":"Not Found"}`},
		"the comments are not shown":   {Path: "/comments", Code: http.StatusNotFound, Body: `{"message":"Not Found"}`},
		"the repository is gone (410)": {Path: "/acme/app", Code: http.StatusGone, Body: `{"message":"Gone"}`},
	} {
		f.Times = 100
		b.Stage.Fail(f)
		_, err := b.Forge.Feedback(b.T.Context(), ours)
		b.Stage.Heal()
		if err == nil || errors.Is(err, forge.ErrGone) {
			b.T.Errorf("%s: %v", name, err)
		}
	}
	// A moment's 404 is no answer: it is asked again.
	b.Stage.Fail(Fault{Path: "/pulls/1", Code: http.StatusNotFound, Body: `{"message":"Not Found"}`})
	if f := b.feedback(ours); f.State != company.PROpen {
		b.T.Errorf("%+v", f)
	}
	_, err := b.Forge.Feedback(b.T.Context(), forge.Ref{Office: "k3fq", Task: "t12", Number: 77})
	if !errors.Is(err, forge.ErrGone) {
		b.T.Errorf("one that is not there: %v", err)
	}
}

// Replies and conversations that somebody ended are told from what is asked
// for anew.
func conversations(b *Bench) {
	pr := b.PR()
	s, r := b.Stage, b.Repo
	s.Commit(r, pr.Branch, "origin/"+pr.Branch, "b.go", "package a\n\n// one\n// two\n// three\n")
	b.open(pr)
	first := s.Line(r, 1, Said{User: "wim", Body: "rename this", Path: "b.go", Line: 3})
	s.Line(r, 1, Said{User: "ann", Body: "why?", Path: "b.go", Line: 3, ReplyTo: first})
	ended := s.Line(r, 1, Said{User: "wim", Body: "settled", Path: "b.go", Line: 4})
	s.Line(r, 1, Said{User: "ann", Body: "settled, yes", Path: "b.go", Line: 4, ReplyTo: ended})
	s.Line(r, 1, Said{User: "wim", Body: "and this", Path: "b.go", Line: 5})
	s.Resolve(r, 1, ended, "ann")
	f := b.feedback(ours)
	for body, want := range map[string]struct{ reply, resolved bool }{
		"rename this": {false, false}, "why?": {true, false}, "settled": {false, true}, "settled, yes": {true, true}, "and this": {false, false},
	} {
		if it := said(f, body); it.Kind != forge.ItemLine || (it.Reply != "") != want.reply || it.Resolved != want.resolved {
			b.T.Errorf("%s: %+v", body, it)
		}
	}
	b.saw("replies and resolved conversations are told apart")
}

// A commit has as many statuses as its checks like; the last word of each
// counts.
func manyStatuses(b *Bench) {
	pr := b.PR()
	b.open(pr)
	add := func(name, state string) {
		b.Stage.AddStatus(b.Repo, Status{SHA: string(pr.Head), Context: name, State: state, Describes: name + " is " + state})
	}
	add("ci/first", "failure")
	add("ci/again", "failure")
	for i := range 110 {
		add(fmt.Sprint("ci/", i), "success")
	}
	add("ci/again", "success")
	add("ci/last", "failure")
	f := b.feedback(ours)
	var failed []string
	for _, it := range f.Items {
		failed = append(failed, it.Name)
	}
	if len(failed) != 2 || said(f, "ci/first is failure").Name == "" || said(f, "ci/last is failure").Name == "" {
		b.T.Errorf("failed: %v", failed)
	}
	b.saw("of 114 statuses the two failures are found")
}

// A question about the login changes nothing: no fork is made.
func askingChangesNothing(b *Bench) {
	s := b.Stage
	s.Login("outsider", Token{Login: "olaf"})
	s.Login("reader", Token{Login: "ann", Lacks: []string{"pull_requests", "contents"}})
	ask := func(login string) forge.Access {
		b.T.Helper()
		a, err := b.As(login).Access(b.T.Context())
		if err != nil {
			b.T.Fatal(login, err)
		}
		return a
	}
	if a := ask("owner-token"); !a.Push || len(a.Lacks) > 0 {
		b.T.Errorf("%+v", a)
	}
	if a := ask("outsider"); a.Push || a.Fork != "" {
		b.T.Errorf("%+v", a)
	}
	if a := ask("reader"); a.Push || len(a.Lacks) == 0 {
		b.T.Errorf("a token that only reads: %+v", a)
	} else {
		b.saw("a token that only reads lacks %s", strings.Join(a.Lacks, ", "))
	}
	if n := len(s.Asked("POST", "/forks")); n > 0 {
		b.T.Errorf("%d forks were asked for", n)
	}
	if all := s.Pulls(b.Repo); len(all) > 0 {
		b.T.Errorf("%+v", all)
	}
	if _, err := b.As("outsider").Target(b.T.Context()); err != nil {
		b.T.Fatal(err)
	}
	if a := ask("outsider"); a.Push || !strings.Contains(a.Fork, "/olaf/app") {
		b.T.Errorf("its fork is not seen: %+v", a)
	}
}

// FRG-3: what a person wrote over our title stays.
func titleOfAPerson(b *Bench) {
	pr := b.PR()
	b.open(pr)
	b.Stage.Edit(b.Repo, 1, func(p *Pull) { p.Title = "Better words" })
	pr.Title, pr.Body = "words of ours", "more was done"
	for range 2 {
		b.open(pr)
		if p := b.only(); p.Title != "Better words" || !strings.Contains(p.Body, "more was done") {
			b.T.Errorf("%+v", p)
		}
	}
}

// settled reads feedback until the forge has worked out whether the branch
// merges; how long that takes is the forge's.
func (b *Bench) settled(want func(forge.Feedback) bool) {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.T.Context(), 2*time.Minute)
	defer cancel()
	for looks := 1; ; looks++ {
		f := b.feedback(ours)
		if !f.Pending && want(f) {
			b.saw("settled after %d looks", looks)
			return
		}
		select {
		case <-ctx.Done():
			b.T.Fatalf("it does not settle: %+v", f)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
