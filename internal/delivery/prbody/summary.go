package prbody

import (
	"fmt"

	"company/internal/company"
)

// leadOf returns the task that opened the pull request.
func (o PROptions) leadOf(task *company.Task) *company.Task {
	if len(o.EarlierTasks) > 0 {
		return o.EarlierTasks[0]
	}
	return task
}

// mergeRisks returns the facts that a person must know before merging, and the checks that verified nothing.
func mergeRisks(task *company.Task) (out, unverified []string) {
	if !task.Untested() {
		for _, reason := range task.ExplainUnverified() {
			unverified = append(unverified, "**UNVERIFIED**: "+escapeMarkdown(reason)+".")
		}
	}
	if reason := untestedReason(task); reason != "" {
		out = append(out, "**UNTESTED**: "+reason+".")
	}
	if task.Head != "" && task.Review.Waived == task.Head {
		out = append(out, "No reviewer approved it: the review was waived.")
	}
	if task.Prepared != nil && task.Prepared.Base.Ahead > 0 {
		out = append(out, fmt.Sprintf("%d commits that the remote did not have travel along.", task.Prepared.Base.Ahead))
	}
	return out, unverified
}

// untestedReason returns why a pull request has no tests, or "".
func untestedReason(task *company.Task) string {
	switch {
	case task.Untested():
		return company.UntestedNoChecks
	case task.Gate != nil:
		return task.Gate.Result.ExplainUntested()
	}
	return ""
}
