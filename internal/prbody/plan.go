package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// prPlan is the plan.
func prPlan(t *company.Task, o PROptions) string {
	if len(t.Subtasks) == 1 && t.Subtasks[0].Planned.IsInstruction() {
		return "" // the instruction stands above
	}
	if len(t.Subtasks) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## Plan\n\n")
	for i, s := range t.Subtasks {
		if i == o.maxRows {
			fmt.Fprintf(&b, "- %d more subtasks\n", len(t.Subtasks)-o.maxRows)
			break
		}
		place := fmt.Sprintf("wave %d", s.Wave)
		if after := s.After(); len(after) > 0 {
			place = "after " + company.JoinIDs(after)
		}
		fmt.Fprintf(&b, "- %s, %s: %s%s\n", place, s.ID, escapeWithin(s.Planned.Description, 300), prReplanned(s))
	}
	return b.String()
}

// prReplanned tells that the manager planned a subtask anew, or split it from another one.
func prReplanned(s *company.Subtask) string {
	var out string
	if s.SplitFrom != "" {
		out = " (split from " + string(s.SplitFrom) + ")"
	}
	if s.Replanned != "" {
		out += " (planned anew: " + escapeWithin(s.Replanned, 200) + ")"
	}
	return out
}
