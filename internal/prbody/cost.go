package prbody

import (
	"fmt"

	"company/internal/company"
)

// prCost is what the work took.
func prCost(t *company.Task, _ PROptions) string {
	var runs, turns int
	for _, r := range t.Runs {
		runs++
		turns += r.Turns
	}
	return fmt.Sprintf("## Cost\n\n%s in %d runs and %d turns.\n", t.Spent, runs, turns)
}
