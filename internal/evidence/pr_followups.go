package evidence

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// prFollowUps says, for a task that goes on with a pull request, what was done
// for it before; the sections below are about this task alone.
func prFollowUps(t *company.Task, o PROptions) string {
	if len(o.Before) == 0 {
		return ""
	}
	rows := make([][]string, 0, len(o.Before)+1)
	for _, b := range append(o.Before[:len(o.Before):len(o.Before)], t) {
		rows = append(rows, []string{string(b.ID), clip(inert(company.TitleOf(b.Instruction)), 120), b.Head.Short()})
	}
	return fmt.Sprintf("## Follow-ups\n\n%s\n\nWhat follows is about %s.", strings.TrimSpace(table(o, []string{"task", "asked", "head"}, rows)), t.ID)
}
