package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// prFollowUps lists the earlier tasks of the same pull request, if there are any. The sections below it are only
// about this task.
func prFollowUps(task *company.Task, prOptions PROptions) string {
	if len(prOptions.EarlierTasks) == 0 {
		return ""
	}
	rows := make([][]string, 0, len(prOptions.EarlierTasks)+1)
	for _, b := range append(prOptions.EarlierTasks[:len(prOptions.EarlierTasks):len(prOptions.EarlierTasks)], task) {
		rows = append(rows, []string{string(b.ID), escapeWithin(company.TitleOf(b.Instruction), 120), b.Head.Short()})
	}
	text := fmt.Sprintf("## Follow-ups\n\n%s\n\nWhat follows is about %s.",
		strings.TrimSpace(markdownTable(prOptions, []string{"task", "asked", "head"}, rows)), task.ID)
	if asked := strings.TrimSpace(task.Instruction); asked != company.TitleOf(asked) {
		text += "\n\n" + quoteInstruction(task, prOptions)
	}
	return text
}
