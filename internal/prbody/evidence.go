package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// prEvidence is what the reviewer says shows each acceptance criterion. It is a
// claim of an agent's; the gates below are facts.
func prEvidence(t *company.Task, o PROptions) string {
	r := t.Review.Last
	if r == nil || len(r.Evidence) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## Evidence\n\nWhat the reviewer names for each acceptance criterion:\n")
	for i, e := range r.Evidence {
		if i == o.maxRows {
			fmt.Fprintf(&b, "- %d more are not shown\n", len(r.Evidence)-o.maxRows)
			break
		}
		fmt.Fprintf(&b, "- %s\n", escapeWithin(e, 300))
		if i < len(r.Checked) && r.Checked[i] != "" {
			fmt.Fprintf(&b, "  (seen in its transcript: %s)\n", escapeWithin(r.Checked[i], 300))
		}
	}
	return b.String()
}
