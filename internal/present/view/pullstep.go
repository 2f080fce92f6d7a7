package view

import (
	"fmt"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// NextPullStep describes the next step for the pull request of a task. openCommand returns the command that opens it
// by hand, or "". It is called only if that may be the next step.
func NextPullStep(task *company.Task, openCommand func() string) string {
	n := task.PR.Number
	switch task.PR.State {
	case company.PRMerged:
		return "nothing: it is merged"
	case company.PRClosed:
		next := fmt.Sprintf("nothing: it is closed; its branch is kept. See the work with company pr diff %d; company "+
			"submit \"…\" starts over", n)
		return next + task.PR.ReopenedHint()
	}
	if task.PR.IsOnForge() {
		return fmt.Sprintf("review it at %s; then company pr merge %d, or merge it there: company pr sync %d records the "+
			"result", safetext.Escape(task.PR.URL), n, n) + uncheckedBranchHint(task)
	}
	if task.BranchChange.LosesDelivery() {
		on := "continues from the branch"
		if task.BranchChange.Kind == company.BranchGone {
			on = "restores the branch as it was delivered"
		}
		return fmt.Sprintf("company pr diff %d; how to merge the delivered work: company pr merge %d; if people merged it "+
			"in another form, company pr close %d --why \"…\"; company submit --follows %s \"…\" %s",
			n, n, n, task.ID, on)
	}
	next := fmt.Sprintf("company pr diff %d or company pr checkout %d; then company pr merge %d", n, n, n) +
		uncheckedBranchHint(task)
	if open := openCommand(); open != "" {
		next += "\nOPEN  " + open
	}
	return next
}

// uncheckedBranchHint describes commits on the branch that were never checked. It returns "" if there are none.
func uncheckedBranchHint(task *company.Task) string {
	if task.BranchChange == nil || task.BranchChange.Now == "" {
		return ""
	}
	return fmt.Sprintf("; commits that people added to the branch passed no gate and no review here: company submit "+
		"--follows %s \"…\" continues from it", task.ID)
}
