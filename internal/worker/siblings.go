package worker

import (
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/lib/safetext"
)

// mostSiblings limits the other tickets in a brief.
const mostSiblings = 20

// describeSiblings lists the other open tickets of the task, one per line, so that the worker leaves their parts
// to them. Merged tickets are in another part of the brief.
func describeSiblings(task *company.Task, sub *company.Subtask) string {
	var w strings.Builder
	left := 0
	for _, subtask := range task.Subtasks {
		if subtask.ID == sub.ID || subtask.Status == company.SubtaskCompleted || subtask.Status == company.SubtaskCancelled {
			continue
		}
		if left++; left <= mostSiblings {
			fmt.Fprintf(&w, "- %s: %s (%s)\n", subtask.ID, agent.JoinLines(subtask.Planned.Title),
				safetext.EscapeLine(strings.Join(subtask.Planned.WriteSet, ", "), 200))
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
