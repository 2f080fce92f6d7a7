package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// prRefused lists the agents' refused accesses. They had no effect, but a reviewer of the work should know of the
// attempts.
func prRefused(task *company.Task, prOptions PROptions) string {
	runs := task.Refused()
	if len(runs) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## Refused accesses\n\nWhat agents reached for and did not get (`company show %s` says more):\n\n",
		task.ID)
	limit := max(prOptions.maxRows, 4) // few rows, and all are important for the reader
	for i, run := range runs {
		if i == limit {
			fmt.Fprintf(&b, "- %d more runs\n", len(runs)-limit)
			break
		}
		var kinds []string
		for _, x := range run.RefusedAccesses {
			kinds = append(kinds, x.Kind+" "+x.Often())
		}
		fmt.Fprintf(&b, "- %s: %s\n", run.ID, strings.Join(kinds, ", "))
	}
	return b.String()
}
