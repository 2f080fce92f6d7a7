package evidence

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// prRefused is what the agents reached for and did not get. It did not happen;
// who reviews the work of one that tried should know.
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
