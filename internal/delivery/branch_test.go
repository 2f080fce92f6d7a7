package delivery

import (
	"os"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/forge/local"
	"company/internal/merger/mergertest"
)

// branchOf is what people do to the branch of a delivered pull request, and
// what the company hears of it.
type branchOf struct {
	*mergertest.Bundle
	name, origin string
	head         company.OID // that was delivered
	poll         func(forge.Feedback, error) (company.RecordPRFeedback, error)
}

func newBranchOf(t *testing.T) *branchOf {
	t.Helper()
	b, poll := deliverAndPoll(t)
	p := b.View().Pulls()[0]
	return &branchOf{Bundle: b, name: p.Branch, origin: b.Project.Git("remote", "get-url", "origin"), head: p.Head,
		poll: poll}
}

// onto checks out what a person begins from.
func (b *branchOf) onto(rev string) {
	b.T.Helper()
	b.Project.Git("fetch", "-q", "origin")
	b.Project.Git("switch", "-q", "--detach", rev)
}

func (b *branchOf) commit(author string) {
	b.T.Helper()
	b.Project.Git("commit", "-q", "--allow-empty", "-m", "x", "--author", author+" <x@example.org>")
}

// push brings what is checked out to a branch of the origin.
func (b *branchOf) push(branch string) company.OID {
	b.T.Helper()
	b.Project.Git("push", "-q", "-f", "origin", "HEAD:refs/heads/"+branch)
	return company.OID(b.Project.Git("rev-parse", "HEAD"))
}

// is hears the pull request, which must be open, and its branch must stand so.
func (b *branchOf) is(what string, want company.BranchChange) {
	b.T.Helper()
	want.Delivered = b.head
	c, err := b.poll(forge.Feedback{}, nil)
	if err != nil || c.State != company.PROpen || c.Branch == nil {
		b.T.Fatalf("%s: %+v, %v", what, c, err)
	}
	got := *c.Branch
	if got.Kind != want.Kind || got.Now != want.Now || got.Commits != want.Commits || got.People != want.People ||
		strings.Join(got.By, ", ") != strings.Join(want.By, ", ") || got.Delivered != b.head {
		b.T.Errorf("%s: %+v, want %+v", what, got, want)
	}
	b.Must(c)
	if known := b.Task(mergertest.Task).BranchChange; (known == nil) != (want.Kind == company.BranchAsDelivered) ||
		known != nil && known.Kind != want.Kind {
		b.T.Errorf("%s: the ledger holds %+v", what, known)
	}
}

// What people do to a delivered branch is told by what it holds, at a real
// remote.
func TestWhatBecameOfABranch(t *testing.T) {
	t.Parallel()
	b := newBranchOf(t)
	asDelivered := company.BranchChange{Kind: company.BranchAsDelivered, Now: b.head}
	b.is("untouched", asDelivered)

	b.onto("origin/" + b.name)
	b.commit("Bob")
	b.commit("Ann")
	b.commit("Bob")
	b.is("commits on top",
		company.BranchChange{Kind: company.BranchAhead, Now: b.push(b.name), Commits: 3, People: 2,
			By: []string{"Bob", "Ann"}})

	// The base goes on, and a person merges it: that is one commit of theirs.
	b.onto("origin/main")
	for range 3 {
		b.commit("Carl")
	}
	b.push("main")
	b.onto("origin/" + b.name)
	b.Project.Git("reset", "-q", "--hard", string(b.head))
	b.Project.Git("merge", "-q", "--no-ff", "-m", "update", "origin/main")
	b.is("brought up to date",
		company.BranchChange{Kind: company.BranchAhead, Now: b.push(b.name), Commits: 1, People: 1, By: []string{"Ann"}})

	b.onto(string(b.head))
	b.push(b.name)
	b.is("put back", asDelivered)

	b.Project.Git("commit", "-q", "--amend", "-m", "a better message", "--author", "Worker <w@example.org>")
	b.is("rewritten",
		company.BranchChange{Kind: company.BranchRewritten, Now: b.push(b.name), Commits: 1, People: 1, By: []string{"Ann"}})

	b.onto("origin/main")
	b.is("reset to the base", company.BranchChange{Kind: company.BranchRewritten, Now: b.push(b.name)})

	b.Project.Git("push", "-q", "origin", ":refs/heads/"+b.name)
	b.is("deleted", company.BranchChange{Kind: company.BranchGone})

	b.onto(string(b.head))
	b.push(b.name)
	b.is("brought back", asDelivered)
}

// A branch with more than is told of it.
func TestMuchOnABranch(t *testing.T) {
	t.Parallel()
	b := newBranchOf(t)
	b.onto("origin/" + b.name)
	for i := range company.MaxBranchCommits + 3 {
		b.commit("N\x1b[2J" + strings.Repeat("n", i))
	}
	at := b.push(b.name)
	c, err := b.poll(forge.Feedback{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Must(c)
	got := b.Task(mergertest.Task).BranchChange
	if got == nil || got.Now != at || got.Commits != company.MaxBranchCommits || got.People != company.MaxBranchCommits ||
		len(got.By) != company.MaxBranchNames {
		t.Fatalf("%+v", got)
	}
	for _, name := range got.By {
		if strings.Contains(name, "\x1b") || len(name) > 60 {
			t.Errorf("%q", name)
		}
	}
}

// What cannot be looked at proves nothing: no branch is gone because its remote
// is.
func TestBranchThatNobodyCanSee(t *testing.T) {
	t.Parallel()
	b := newBranchOf(t)
	away := b.origin + ".away"
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	elsewhere := forge.Feedback{State: company.PROpen, Head: b.Project.Base}
	here := forge.Feedback{State: company.PROpen, Head: b.head}
	unknown := func(what string, fb forge.Feedback) {
		t.Helper()
		if c, err := b.poll(fb, nil); err != nil || c.State != company.PROpen || c.Branch != nil {
			t.Errorf("%s: %+v, %v", what, c.Branch, err)
		}
	}
	move(b.origin, away)
	if c, err := b.poll(forge.Feedback{}, nil); err == nil || c.Branch != nil {
		t.Errorf("without a forge and without its remote: %+v, %v", c, err)
	}
	unknown("a forge knows, its repository is not to be seen", elsewhere)
	if c, err := b.poll(here, nil); err != nil || c.Branch == nil || c.Branch.Kind != company.BranchAsDelivered {
		t.Errorf("the forge knows: %+v, %v", c, err)
	}
	// Away between the look at the base and the one at the branch.
	look := func() (branchNow, error) {
		return (&FeedbackPoller{}).branchAt(
			t.Context(), b.Project.Mirror, &local.Forge{}, b.View().Pulls()[0], forge.Feedback{}, b.origin)
	}
	if now, err := look(); err == nil || now.known {
		t.Errorf("no repository: %+v, %v", now, err)
	}
	// In its place is an empty one.
	b.Project.Git("init", "-q", "--bare", "-b", "main", b.origin)
	if now, err := look(); err != nil || now.known {
		t.Errorf("an empty repository: %+v, %v", now, err)
	}
	unknown("an empty repository", elsewhere)
	if c, err := b.poll(forge.Feedback{}, nil); err == nil || c.Branch != nil {
		t.Errorf("an empty repository, without a forge: %+v, %v", c, err)
	}
	if err := os.RemoveAll(b.origin); err != nil {
		t.Fatal(err)
	}
	move(away, b.origin)
	// The pull request is open at the forge, so its branch is somewhere else.
	b.Project.Git("push", "-q", "origin", ":refs/heads/"+b.name)
	unknown("an open pull request of a branch that is elsewhere", elsewhere)
	// Nobody but the company writes to its own mirror.
	b.Project.Git("remote", "remove", "origin")
	if err := b.Project.Mirror.UpdateRef(t.Context(), "refs/heads/"+b.name, b.Project.Base, b.Ref()); err != nil {
		t.Fatal(err)
	}
	unknown("without a remote", forge.Feedback{})
}

// A forge tells of another head: what it is, git says.
func TestBranchThatAForgeSawMove(t *testing.T) {
	t.Parallel()
	b := newBranchOf(t)
	b.onto("origin/" + b.name)
	b.commit("Bob")
	at := b.push(b.name)
	c, err := b.poll(forge.Feedback{State: company.PROpen, Head: at}, nil)
	if err != nil || c.Branch == nil || c.Branch.Kind != company.BranchAhead || c.Branch.Now != at {
		t.Errorf("%+v, %v", c.Branch, err)
	}
}

// Who resolved a conflict on the branch is believed, with a forge or without.
func TestConflictThatAPersonResolved(t *testing.T) {
	t.Parallel()
	b := newBranchOf(t)
	at := b.Project.Commit("theirs", map[string]string{"a.go": "package a\n\nvar a = \"theirs\"\n"})
	b.Project.Git("push", "-q", "-f", "origin", string(at)+":refs/heads/main")
	if c, err := b.poll(forge.Feedback{}, nil); err != nil || len(c.Items) != 1 {
		t.Fatalf("%+v %v", c, err)
	}
	b.onto("origin/" + b.name)
	b.Project.Git("merge", "-q", "-s", "ours", "-m", "resolved", "origin/main")
	b.push(b.name)
	if c, err := b.poll(forge.Feedback{}, nil); err != nil || len(c.Items) != 0 || c.Branch.Kind != company.BranchAhead ||
		c.Branch.Commits != 1 {
		t.Errorf("%+v %v", c, err)
	}
}

// A company that was killed between its push and its pull request goes on with
// what people committed on top meanwhile: there is nothing left to push, and what
// is theirs is told.
func TestDeliverBelowAPerson(t *testing.T) {
	t.Parallel()
	b, c, _ := delivered(t)
	origin(t, b)
	head, branch := b.Task(mergertest.Task).Head, b.Task(mergertest.Task).Delivery.Branch
	b.CarryOut(c.Do, "") // and nobody recorded it
	b.Project.Git("fetch", "-q", "origin", branch)
	b.Project.Git("switch", "-q", "--detach", "FETCH_HEAD")
	b.Project.Git("commit", "-q", "--allow-empty", "-m", "on top", "--author", "Bob <b@example.org>")
	b.Project.Git("push", "-q", "origin", "HEAD:refs/heads/"+branch)
	theirs := b.Project.Git("rev-parse", "HEAD")

	b.Must(b.CarryOut(c.Do, ""))
	tk := b.Task(mergertest.Task)
	if tk.Status != company.StatusCompleted || tk.PR == nil || tk.PR.Head != head {
		t.Fatalf("%s %+v", tk.Status, tk.PR)
	}
	if got := tk.BranchChange; got == nil || got.Kind != company.BranchAhead || string(got.Now) != theirs ||
		got.Commits != 1 || strings.Join(got.By, "") != "Bob" {
		t.Errorf("told: %+v", got)
	}
	if at := b.Project.Git("ls-remote", "origin", "refs/heads/"+branch); !strings.HasPrefix(at, theirs) {
		t.Errorf("the branch is at %q, and a person left it at %s", at, theirs)
	}
}
