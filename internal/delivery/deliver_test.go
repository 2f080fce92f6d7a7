package delivery

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/forge"
	"company/internal/forge/local"
	"company/internal/merger/mergertest"
)

// settled is the local forge on the day that a person ended a pull request
// there, before anybody heard of it.
type settled struct {
	*local.Forge
	state company.PRState
	head  company.OID // of the pull request; empty: not told
}

func (f settled) Open(ctx context.Context, pr forge.PR) (forge.OpenedPR, error) {
	o, err := f.Forge.Open(ctx, pr)
	o.State, o.Head = f.state, f.head
	return o, err
}

// shown is a decider with another view.
type shown struct {
	company.Decider
	s *company.State
}

func (d shown) View() *company.State { return d.s }

// followed is a follow-up of a delivered task, about to be delivered itself.
func followed(t *testing.T) (*mergertest.Bundle, *Delivery, *local.Forge, company.TaskID) {
	t.Helper()
	b, c, f := delivered(t)
	origin(t, b)
	b.Must(b.CarryOut(c.Do, ""))
	s, id := b.View(), company.NewTaskID(2)
	lead := b.Task(mergertest.Task)
	prepared, deliver, more := *lead.Prepared, *lead.Delivery, *lead
	prepared.Base.OID = lead.Head
	more.ID, more.Follows, more.PR, more.Prepared, more.Delivery, more.Status = id, mergertest.Task, nil, &prepared,
		&deliver, company.StatusReviewing
	more.Subtasks = nil // it answers remarks, and changes nothing
	s.Tasks[id], s.LastTask, s.Open = &more, 2, append(s.Open, id)
	c.Decider = shown{b, s}
	return b, c, f, id
}

// A follow-up of a pull request that people merged or closed meanwhile is not
// said to be delivered.
func TestDeliverToWhatIsSettled(t *testing.T) {
	t.Parallel()
	_, c, f, id := followed(t)
	for _, state := range []company.PRState{company.PRMerged, company.PRClosed, company.PROpen} {
		c.Forges = oneForge{settled{f, state, ""}}
		cmd, err := c.Do(t.Context(), company.Effect{Task: id})
		if err != nil {
			t.Fatal(err)
		}
		set, ended := cmd.(company.SettlePR)
		if ended != (state != company.PROpen) || ended && (set.Task != mergertest.Task || set.State != state) {
			t.Errorf("%s: %#v", state, cmd)
		}
	}
}

// A copy of the office was put back, which gave a number again whose pull request is merged and
// whose branch is gone. The work is in no pull request, and is not called delivered.
func TestNumberOfAMergedPullRequest(t *testing.T) {
	t.Parallel()
	b, c, f := delivered(t)
	origin(t, b)
	head := b.Task(mergertest.Task).Delivery.Head
	c.Forges = oneForge{settled{f, company.PRMerged, b.Project.Base}}
	cmd, err := c.Do(t.Context(), company.Effect{Task: mergertest.Task})
	var e *company.Error
	if cmd != nil || !errors.As(err, &e) || e.Code != company.EConflict || e.Class != company.HumanRequired ||
		!strings.Contains(e.Message, "belongs to another task t1, and is merged already") {
		t.Errorf("%+v, %v", cmd, err)
	}
	c.Forges = oneForge{settled{f, company.PRMerged, head}} // a person merged this one before it was recorded
	if cmd, err := c.Do(t.Context(), company.Effect{Task: mergertest.Task}); err != nil ||
		cmd.(company.RecordDelivery).Head != head {
		t.Errorf("%+v, %v", cmd, err)
	}
}

// A branch that people deleted at the remote holds nothing that a push could
// overwrite: a follow-up, which begins where it was delivered last, makes it again.
func TestDeliverToADeletedBranch(t *testing.T) {
	t.Parallel()
	b, c, _, id := followed(t)
	branch := b.Task(mergertest.Task).Delivery.Branch
	b.Project.Git("push", "-q", "origin", ":refs/heads/"+branch)
	cmd, err := c.Do(t.Context(), company.Effect{Task: id})
	if _, done := cmd.(company.RecordDelivery); err != nil || !done {
		t.Fatalf("%#v, %v", cmd, err)
	}
	if at := b.Project.Git("ls-remote", "origin", "refs/heads/"+branch); !strings.HasPrefix(
		at, string(b.Task(mergertest.Task).Head)) {
		t.Errorf("the branch is at %q", at)
	}
}

// Delivering again pushes nothing new and finds the same pull request.
func TestDeliverTwice(t *testing.T) {
	t.Parallel()
	b, c, f := delivered(t)
	dir := origin(t, b)
	first := b.CarryOut(c.Do, "").(company.RecordDelivery)
	again := b.CarryOut(c.Do, "").(company.RecordDelivery)
	again.Evidence = first.Evidence
	if first != again || first.Evidence.CountModified() != 2 || first.Number != 1 || first.Body == "" ||
		first.Head != b.Task(mergertest.Task).Head {
		t.Errorf("%+v, then %+v", first, again)
	}
	if refs := b.Project.Git("--git-dir="+dir, "for-each-ref", "--format=%(refname) %(objectname)"); refs !=
		"refs/heads/develop-t1-"+decidertest.Office+" "+string(first.Head)+"\nrefs/heads/main "+string(b.Project.Base) {
		t.Errorf("the origin has\n%s", refs)
	}
	rec, err := f.ReadRecord(1)
	if err != nil || rec.Head != first.Head || rec.Base != "main" || rec.Task != mergertest.Task ||
		rec.Office != decidertest.Office {
		t.Errorf("%+v, %v", rec, err)
	}
	if files, err := filepath.Glob(filepath.Join(filepath.Dir(f.FullPagePath(1)), "*")); err != nil || len(files) != 2 {
		t.Errorf("%v, %v", files, err)
	}
	b.Must(first)
	if tk := b.Task(mergertest.Task); tk.Status != company.StatusCompleted || tk.PR.Number != 1 {
		t.Errorf("%+v", tk.PR)
	}
}

// Without a remote the pull request is there all the same.
func TestDeliverWithoutRemote(t *testing.T) {
	t.Parallel()
	b, c, f := delivered(t)
	got := b.CarryOut(c.Do, "").(company.RecordDelivery)
	if rec, err := f.ReadRecord(got.Number); err != nil || rec.Head != b.Task(mergertest.Task).Head {
		t.Errorf("%+v, %v", rec, err)
	}
}

// A branch of that name that is not ours is left alone, and a person is asked;
// no pull request is opened for what was not pushed.
func TestDeliverTaken(t *testing.T) {
	t.Parallel()
	b, c, f := delivered(t)
	dir := origin(t, b)
	b.Project.Git("push", "-q", "origin", "main:refs/heads/develop-t1-"+decidertest.Office)
	cmd, err := c.Do(t.Context(), company.Effect{Task: mergertest.Task})
	var e *company.Error
	if cmd != nil || !errors.As(err, &e) || e.Code != company.EConflict || e.Class != company.HumanRequired ||
		!strings.Contains(e.Message, "the remote already has a branch develop-t1-"+decidertest.Office) ||
		!strings.Contains(e.Hint, "company cancel t1") {
		t.Errorf("%v, %v", cmd, err)
	}
	if at := b.Project.Git("--git-dir="+dir, "rev-parse", "develop-t1-"+decidertest.Office); at != string(b.Project.Base) {
		t.Errorf("the branch was moved to %s", at)
	}
	if _, err := f.ReadRecord(1); err == nil {
		t.Error("a pull request without its branch")
	}
}
