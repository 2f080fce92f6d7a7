package delivery

import (
	"context"
	"errors"
	"fmt"

	"company/internal/company"
	"company/internal/gitops"
)

// refusedPush describes a push of a task's head that the remote refused.
type refusedPush struct {
	m       *gitops.Mirror
	t, lead *company.Task
	to      string // URL that was pushed to
	remote  string // URL of the project, where the base is
	base    string // target branch of the pull request
}

// answerRefusal returns the command that takes in others' commits on the branch of a follow-up, or the error of the
// push. It takes commits in if they are on top of the expected remote head and the task may do so without asking.
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
			Because(fmt.Sprintf("they change %d files, whose list has %d bytes; the limit is %d",
				len(take.Changes), n, company.MaxChanges)).
			Fix(explainRestart(p)).NeedsPerson()
	}
	return take, nil
}

// findPushed fetches the branch at the remote and compares it with the head that the task expected there. It returns
// nil if the base contains the whole branch.
func (c *Delivery) findPushed(ctx context.Context, p refusedPush) (*company.BranchChange, error) {
	info, err := p.m.FetchBase(ctx, c.Log, gitops.Source{URL: p.to}, p.t.Delivery.Branch)
	if err != nil {
		return nil, err
	}
	base, err := p.m.FetchBase(ctx, c.Log, gitops.Source{URL: p.remote}, p.base)
	if err != nil {
		base.OID = "" // the base's commits then count as commits of the branch
	}
	return compareBranch(ctx, p.m, p.t.RemoteHead(), branchNow{head: info.OID, known: true}, base.OID)
}

// pushedAgain returns the error for a push after the task has taken in others' commits as often as it may. A person
// can allow it once more.
func pushedAgain(p refusedPush, pushed company.BranchChange) error {
	return company.E(company.EConflict,
		fmt.Sprintf("others pushed to %s again before the push: it %s", p.t.Delivery.Branch, pushed)).
		Because("other people's commits were taken in once already, and they may push again").
		Fix("answer with approve to take these in, too, and to push once more; or " + explainRestart(p)).NeedsPerson()
}

// explainRestart explains how to restart a follow-up at the current branch, and how to end without one.
func explainRestart(p refusedPush) string {
	return fmt.Sprintf(
		`company cancel %s, then company submit --follows %s "…": it begins where the branch stands now; if people are done with it: company pr merge|close %d`, p.t.ID, p.lead.ID, p.lead.PR.Number)
}

// markRefusal marks errors that a retry cannot fix. If the branch of a follow-up was rewritten, only a new follow-up
// can contain both.
func markRefusal(err error, p refusedPush) error {
	var fault *company.Error
	if !errors.As(err, &fault) || fault.Code != company.EProtected && fault.Code != company.EConflict {
		return err
	}
	marked := fault.NeedsPerson()
	switch {
	case marked.Hint != "":
	case p.lead != p.t:
		marked.Hint = explainRestart(p)
	default:
		marked.Hint = fmt.Sprintf(
			"see the remote's branch. To deliver, rename or delete it there and answer with approve; or company cancel %s, "+
				"and submit it again under another number", p.t.ID)
	}
	return marked
}
