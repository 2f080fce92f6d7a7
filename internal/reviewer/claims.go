package reviewer

import (
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/agentrun"
	"company/internal/company"
	"company/internal/lib/safetext"
)

// maxClaims limits the texts of several tickets in the first message, in bytes.
const maxClaims = 16 << 10

// judgeClaims tells the reviewer how to judge the text of the pull request. A false sentence alone does not block,
// since no commit mends it: the pull request shows it beside the finding.
const judgeClaims = "Nobody else checks this text. A false sentence in it, or a repair, a risk or a decision that it " +
	"leaves out, is a minor finding without a file. Work of the ticket that it claims and the diff lacks is blocking."

// writeClaims returns the part of the first message with the text that the authors wrote for the pull request: of one
// ticket, or of all merged ones for a whole task. It includes the decisions that agents made for the president.
func writeClaims(task *company.Task, sub *company.Subtask) string {
	var w strings.Builder
	for _, subtask := range task.Subtasks {
		isSubject := sub != nil && subtask.ID == sub.ID && !sub.Unchanged // that summary stands in place of the diff
		if !isSubject && (sub != nil || subtask.Merged == "") {
			continue
		}
		run := task.LastHandedIn(subtask.ID)
		if run == nil {
			continue
		}
		if sub == nil {
			fmt.Fprintf(&w, "%s\n", subtask.ID)
		}
		for _, part := range []struct{ name, text string }{
			{"Problem", run.Problem}, {"Change", run.Summary}, {"Risks", run.Risks},
		} {
			if text := strings.TrimSpace(part.text); text != "" {
				fmt.Fprintf(&w, "%s: %s\n", part.name, agentrun.CutSummary(text))
			}
		}
	}
	claims := safetext.CutBetweenWords(w.String(), maxClaims)
	decisions := agent.QuoteDecisions(task.Decisions())
	if claims == "" && decisions == "" {
		return ""
	}
	out := "\n## What the pull request will say\n" + judgeClaims + "\n"
	if claims != "" {
		out += agent.Quote("pull_request", "", claims)
	}
	if decisions != "" {
		out += "Decided in the president's place (does each fit the instruction and the diff?):\n" + decisions
	}
	return out
}
