package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// prCost returns the cost of the work by role.
func prCost(task *company.Task, _ PROptions) string {
	type share struct {
		spent       company.Amount
		runs, turns int
	}
	var whole share
	by := map[company.Role]share{}
	for _, run := range task.Runs {
		s := by[run.Role]
		s.spent = s.spent.Add(run.Spent)
		s.runs++
		s.turns += run.Turns
		by[run.Role] = s
		whole.runs, whole.turns = whole.runs+1, whole.turns+run.Turns
	}
	text := fmt.Sprintf("## Cost\n\n%s in %s and %s.", task.Spent, countNoun(whole.runs, "run"),
		countNoun(whole.turns, "turn"))
	var parts []string
	for _, role := range []company.Role{company.Manager, company.Worker, company.Reviewer, company.Merger} {
		if s := by[role]; s.runs > 0 {
			spent := ""
			if s.spent != (company.Amount{}) {
				spent = " " + s.spent.String()
			}
			parts = append(
				parts, fmt.Sprintf("%s%s (%s, %s)", role, spent, countNoun(s.runs, "run"), countNoun(s.turns, "turn")))
		}
	}
	if len(parts) > 1 {
		text += " Of that: " + strings.Join(parts, "; ") + "."
	}
	return text + "\n"
}
