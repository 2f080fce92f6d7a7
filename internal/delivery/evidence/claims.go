// Package evidence compares what the ledger says about a task with what shows it: the results and journals of its runs,
// the output of its checks, and the commits and trees in git. Each operation has exactly one piece of evidence.
package evidence

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/present/view"
)

// ListClaims lists the claims of a task: runs in the order of their ends, then checks, merges and the delivery. A run
// that nobody held at its end claims nothing. Neither does a check that did not run, one that failed without any
// output because its place could not be prepared, nor an output that a newer one of the same ticket replaced.
func ListClaims(task *company.Task) []view.Claim {
	claims := []view.Claim{}
	runs := slices.SortedFunc(maps.Values(task.Runs), func(a, b *company.Run) int {
		return cmp.Or(a.EndedAt.Compare(b.EndedAt), strings.Compare(string(a.ID), string(b.ID)))
	})
	for _, run := range runs {
		if !run.Ended || run.Status == company.RunError && run.Result == "" {
			continue
		}
		claims = append(claims, view.Claim{Operation: view.OperationRun, Of: string(run.ID),
			Says: "ended: " + string(run.Status), Evidence: string(run.Result)})
	}
	judged := map[string]bool{}
	addChecks := func(gate *company.GateFinished) {
		if gate == nil {
			return
		}
		for _, check := range gate.Result.Checks {
			of := fmt.Sprintf("%s on %s", check.Name, gate.Result.Tree.Short())
			if check.Skipped || check.Absent || check.Log == "" && !check.Passed || judged[of] {
				continue
			}
			judged[of] = true
			says := "failed"
			if check.Passed {
				says = "passed"
			}
			claims = append(claims, view.Claim{Operation: view.OperationCheck, Of: of,
				Says: fmt.Sprintf("%s, exit code %d", says, check.ExitCode), Evidence: string(check.Log)})
		}
	}
	for _, sub := range task.Subtasks {
		addChecks(sub.Gate)
	}
	addChecks(task.Gate)
	for _, sub := range task.Subtasks {
		if sub.Status == company.SubtaskCompleted {
			claims = append(claims, view.Claim{Operation: view.OperationMerge, Of: string(sub.ID), Says: "merged",
				Evidence: string(sub.Merged)})
		}
	}
	isJudged := task.Gate != nil && task.Gate.Head == task.Head
	judgment := ", which the checks judged"
	if isJudged && task.Gate.Result.Untested {
		judgment = ", which no check judged"
	}
	if task.Delivery != nil && task.Delivery.Head == task.Head && isJudged {
		claims = append(claims, view.Claim{Operation: view.OperationDelivery, Of: string(task.ID),
			Says: "its tree is " + task.Gate.Result.Tree.Short() + judgment, Evidence: string(task.Head)})
	}
	return claims
}
