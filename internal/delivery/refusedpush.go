package delivery

import (
	"context"
	"errors"
	"fmt"

	"company/internal/company"
	"company/internal/gitops"
)

// refusedPush is a push of a task's head that the remote did not take.
type refusedPush struct {
	m       *gitops.Mirror
	t, lead *company.Task
	to      string // URL that was pushed to
	remote  string // URL of the project, where the base is
	base    string // branch that the pull request is to be merged into
}

// answerRefusal returns the command that takes in what others pushed to the branch of a follow-up,
// or the error of the push. Commits are taken in where they are on top of what the task expected
// at the remote, and where the task may take them in without asking.
func (c *Delivery) answerRefusal(ctx context.Context, refusal error, p refusedPush) (company.Command, error) {
	if p.lead == p.t || company.CodeOf(refusal) != company.EConflict {
		return nil, markRefusal(refusal, p)
	}
	pushed, err := c.findPushed(ctx, p)
	if err != nil {
		return nil, err
	}
	if pushed == nil || pushed.Kind != company.BranchAhead {
		return nil, markRefusal(refusal, p)
	}
	if !p.t.MayTakeIn() {
		return nil, pushedAgain(p, *pushed)
	}
	diff, err := p.m.Diff(ctx, pushed.Delivered, pushed.Now, 0)
	if err != nil {
		return nil, err
	}
	take := company.TakeInPush{Task: p.t.ID, Head: p.t.Delivery.Head, Pushed: *pushed, Changes: diff.Paths()}
	if n := company.SizeOfChanges(take.Changes); n > company.MaxChanges {
		return nil, company.E(company.EConflict, fmt.Sprintf("%s at the remote %s", p.t.Delivery.Branch, pushed)).
			Because(fmt.Sprintf("they change %d files, whose list has %d bytes; commits of others are taken in up to %d", len(take.Changes), n, company.MaxChanges)).
			Fix(followUpAnew(p)).NeedsPerson()
	}
	return take, nil
}

// findPushed fetches the branch at the remote and compares it with what the task expected there.
// Nil means that the base contains all of the branch.
func (c *Delivery) findPushed(ctx context.Context, p refusedPush) (*company.BranchChange, error) {
	info, err := p.m.FetchBase(ctx, c.Log, gitops.Source{URL: p.to}, p.t.Delivery.Branch)
	if err != nil {
		return nil, err
	}
	base, err := p.m.FetchBase(ctx, c.Log, gitops.Source{URL: p.remote}, p.base)
	if err != nil {
		base.OID = "" // its commits count as commits of the branch
	}
	return compareBranch(ctx, p.m, p.t.RemoteHead(), branchNow{head: info.OID, known: true}, base.OID)
}

// pushedAgain is the error of a push after the task has taken in commits of others as often as it
// may. A person has it done once more.
func pushedAgain(p refusedPush, pushed company.BranchChange) error {
	return company.E(company.EConflict, fmt.Sprintf("others pushed to %s again before the push: it %s", p.t.Delivery.Branch, pushed)).
		Because("commits of others were taken in once already, and whoever pushes may do so again").
		Fix("answer with approve to take these in, too, and to push once more; or " + followUpAnew(p)).NeedsPerson()
}

// followUpAnew says how a follow-up begins again where the branch stands, and how to do without.
func followUpAnew(p refusedPush) string {
	return fmt.Sprintf(`company cancel %s, then company submit --follows %s "…": it begins where the branch stands now; if people are done with it: company pr merge|close %d`, p.t.ID, p.lead.ID, p.lead.PR.Number)
}

// markRefusal marks errors that a retry does not mend. A follow-up whose branch was rewritten fits
// it no more: only a new follow-up can hold both.
func markRefusal(err error, p refusedPush) error {
	var e *company.Error
	if !errors.As(err, &e) || e.Code != company.EProtected && e.Code != company.EConflict {
		return err
	}
	marked := e.NeedsPerson()
	switch {
	case marked.Hint != "":
	case p.lead != p.t:
		marked.Hint = followUpAnew(p)
	default:
		marked.Hint = fmt.Sprintf("see the remote's branch. To deliver, rename or delete it there and answer with approve; or company cancel %s, and submit it again under another number", p.t.ID)
	}
	return marked
}
