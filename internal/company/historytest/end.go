package historytest

import (
	"errors"
	"fmt"

	"company/internal/company"
)

// observeEnd checks that a pull request and a completion are only for a head on which all checks passed.
func (c *Checker) observeEnd(t *observedTask, d company.Data, event company.Event) error {
	switch d := d.(type) {
	case *company.PROpened:
		t.prs++
		waived := c.yes["review "+string(event.Task)+" "+string(d.Head)]
		switch {
		case t.prs > 1:
			return fmt.Errorf("a second pull request of %s", event.Task)
		case d.Head != t.head:
			return errors.New("a pull request of another head")
		case t.whole[d.Head] == "" || t.whole[d.Head] != t.trees[d.Head]:
			return errors.New("a pull request of a tree on which no gates passed")
		case !t.approved[" "+string(d.Head)] && !waived:
			return errors.New("a pull request that nobody reviewed")
		case t.settings.PR == company.Ask && !c.yes["pr "+string(event.Task)+" "+string(d.Head)]:
			return errors.New("a pull request without the president's approval")
		}
		c.tasks[c.leadOf(event.Task)].branch = company.BranchChange{Kind: company.BranchAsDelivered, Delivered: d.Head,
			Now: d.Head}
		if isMainBranch(d.Branch) {
			return fmt.Errorf("a pull request from %s", d.Branch)
		}
	case *company.PRSettled:
		t.settled, t.inBase = d.State != company.PROpen, d.State == company.PRMerged
		// The record of its branch is reset, since it may be reopened.
		t.branch = company.BranchChange{Kind: company.BranchAsDelivered, Delivered: t.branch.Delivered,
			Now: t.branch.Delivered}
	case *company.BranchChangeSeen:
		return t.observeBranch(d, event)
	case *company.TaskCompleted:
		t.ended = true
		t.completed = true
		t.intent = nil
		t.stack = nil
		switch {
		case d.DryRun && t.dryRun && t.hasPlan:
		case d.DryRun || t.prs != 1 && !d.Unchanged || t.prs != 0 && d.Unchanged:
			return fmt.Errorf("%s is completed without its pull request", event.Task)
		default:
			for i := range t.waves {
				if t.merged[company.NewSubtaskID(event.Task, i+1)] == "" {
					return fmt.Errorf("%s is completed without all of its subtasks", event.Task)
				}
			}
		}
	case *company.TaskFailed, *company.TaskCancelled:
		t.ended = true
		t.completed = false
		t.intent = nil
		t.stack = nil
	case *company.TaskReopened:
		if !t.ended || t.completed != d.Plan || d.Plan && !t.dryRun || t.prs > 0 {
			return fmt.Errorf("%s is reopened, and goes on or is done", event.Task)
		}
		for id, r := range t.runs {
			if !r.ended {
				return fmt.Errorf("%s is reopened while %s is open", event.Task, id)
			}
		}
		t.ended = false
		t.completed = false
		t.dryRun = t.dryRun && !d.Plan
	case *company.RunEnded, *company.RunReleased, *company.BudgetRaised, *company.ApprovalOpened,
		*company.ApprovalAnswered, *company.TaskPaused, *company.PRFeedbackReceived, *company.AccessRefused,
		*company.FileWriteFailed, *company.FileWriteRecovered, *company.RunRolledBack:
	default:
		if t.ended {
			return fmt.Errorf("%s after the end of %s", event.Kind, event.Task)
		}
	}
	return nil
}

// observeBranch checks that a branch's change is recorded for an open pull request, relative to the last delivery,
// once, and with few plain names.
func (t *observedTask) observeBranch(d *company.BranchChangeSeen, event company.Event) error {
	was, now := t.branch, d.BranchChange
	if t.follows != "" || t.prs == 0 || t.settled {
		return fmt.Errorf("a branch of %s, which has no open pull request of its own", event.Task)
	}
	t.branch = now
	switch {
	case now.Delivered != was.Delivered:
		return fmt.Errorf("the branch of %s was delivered at %s, and is compared with %s", event.Task, was.Delivered.Short(),
			now.Delivered.Short())
	case now.Equal(was):
		return fmt.Errorf("the branch of %s is told twice", event.Task)
	}
	return checkDescription(event.Task, now)
}
