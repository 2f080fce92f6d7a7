package view

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/safetext"
)

// fitOf holds a subtask's write set against the files of its head. nil: it has changed no
// file yet, its globs take too long to compare, or it is a repair, which may write all and
// which no manager planned.
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

// sumFits is the fit of all write sets of a task. Nil: there is none.
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

// fitText is how well write sets were planned: the share of globs that were needed, and the
// share of files that a glob matches.
func fitText(f company.Fit) string {
	return fmt.Sprintf("%d of %s used, %d of %s planned", f.Used, company.Count(f.Planned, "glob"), f.Covered, company.Count(f.Changed, "changed file"))
}

// mostOutside is how many files beyond a write set people read of one subtask; JSON has all.
const mostOutside = 5

// outsideText lists what the subtask changed beyond its write set, with the open subtasks that
// each file meets.
func (v Subtask) outsideText() string {
	var parts []string
	for i, f := range v.OutsideWriteSet {
		if i == mostOutside {
			parts = append(parts, fmt.Sprintf("and %d more", len(v.OutsideWriteSet)-i))
			break
		}
		parts = append(parts, safetext.EscapeLine(f.Describe(), 200))
	}
	return strings.Join(parts, ", ")
}
