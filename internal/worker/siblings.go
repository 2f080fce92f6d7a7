package worker

import (
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/safetext"
)

// mostSiblings bounds the other tickets that a brief names.
const mostSiblings = 20

// describeSiblings says in a line each what the other tickets of the task do, so that their part of the
// instruction is left to them. Merged tickets stand elsewhere in the brief.
func describeSiblings(t *company.Task, sub *company.Subtask) string {
	var w strings.Builder
	left := 0
	for _, s := range t.Subtasks {
		if s.ID == sub.ID || s.Status == company.SubtaskCompleted || s.Status == company.SubtaskCancelled {
			continue
		}
		if left++; left <= mostSiblings {
			fmt.Fprintf(&w, "- %s: %s (%s)\n", s.ID, agent.JoinLines(s.Planned.Title), safetext.EscapeLine(strings.Join(s.Planned.WriteSet, ", "), 200))
		}
	}
	if left == 0 {
		return ""
	}
	if left > mostSiblings {
		fmt.Fprintf(&w, "- and %d more\n", left-mostSiblings)
	}
	return "\nOther tickets do their part of it; leave that to them:\n" + w.String()
}
