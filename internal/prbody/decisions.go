package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// prDecisions are what agents decided or assumed in the president's place: what a person
// has to judge, and a diff does not show.
func prDecisions(t *company.Task, o PROptions) string {
	list := t.Decisions()
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## Decisions and assumptions\n\nMade by agents where the instruction is open:\n")
	most := max(o.maxRows, 6)
	for i, d := range list {
		if i == most {
			fmt.Fprintf(&b, "- %d more are not shown; `company show %s` has all\n", len(list)-most, t.ID)
			break
		}
		fmt.Fprintf(&b, "- %s (%s)\n", escapeWithin(d.Text, min(1000, o.maxText)), d.By)
	}
	return b.String()
}
