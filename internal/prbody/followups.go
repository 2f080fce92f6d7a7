package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// prFollowUps says, for a task that goes on with a pull request, the earlier
// work for it; the sections below are about this task alone.
func prFollowUps(t *company.Task, o PROptions) string {
	if len(o.EarlierTasks) == 0 {
		return ""
	}
	rows := make([][]string, 0, len(o.EarlierTasks)+1)
	for _, b := range append(o.EarlierTasks[:len(o.EarlierTasks):len(o.EarlierTasks)], t) {
		rows = append(rows, []string{string(b.ID), escapeWithin(company.TitleOf(b.Instruction), 120), b.Head.Short()})
	}
	text := fmt.Sprintf("## Follow-ups\n\n%s\n\nWhat follows is about %s.", strings.TrimSpace(markdownTable(o, []string{"task", "asked", "head"}, rows)), t.ID)
	if asked := strings.TrimSpace(t.Instruction); asked != company.TitleOf(asked) {
		text += "\n\n" + quoteInstruction(t, o)
	}
	return text
}
