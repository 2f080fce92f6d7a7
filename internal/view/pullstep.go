package view

import (
	"fmt"

	"company/internal/company"
	"company/internal/safetext"
)

// NextPullStep says what to do with the pull request of a task. openCommand gives
// the command that opens it by hand, where there is one; it is asked only where
// that may be the next step.
func NextPullStep(t *company.Task, openCommand func() string) string {
	n := t.PR.Number
	switch t.PR.State {
	case company.PRMerged:
		return "nothing: it is merged"
	case company.PRClosed:
		next := fmt.Sprintf("nothing: it is closed; its branch stays. See the work with company pr diff %d; company submit \"…\" begins anew", n)
		return next + t.PR.ReopenedHint()
	}
	if t.PR.IsOnForge() {
		return fmt.Sprintf("review it at %s; then company pr merge %d, or merge it there: company pr sync %d hears what came of it", safetext.Escape(t.PR.URL), n, n) + uncheckedBranchHint(t)
	}
	if t.BranchChange.LosesDelivery() {
		on := "goes on from what is there"
		if t.BranchChange.Kind == company.BranchGone {
			on = "makes the branch anew, with what was delivered"
		}
		return fmt.Sprintf("company pr diff %d; how to merge what was delivered: company pr merge %d; where people did that in another form, company pr close %d --why \"…\"; company submit --follows %s \"…\" %s",
			n, n, n, t.ID, on)
	}
	next := fmt.Sprintf("company pr diff %d or company pr checkout %d; then company pr merge %d", n, n, n) + uncheckedBranchHint(t)
	if open := openCommand(); open != "" {
		next += "\nOPEN  " + open
	}
	return next
}

// uncheckedBranchHint names the commits of a branch that were never checked.
func uncheckedBranchHint(t *company.Task) string {
	if t.BranchChange == nil || t.BranchChange.Now == "" {
		return ""
	}
	return fmt.Sprintf("; what people put on the branch went through no gate and no review here: company submit --follows %s \"…\" goes on from it", t.ID)
}
