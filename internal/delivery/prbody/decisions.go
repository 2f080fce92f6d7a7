package prbody

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"company/internal/company"
)

// areTold reports whether all decisions of a task stand whole above the fold in the given size.
func areTold(list []company.Decision, size openSize) bool {
	room := size.decided
	for _, decision := range list {
		room -= utf8.RuneCountInString(flattenText(decision.Text))
	}
	return room >= 0
}

// tellDecisions returns the sentence about the decisions that agents made for the president: all of them, or how many
// stand below. A decision stands in one of the two places.
func tellDecisions(task *company.Task, size openSize) string {
	list := task.Decisions()
	count := "1 decision was made for you"
	if len(list) > 1 {
		count = fmt.Sprintf("%d decisions were made for you", len(list))
	}
	switch {
	case len(list) == 0:
		return ""
	case !areTold(list, size):
		return count + ", below."
	case len(list) == 1:
		return count + ": " + endLine(keepPlain(list[0].Text))
	}
	text := count + ":"
	for i, decision := range list {
		text += fmt.Sprintf(" (%d) %s", i+1, endLine(keepPlain(decision.Text)))
	}
	return text
}

// prDecisions lists decisions and assumptions that agents made for the president, unless they stand above the fold. A
// person must judge them, and a diff does not show them.
func prDecisions(task *company.Task, prOptions PROptions) string {
	list := task.Decisions()
	if len(list) == 0 || areTold(list, prOptions.size) {
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
