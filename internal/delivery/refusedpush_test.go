package delivery

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/lib/secretscan"
	"company/internal/merger/mergertest"
)

// refused is a follow-up beside whose work a person does something to the branch.
type refused struct {
	*mergertest.Bundle
	c      *Delivery
	id     company.TaskID
	branch string
	began  company.OID // where the follow-up began
}

func newRefused(t *testing.T) *refused {
	t.Helper()
	b, c, _, id := followed(t)
	r := &refused{Bundle: b, c: c, id: id, branch: b.Task(mergertest.Task).Delivery.Branch}
	r.began = r.task().Prepared.Base.OID
	r.work()
	return r
}

func (r *refused) task() *company.Task { return r.c.Decider.View().Tasks[r.id] }

// work gives the follow-up a head of its own, which is not at the remote.
func (r *refused) work() {
	r.T.Helper()
	r.Project.Git("fetch", "-q", "origin")
	r.Project.Git("switch", "-q", "-C", "work", "origin/"+r.branch)
	r.commit("work.go", "package a\n\nvar work = 1\n", "Worker")
	r.Project.Git("switch", "-q", "main")
	t := r.task()
	t.Head = r.Project.Fetch("work")
	t.Delivery.Head = t.Head
}

func (r *refused) commit(name, text, author string) {
	r.T.Helper()
	r.Project.Write(map[string]string{name: text})
	r.Project.Git("add", "-A")
	r.Project.Git("commit", "-q", "-m", "x", "--author", author+" <x@example.org>")
}

// pushes has a person push what do makes of the commit from.
func (r *refused) pushes(from string, do func()) company.OID {
	r.T.Helper()
	r.Project.Git("fetch", "-q", "origin")
	r.Project.Git("switch", "-q", "--detach", from)
	do()
	r.Project.Git("push", "-q", "-f", "origin", "HEAD:refs/heads/"+r.branch)
	theirs := company.OID(r.Project.Git("rev-parse", "HEAD"))
	r.Project.Git("switch", "-q", "main")
	return theirs
}

// deliver delivers the follow-up, and checks that the branch at the remote is left at a commit.
func (r *refused) deliver(left company.OID) (company.Command, error) {
	r.T.Helper()
	cmd, err := r.c.Do(r.T.Context(), company.Effect{Task: r.id})
	if at := r.Project.Git("ls-remote", "origin", "refs/heads/"+r.branch); !strings.HasPrefix(at, string(left)) {
		r.T.Errorf("the branch is at %q, and was left at %s", at, left)
	}
	return cmd, err
}

// asks checks that a person is asked, and returns the error.
func (r *refused) asks(left company.OID) *company.Error {
	r.T.Helper()
	cmd, err := r.deliver(left)
	var e *company.Error
	if cmd != nil || !errors.As(err, &e) || e.Code != company.EConflict || e.Class != company.HumanRequired {
		r.T.Fatalf("%+v, %v", cmd, err)
	}
	return e
}

// Commits of a person on top of what a follow-up expects at the remote are taken in before
// anybody is asked: with their number, their authors and the files that they change.
func TestPushOfAPersonIsTakenIn(t *testing.T) {
	t.Parallel()
	r := newRefused(t)
	theirs := r.pushes("origin/"+r.branch, func() {
		r.commit("note.txt", "x\n", "Ann")
		r.commit(".github/workflows/ci.yml", "x\n", "Bo\x1bb")
	})
	cmd, err := r.deliver(theirs)
	got, ok := cmd.(company.TakeInPush)
	if err != nil || !ok {
		t.Fatalf("%#v, %v", cmd, err)
	}
	p := got.Pushed
	if got.Task != r.id || got.Head != r.task().Head || p.Kind != company.BranchAhead || p.Delivered != r.began ||
		p.Now != theirs || p.Commits != 2 || p.People != 2 || strings.Contains(strings.Join(p.By, ""), "\x1b") {
		t.Errorf("%+v", got)
	}
	want := []company.Change{{Path: ".github/workflows/ci.yml", Action: "created"}, {Path: "note.txt", Action: "created"}}
	for i, change := range want {
		want[i].Hash = company.OID(r.Project.Git("rev-parse", string(theirs)+":"+change.Path))
	}
	if len(got.Changes) != 2 || got.Changes[0] != want[0] || got.Changes[1] != want[1] {
		t.Errorf("%+v", got.Changes)
	}
	again, err := r.deliver(theirs) // after a crash
	if more, ok := again.(company.TakeInPush); err != nil || !ok || more.Pushed.Now != theirs {
		t.Errorf("%+v, %v", again, err)
	}
}

// What was taken in and merged is expected at the remote, and is not looked through for secrets:
// it is published. Who pushes after that is a question, and so it says.
func TestDeliveryAfterTakingIn(t *testing.T) {
	t.Parallel()
	r := newRefused(t)
	r.c.Secrets = secretscan.New([]secretscan.Own{{Name: "THE_KEY", Value: ownKey}}, decidertest.Office)
	theirs := r.pushes("origin/"+r.branch, func() { r.commit("note.txt", ownKey+"\n", "Ann") })
	take := r.take(theirs)
	r.Project.Git("switch", "-q", "work")
	r.Project.Git("merge", "-q", "--no-ff", "-m", "take in", string(theirs))
	r.Project.Git("switch", "-q", "main")
	f := r.task()
	f.Head = r.Project.Fetch("work")
	f.Delivery.Head, f.TakeIns = f.Head, 1
	f.Subtasks = append(f.Subtasks,
		&company.Subtask{ID: "t2-09", Status: company.SubtaskCompleted, TakenIn: &take.Pushed, Merged: f.Head})
	again := r.pushes(string(theirs), func() { r.commit("more.txt", "x\n", "Cid") })
	e := r.asks(again)
	for _, want := range []string{"others pushed to " + r.branch + " again before the push",
		"1 commit on top of " + theirs.Short() + " by Cid", "taken in once already", "answer with approve",
		"company cancel t2, then company submit --follows t1"} {
		if !strings.Contains(e.Error()+" "+e.Hint, want) {
			t.Errorf("no %q in %v; %s", want, e, e.Hint)
		}
	}
	r.pushes(string(theirs), func() {}) // put back
	cmd, err := r.deliver(f.Head)
	if done, ok := cmd.(company.RecordDelivery); err != nil || !ok || done.Head != f.Head {
		t.Errorf("%#v, %v", cmd, err)
	}
}

func (r *refused) take(theirs company.OID) company.TakeInPush {
	r.T.Helper()
	cmd, err := r.deliver(theirs)
	take, ok := cmd.(company.TakeInPush)
	if err != nil || !ok {
		r.T.Fatalf("%#v, %v", cmd, err)
	}
	return take
}

// A branch that does not contain what the follow-up began from is a question at once, with a way
// on: the branch was rewritten, or is another's.
func TestRewrittenBranchIsAsked(t *testing.T) {
	t.Parallel()
	r := newRefused(t)
	for name, from := range map[string]string{"another's": "main", "an older commit": string(r.began) + "~1"} {
		theirs := r.pushes(from, func() { r.commit("their.txt", name+"\n", "Ann") })
		if e := r.asks(theirs); !strings.Contains(e.Hint, "company cancel t2, then company submit --follows t1") ||
			!strings.Contains(e.Error(), "moved on") {
			t.Errorf("%s: %v; %s", name, e, e.Hint)
		}
	}
}

// A push of others that changes more files than a ticket may is a question.
func TestLargePushOfAPerson(t *testing.T) {
	t.Parallel()
	r := newRefused(t)
	many := map[string]string{}
	for i := range 3300 {
		many[strings.Repeat(strings.Repeat("d", 240)+"/", 4)+strconv.Itoa(i)] = "x"
	}
	theirs := r.pushes("origin/"+r.branch, func() {
		r.Project.Write(many)
		r.commit("last.txt", "x\n", "Ann")
	})
	if e := r.asks(theirs); !strings.Contains(e.Error(), "they change 3301 files") {
		t.Errorf("%v", e)
	}
}
