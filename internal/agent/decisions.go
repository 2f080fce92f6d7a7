package agent

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// maxDecisions limits the decisions in a prompt, in bytes.
const maxDecisions = 6 << 10

// quoteDecisions quotes the decisions of a task, in order, with their authors. It returns "" if there are none.
func quoteDecisions(decisions []company.Decision) string {
	var w strings.Builder
	for i, decision := range decisions {
		line := fmt.Sprintf("- %s (%s)\n", JoinLines(decision.Text), decision.By)
		if w.Len()+len(line) > maxDecisions {
			fmt.Fprintf(&w, "and %d more\n", len(decisions)-i)
			break
		}
		w.WriteString(line)
	}
	if w.Len() == 0 {
		return ""
	}
	return Quote("decisions", "", w.String())
}
