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

// writeDecisions returns the part of the first message with the decisions that agents made for the president so far:
// of the plan, of other tickets, and of earlier runs of this one.
func writeDecisions(task *company.Task) string {
	decisions := agent.QuoteDecisions(task.Decisions())
	if decisions == "" {
		return ""
	}
	return "\n## Decided already\nKeep to it where your ticket leaves something open. In finish, give only decisions of " +
		"this ticket, those of its earlier runs that still hold too.\n" + decisions
}

// writeMinorFindings returns the part of the first message with the minor findings of the last review. The reason of
// the run has the blocking ones. A repair ticket gets those of the review of the whole task.
func writeMinorFindings(task *company.Task, sub *company.Subtask) string {
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
			text := strings.TrimSpace(finding.Where() + " " + finding.What)
			if finding.Why != "" {
				text += " (" + finding.Why + ")"
			}
			fmt.Fprintf(&w, "- %s\n", agent.JoinLines(text))
		}
	}
	if w.Len() == 0 {
		return ""
	}
	return "\n## Minor findings of the last review\nThey block nothing. Mend what your change touches anyway; leave the " +
		"rest. One about your text: give finish the corrected text.\n" +
		agent.Quote("minor_findings", "", safetext.CutBetweenWords(w.String(), maxMinor))
}
