package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// prRefused lists the agents' refused accesses. They did not happen; a reviewer
// of the work should know of the attempt.
func prRefused(t *company.Task, o PROptions) string {
	runs := t.Refused()
	if len(runs) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## Refused accesses\n\nWhat agents reached for and did not get (`company show %s` says more):\n\n", t.ID)
	most := max(o.maxRows, 4) // few, and what a reader must see
	for i, r := range runs {
		if i == most {
			fmt.Fprintf(&b, "- %d more runs\n", len(runs)-most)
			break
		}
		var kinds []string
		for _, x := range r.RefusedAccesses {
			kinds = append(kinds, x.Kind+" "+x.Often())
		}
		fmt.Fprintf(&b, "- %s: %s\n", r.ID, strings.Join(kinds, ", "))
	}
	return b.String()
}
