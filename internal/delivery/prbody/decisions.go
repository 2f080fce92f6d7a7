package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// prDecisions lists decisions and assumptions that agents made for the president. A person must judge them, and a
// diff does not show them.
func prDecisions(task *company.Task, prOptions PROptions) string {
	list := task.Decisions()
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## Decisions and assumptions\n\nMade by agents where the instruction is open:\n")
	limit := max(prOptions.maxRows, 6)
	for i, decision := range list {
		if i == limit {
			fmt.Fprintf(&b, "- %d more are not shown; `company show %s` has all\n", len(list)-limit, task.ID)
			break
		}
		fmt.Fprintf(&b, "- %s (%s)\n", escapeWithin(decision.Text, min(1000, prOptions.maxText)), decision.By)
	}
	return b.String()
}
