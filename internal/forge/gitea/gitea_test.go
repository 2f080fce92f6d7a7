package gitea

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"code.gitea.io/sdk/gitea"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/forge/forgetest"
	"company/internal/lib/hosttest"
	"company/internal/lib/secret"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

func driver(o forge.Options) forge.Forge { return New(o) }

func newBench(t *testing.T) *forgetest.Fixture {
	t.Helper()
	return forgetest.NewFixture(t, forgetest.NewGitea(t, ""), driver)
}

// T21: a server whose reply has no end does not fill the memory.
func TestReplySizeLimit(t *testing.T) {
	t.Parallel()
	page := bytes.Repeat([]byte(" "), 1<<20)
	sent := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for ; sent < 3*forge.MaxReplyBytes; sent += len(page) {
			if _, err := w.Write(page); err != nil {
				return
			}
		}
	}))
	defer srv.Close()
	at, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := New(
		forge.Options{URL: at, Transport: srv.Client().Transport, Login: func(context.Context) (forge.Credential, error) {
			return forge.Credential{Secret: secret.New("x")}, nil
		}})
	err = c.tryCall(t.Context(), "asking", false, func(api *gitea.Client) (*gitea.Response, error) {
		_, resp, err := api.GetMyUserInfo()
		return resp, err
	})
	srv.Close() // waits for the handler
	if err == nil || sent >= 3*forge.MaxReplyBytes {
		t.Errorf("%d bytes were taken: %v", sent, err)
	}
}

// rawForge is a client of a server that answers GET requests of these ends of paths with these
// texts, and all others with an empty list.
func rawForge(t *testing.T, replies map[string]string) *Client {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for end, text := range replies {
			if strings.HasSuffix(r.URL.Path, end) {
				fmt.Fprint(w, text)
				return
			}
		}
		fmt.Fprint(w, "[]")
	}))
	t.Cleanup(srv.Close)
	at, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	return New(
		forge.Options{URL: at, Repo: forge.Repo{Host: at.Host, Owner: "acme", Name: "app"}, Transport: srv.Client().Transport,
			Login: func(context.Context) (forge.Credential, error) {
				return forge.Credential{Secret: secret.New("x")}, nil
			}})
}

const openPull = `{"number": 1, "state": "open", "mergeable": true, "head": {"sha": "x"}, "base": {"ref": "main"}}`

// A reply of three bytes for each entry is a kilobyte for each in memory.
func TestRepliesOfManyEntries(t *testing.T) {
	many := "[" + strings.Repeat("{},", 2<<20) + "{}]"
	for _, list := range []string{"/comments", "/reviews", "/statuses"} {
		c := rawForge(
			t, map[string]string{"/user": `{"login": "me"}`, "/pulls/1": openPull, list: many, "/commits/x" + list: many})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := c.readDiscussion(ctx, forge.Ref{Office: "k3fq", Task: "t12", Number: 1})
		if list == "/statuses" {
			_, _, err = c.listFailedStatuses(ctx, "x")
		}
		runtime.ReadMemStats(&after)
		cancel()
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; err == nil || !strings.Contains(err.Error(), "values") ||
			took > 3000 {
			t.Errorf("%s: %d MiB, %v", list, took, err)
		}
	}
}

// A list with null in it has an entry less.
func TestNullInLists(t *testing.T) {
	t.Parallel()
	for _, list := range []string{"/comments", "/reviews", "/reviews/5/comments", "/statuses/x", "/forks", "/pulls"} {
		reviews := `[{"id": 5, "state": "COMMENT", "comments_count": 1, "user": {"login": "wim"}}]`
		c := rawForge(
			t, map[string]string{"/user": `{"login": "me"}`, "/pulls/1": openPull, "/1/reviews": reviews, list: "[null]"})
		if _, err := c.Feedback(t.Context(), forge.Ref{Office: "k3fq", Task: "t12", Number: 1}); err != nil {
			t.Errorf("%s: %v", list, err)
		}
		if _, err := c.findFork(t.Context()); err != nil {
			t.Errorf("%s: %v", list, err)
		}
		if p, err := c.findExisting(t.Context(),
			forge.PR{Office: "k3fq", Task: "t12", Branch: "x", Owner: "acme", Base: "main"}); p != nil || err != nil {
			t.Errorf("%s: %+v %v", list, p, err)
		}
	}
}

// What was merged is merged, whatever its discussion does.
func TestEndOutlivesItsDiscussion(t *testing.T) {
	t.Parallel()
	c := rawForge(
		t, map[string]string{"/pulls/1": `{"number": 1, "state": "closed", "merged": true}`, "/comments": "no list",
			"/reviews": "no list"})
	if f, err := c.Feedback(t.Context(), forge.Ref{Office: "k3fq", Task: "t12", Number: 1}); err != nil ||
		f.State != company.PRMerged {
		t.Errorf("%+v %v", f, err)
	}
}

// Without the right to push: the login's fork, made once.
func TestFork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Server.AddLogin("guest-token", forgetest.Token{Login: "guest"})
	f := New(b.Options("guest-token"))
	target, err := f.Target(t.Context())
	if err != nil || target.Owner != "guest" || !strings.HasSuffix(target.URL, "/guest/app.git") {
		t.Fatalf("%+v %v", target, err)
	}
	if again, err := New(b.Options("guest-token")).Target(t.Context()); err != nil || again != target {
		t.Errorf("%+v %v", again, err)
	}
	head := b.Server.Commit(b.Server.Repo("guest/app"), "develop-t12-k3fq", "origin/main", "a.go",
		"package a // from the fork\n")
	b.Server.Commit(b.Repo, "develop-t12-k3fq", "origin/main", "z.go", "package a\n")
	b.Server.AddPull(b.Repo, forgetest.Pull{Title: "theirs", HeadRef: "develop-t12-k3fq", Base: "main", User: "ann"})
	pr := forge.PR{Office: "k3fq", Task: "t12", Title: "t", Body: "b", Branch: "develop-t12-k3fq", Owner: "guest",
		Base: "main", Head: company.OID(head), Labels: []string{"company"}}
	got := forgetest.MustOpen(t, f, pr)
	if again := forgetest.MustOpen(t, f, pr); again != got || got.Number != 2 {
		t.Errorf("%+v %+v", got, again)
	}
	if all := b.Server.Pulls(b.Repo); len(all) != 2 || all[1].HeadOwner != "guest" || all[1].HeadSHA != head ||
		len(all[1].Labels) != 0 {
		t.Errorf("%+v", all)
	}
	// A repository of that name that is not a fork is in the way.
	b = newBench(t)
	b.Server.AddLogin("guest-token", forgetest.Token{Login: "guest"})
	b.Server.AddRepo("guest", "app", forgetest.NewSourceRepo(t, map[string]string{"x": "unrelated"}))
	_, err = New(b.Options("guest-token")).Target(t.Context())
	forgetest.RequireCode(t, err, company.EConflict, true)
}

// FRG-1: Gitea opens two for one branch when both ask at the same moment. The
// older one stays, and the others are closed.
func TestConcurrentOpenKeepsOldest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	pr := b.PR()
	b.Server.AddDuplicates(1)
	if got := forgetest.MustOpen(t, b.Forge, pr); got.Number != 1 {
		t.Errorf("%+v", got)
	}
	b.Server.AddDuplicates(0)
	all := b.Server.Pulls(b.Repo)
	if len(all) != 2 || all[0].State != "open" || all[1].State != "closed" {
		t.Errorf("%+v", all)
	}
	if got := forgetest.MustOpen(t, b.Forge, pr); got.Number != 1 {
		t.Errorf("%+v", got)
	}
	b.Server.EditPull(b.Repo, 1, func(p *forgetest.Pull) { p.State = "closed" })
	if got := forgetest.MustOpen(t, b.Forge, pr); got.Number != 1 || got.State != company.PRClosed {
		t.Errorf("%+v", got)
	}
}

// A kill between the creation of a second one and its closing leaves two. The
// next delivery ends with one: the one that is known as delivered, else the
// older one.
func TestDuplicateAfterKilledDelivery(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]int{"none delivered": 0, "the newer one delivered": 2} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			pr := b.PR()
			b.Server.AddDuplicates(1)
			b.Server.AddFault(forgetest.Fault{Method: "PATCH", Path: "/pulls/2", Delay: time.Hour})
			ctx, kill := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := b.Forge.Open(ctx, pr)
				ended <- err
			}()
			hosttest.Eventually(t, "it closes the second", func() (any, bool) {
				select {
				case err := <-ended:
					t.Fatalf("it ended before: %v", err)
				default:
				}
				return nil, b.Server.DelayedRequests() > 0
			})
			kill()
			<-ended
			b.Server.AddDuplicates(0)
			open := func() (numbers []int) {
				for _, p := range b.Server.Pulls(b.Repo) {
					if p.State == "open" {
						numbers = append(numbers, p.Number)
					}
				}
				return numbers
			}
			if got := open(); len(got) != 2 {
				t.Fatalf("open before: %v", got)
			}
			// Meanwhile a person asks for the branch elsewhere, with our text.
			b.Server.Commit(b.Repo, "release", "origin/main", "r.go", "package a\n")
			b.Server.AddPull(
				b.Repo, forgetest.Pull{Title: "for the release", Body: pr.MarkedBody(), HeadRef: pr.Branch, Base: "release",
					User: "ann"})
			pr.Known = known
			want := max(1, known)
			if got := forgetest.MustOpen(t, New(b.Options("owner-token")), pr); got.Number != want {
				t.Errorf("%+v", got)
			}
			if got := open(); len(got) != 2 || got[0] != want || got[1] != 3 {
				t.Errorf("open after: %v", got)
			}
		})
	}
}

// Gitea's drafts are titles: ours is made ready, a person's stays.
func TestDraft(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	pr := b.PR()
	pr.Draft = true
	forgetest.MustOpen(t, b.Forge, pr)
	forgetest.MustOpen(t, b.Forge, pr)
	title := func() string { t.Helper(); return b.Server.Pulls(b.Repo)[0].Title }
	if title() != "WIP: add rate limiting" {
		t.Error(title())
	}
	pr.Draft = false
	forgetest.MustOpen(t, b.Forge, pr)
	if title() != "add rate limiting" {
		t.Error(title())
	}
	b.Server.EditPull(b.Repo, 1, func(p *forgetest.Pull) { p.Title = "WIP: add rate limiting" })
	forgetest.MustOpen(t, b.Forge, pr)
	if title() != "WIP: add rate limiting" {
		t.Error(title())
	}
	b.Server.EditPull(b.Repo, 1, func(p *forgetest.Pull) { p.Title = "add rate limiting" })
	pr.Draft = true
	forgetest.MustOpen(t, b.Forge, pr)
	if title() != "add rate limiting" {
		t.Error(title())
	}
}

func TestCodeOwners(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Server.Invite(b.Repo, "bob", "write")
	b.Server.AddTeam(b.Repo, "core", "read")
	pr := b.PR()
	pr.CodeOwners, pr.Paths = true, []string{"a.go", "docs/x.md"}
	forgetest.MustOpen(t, b.Forge, pr)
	if p := b.Server.Pulls(b.Repo)[0]; fmt.Sprint(p.Reviewers, p.Teams) != "[bob] [core]" {
		t.Errorf("%v %v", p.Reviewers, p.Teams)
	}
}

// Ours is found among many, and a rate limit is waited for.
func TestPagingAndRateLimit(t *testing.T) {
	b := newBench(t)
	pr := b.PR()
	first := forgetest.MustOpen(t, b.Forge, pr)
	for i := range 120 {
		b.Server.AddPull(
			b.Repo, forgetest.Pull{Title: fmt.Sprint("other ", i), HeadRef: fmt.Sprint("other-", i), Base: "main", User: "ann"})
	}
	b.Server.AddFault(
		forgetest.Fault{Method: "GET", Path: "/pulls", Code: 429, Header: map[string]string{"Retry-After": "1"},
			Body: `{"message":"slow down"}`})
	start := time.Now()
	if again := forgetest.MustOpen(t, b.Forge, pr); again != first || time.Since(start) < time.Second {
		t.Errorf("%+v after %s", again, time.Since(start))
	}
	b.Server.AddFault(
		forgetest.Fault{Method: "GET", Path: "/pulls", Code: 429, Header: map[string]string{"Retry-After": "3600"},
			Body: `{"message":"slow down"}`})
	_, err := b.Forge.Open(t.Context(), pr)
	forgetest.RequireCode(t, err, company.EForge, false)
}

// T21: a redirect does not take the token along.
func TestRedirectDropsToken(t *testing.T) {
	t.Parallel()
	b, other := newBench(t), newBench(t)
	b.Server.AddFault(
		forgetest.Fault{Method: "GET", Path: "/repos/acme/app", Code: 307,
			Header: map[string]string{"Location": other.Server.URL + "/api/v1/repos/acme/app"}})
	// As Gitea answers for a repository that was renamed: only a person can say where it is.
	_, err := b.Forge.Target(t.Context())
	if e := forgetest.RequireCode(t, err, company.EForge, true); !strings.Contains(e.Message, other.Server.URL) ||
		!strings.Contains(e.Hint, "git remote set-url") {
		t.Errorf("%s\n%s", e.Message, e.Hint)
	}
	if n := len(other.Server.Requests("", "")); n != 0 {
		t.Errorf("%d requests elsewhere", n)
	}
}
