package reviewer

import (
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// maxCriterion limits a criterion that the instruction lists, in bytes.
const maxCriterion = 400

// wholeCriterion is the last criterion of each review that also judges the instruction.
const wholeCriterion = "the instruction is carried out"

// reviewCriteria returns the criteria that need evidence. These are the ticket's own. A review that also judges the
// instruction adds the criteria that the instruction lists, and wholeCriterion.
func reviewCriteria(task *company.Task, sub *company.Subtask) []string {
	var out []string
	if sub != nil {
		out = slices.Clone(sub.Planned.AcceptanceCriteria)
		if !task.JudgesWhole() && !sub.Planned.IsInstruction() {
			return out
		}
	}
	own := len(out)
	for _, criterion := range task.Criteria() {
		if !isCovered(criterion, out[:own]) {
			out = append(out, safetext.CutBetweenWords(criterion, maxCriterion))
		}
	}
	return append(out, wholeCriterion)
}

// isCovered reports whether one of the ticket's own criteria contains a criterion of the instruction literally.
// Evidence for it is requested only once.
func isCovered(criterion string, own []string) bool {
	names := " " + strings.Join(splitBare(criterion), " ") + " "
	return strings.TrimSpace(names) != "" && slices.ContainsFunc(own, func(other string) bool {
		return strings.Contains(" "+strings.Join(splitBare(other), " ")+" ", names)
	})
}

// splitBare splits a text at spaces and removes surrounding punctuation.
func splitBare(text string) []string {
	var out []string
	for _, n := range strings.Fields(strings.ToLower(text)) {
		if n = strings.Trim(n, ".,;:!?()\"'`"); n != "" {
			out = append(out, n)
		}
	}
	return out
}
