package reviewer

import (
	"fmt"
	"strings"

	"company/internal/agentrun"
	"company/internal/company"
	"company/internal/lib/safetext"
)

// maxClaims limits the texts of several tickets in the first message, in bytes.
const maxClaims = 16 << 10

// listClaims returns the text that the authors wrote for the pull request: of one ticket, or of all merged ones for a
// whole task.
func listClaims(task *company.Task, sub *company.Subtask) string {
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
	return safetext.CutBetweenWords(w.String(), maxClaims)
}
