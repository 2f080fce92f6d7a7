package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// prPlan returns the plan.
func prPlan(task *company.Task, prOptions PROptions) string {
	if len(task.Subtasks) == 1 && task.Subtasks[0].Planned.IsInstruction() {
		return "" // the instruction is shown above
	}
	if len(task.Subtasks) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## Plan\n\n")
	for i, subtask := range task.Subtasks {
		if i == prOptions.maxRows {
			fmt.Fprintf(&b, "- %d more subtasks\n", len(task.Subtasks)-prOptions.maxRows)
			break
		}
		place := fmt.Sprintf("wave %d", subtask.Wave)
		if after := subtask.After(); len(after) > 0 {
			place = "after " + company.JoinIDs(after)
		}
		fmt.Fprintf(&b, "- %s, %s: %s%s\n", place, subtask.ID, escapeWithin(subtask.Planned.Description, 300),
			prReplanned(subtask))
	}
	return b.String()
}

// prReplanned notes that the manager replanned a subtask or split it from another one.
func prReplanned(subtask *company.Subtask) string {
	var out string
	if subtask.SplitFrom != "" {
		out = " (split from " + string(subtask.SplitFrom) + ")"
	}
	if subtask.Replanned != "" {
		out += " (replanned: " + escapeWithin(subtask.Replanned, 200) + ")"
	}
	return out
}
