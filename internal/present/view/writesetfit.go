package view

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// fitOf compares a subtask's write set with its changed files. It returns nil if there are no changes, the globs take
// too long to compare, or it is a repair, whose write set is unlimited and was not planned.
func fitOf(sub *company.Subtask, budget *int) *company.Fit {
	if len(sub.Changes) == 0 || slices.Equal(sub.Planned.WriteSet, []string{"**"}) {
		return nil
	}
	var changed []string
	for _, c := range sub.Changes {
		changed = append(changed, c.Path)
	}
	fit, ok := company.WriteSetFit(sub.Planned.WriteSet, changed, budget)
	if !ok {
		return nil
	}
	return &fit
}

// sumFits returns the fit of all write sets of a task, or nil if there is none.
func sumFits(plan []Subtask) *company.Fit {
	var sum *company.Fit
	for _, sub := range plan {
		if sub.WriteSetFit == nil {
			continue
		}
		if sum == nil {
			sum = &company.Fit{}
		}
		*sum = sum.Add(*sub.WriteSetFit)
	}
	return sum
}

// fitText formats how many planned globs were used, and how many changed files were planned.
func fitText(fit company.Fit) string {
	return fmt.Sprintf("%d of %s used, %d of %s planned", fit.Used, company.Count(fit.Planned, "glob"), fit.Covered,
		company.Count(fit.Changed, "changed file"))
}

// mostOutside limits the files beyond a write set that are shown for a subtask. JSON has all.
const mostOutside = 5

// outsideText lists files that the subtask changed beyond its write set, with the open subtasks that also plan them.
func (v Subtask) outsideText() string {
	var parts []string
	for i, outsideFile := range v.OutsideWriteSet {
		if i == mostOutside {
			parts = append(parts, fmt.Sprintf("and %d more", len(v.OutsideWriteSet)-i))
			break
		}
		parts = append(parts, safetext.EscapeLine(outsideFile.Describe(), 200))
	}
	return strings.Join(parts, ", ")
}
