package merger

import (
	"context"
	"errors"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/forge/local"
)

// settled is the local forge on the day that a person ended a pull request
// there, before anybody heard of it.
type settled struct {
	*local.Forge
	state company.PRState
}

func (f settled) Open(ctx context.Context, pr forge.PR) (forge.OpenedPR, error) {
	o, err := f.Forge.Open(ctx, pr)
	o.State = f.state
	return o, err
}

// shown is a desk with another view.
type shown struct {
	company.Decider
	s *company.State
}

func (d shown) View() *company.State { return d.s }

// followed is a follow-up of a delivered task, about to be delivered itself.
func followed(t *testing.T) (*bundle, *Delivery, *local.Forge, company.TaskID) {
	t.Helper()
	b, c, f := delivered(t)
	origin(t, b)
	b.Must(b.do(c.Do, ""))
	s, id := b.View(), company.NewTaskID(2)
	lead := b.Task(task)
	prepared, deliver, more := *lead.Prepared, *lead.Deliver, *lead
	prepared.Base.OID = lead.Head
	more.ID, more.Follows, more.PR, more.Prepared, more.Deliver, more.Status = id, task, nil, &prepared, &deliver, company.StatusReviewing
	s.Tasks[id], s.LastTask, s.Open = &more, 2, append(s.Open, id)
	c.Desk = shown{b, s}
	return b, c, f, id
}

// A follow-up of a pull request that people merged or closed meanwhile is not
// said to be delivered.
func TestDeliverToWhatIsSettled(t *testing.T) {
	_, c, f, id := followed(t)
	for _, state := range []company.PRState{company.PRMerged, company.PRClosed, company.PROpen} {
		c.Forge = func(context.Context, forge.Ref, string) (forge.Forge, error) { return settled{f, state}, nil }
		cmd, err := c.Do(t.Context(), company.Effect{Task: id})
		if err != nil {
			t.Fatal(err)
		}
		set, ended := cmd.(company.SettlePR)
		if ended != (state != company.PROpen) || ended && (set.Task != task || set.State != state) {
			t.Errorf("%s: %#v", state, cmd)
		}
	}
}

// Whoever pushed to a pull request's branch while a follow-up was under way is
// not overwritten, and the hint names a way on: to try again is none.
func TestDeliverBesideAPerson(t *testing.T) {
	b, c, _, id := followed(t)
	branch := b.Task(task).Deliver.Branch
	b.p.Git("commit", "-q", "--allow-empty", "-m", "a person's")
	b.p.Git("push", "-q", "-f", "origin", "HEAD:refs/heads/"+branch)
	cmd, err := c.Do(t.Context(), company.Effect{Task: id})
	var e *company.Error
	if cmd != nil || !errors.As(err, &e) || e.Class != company.HumanRequired || !strings.Contains(e.Hint, "company cancel t2, then company submit --follows t1") {
		t.Errorf("%v, %+v", cmd, e)
	}
	theirs := b.p.Git("rev-parse", "HEAD")
	if at := b.p.Git("ls-remote", "origin", "refs/heads/"+branch); !strings.HasPrefix(at, theirs) {
		t.Errorf("the branch is at %q, and a person left it at %s", at, theirs)
	}
}

// A branch that people deleted at the remote holds nothing that a push could
// overwrite: a follow-up, which begins where it was delivered last, makes it anew.
func TestDeliverToADeletedBranch(t *testing.T) {
	b, c, _, id := followed(t)
	branch := b.Task(task).Deliver.Branch
	b.p.Git("push", "-q", "origin", ":refs/heads/"+branch)
	cmd, err := c.Do(t.Context(), company.Effect{Task: id})
	if _, done := cmd.(company.RecordDelivery); err != nil || !done {
		t.Fatalf("%#v, %v", cmd, err)
	}
	if at := b.p.Git("ls-remote", "origin", "refs/heads/"+branch); !strings.HasPrefix(at, string(b.Task(task).Head)) {
		t.Errorf("the branch is at %q", at)
	}
}
