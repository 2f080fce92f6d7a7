package prbody

import (
	"fmt"

	"company/internal/company"
)

// leadOf is the task that opened the pull request.
func (o PROptions) leadOf(t *company.Task) *company.Task {
	if len(o.EarlierTasks) > 0 {
		return o.EarlierTasks[0]
	}
	return t
}

// mergeRisks are the facts that a person must know before merging, and the checks that verified nothing.
func mergeRisks(t *company.Task) (out, unverified []string) {
	if !t.Untested() {
		for _, why := range t.ExplainUnverified() {
			unverified = append(unverified, "**UNVERIFIED**: "+escapeMarkdown(why)+".")
		}
	}
	if why := untestedReason(t); why != "" {
		out = append(out, "**UNTESTED**: "+why+".")
	}
	if t.Head != "" && t.Review.Waived == t.Head {
		out = append(out, "No reviewer approved it: the review was waived.")
	}
	if t.Prepared != nil && t.Prepared.Base.Ahead > 0 {
		out = append(out, fmt.Sprintf("%d commits that the remote did not have travel along.", t.Prepared.Base.Ahead))
	}
	return out, unverified
}

// untestedReason says why no test stands behind a pull request.
func untestedReason(t *company.Task) string {
	switch {
	case t.Untested():
		return company.UntestedNoChecks
	case t.Gate != nil:
		return t.Gate.Result.ExplainUntested()
	}
	return ""
}
