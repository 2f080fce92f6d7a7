package worker

import (
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/lib/safetext"
)

// maxMinor limits the minor findings in a first message, in bytes.
const maxMinor = 4 << 10

// listMinorFindings lists the minor findings of the last review. The reason of the run has the blocking ones. A repair
// ticket gets those of the review of the whole task.
func listMinorFindings(task *company.Task, sub *company.Subtask) string {
	last := sub.Review.Last
	if whole := task.Review.Last; last == nil && whole != nil && sub.Wave == task.Plan.Waves &&
		whole.Verdict == company.RequestChanges {
		last = whole
	}
	if last == nil {
		return ""
	}
	var w strings.Builder
	for _, finding := range last.Findings {
		if finding.Severity == company.Minor {
			fmt.Fprintf(&w, "- %s\n", agent.FormatFinding(finding))
		}
	}
	return safetext.CutBetweenWords(w.String(), maxMinor)
}
