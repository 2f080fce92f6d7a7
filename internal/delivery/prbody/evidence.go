package prbody

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
)

// prEvidence lists the evidence that reviewers name for each acceptance criterion. It is a claim of agents; the gates
// below are facts.
func prEvidence(task *company.Task, prOptions PROptions) string {
	var rows []string
	for _, sub := range task.Subtasks {
		if sub.Merged != "" {
			rows = append(rows, evidenceOf(task, sub, prOptions)...)
		}
	}
	if recorded := task.Review.Last; recorded != nil && task.CarriedFrom() == nil {
		for i := range recorded.Evidence {
			rows = append(rows, "- The whole: "+prOptions.evidenceText(recorded, i))
		}
	}
	if rows = dropRepeated(rows); len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## How it was checked\n\nWhat reviewers name for each acceptance criterion:\n")
	limit := 2 * prOptions.maxRows
	for i, row := range rows {
		if i == limit {
			fmt.Fprintf(&b, "- %d more are not shown; `company show %s` has all\n", len(rows)-limit, task.ID)
			break
		}
		b.WriteString(row + "\n")
	}
	return b.String()
}

// dropRepeated removes duplicate rows, because a review may name the same evidence for several criteria.
func dropRepeated(rows []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(rows, func(row string) bool {
		was := seen[row]
		seen[row] = true
		return was
	})
}

// evidenceOf lists the criteria of a ticket with its reviewer's evidence. Additional evidence refers to the
// instruction.
func evidenceOf(task *company.Task, sub *company.Subtask, prOptions PROptions) []string {
	of := ""
	if len(task.Subtasks) > 1 {
		of = string(sub.ID) + ": "
	}
	last := sub.Review.Last
	if sub.Review.Waived != "" && (last == nil || last.Head != sub.Head) || last == nil {
		return nil
	}
	var out []string
	for i, c := range sub.Planned.AcceptanceCriteria {
		line := "- " + of + prOptions.shortenText(c)
		if i < len(last.Evidence) {
			line += " **Shown by:** " + prOptions.evidenceText(last, i)
		} else {
			line += " **Nothing is named for it.**"
		}
		out = append(out, line)
	}
	for i := len(sub.Planned.AcceptanceCriteria); i < len(last.Evidence); i++ {
		out = append(out, "- "+of+"For the instruction: "+prOptions.evidenceText(last, i))
	}
	return out
}

// evidenceText returns a review's evidence and the part of it that code found in the transcript.
func (o PROptions) evidenceText(recorded *company.ReviewRecorded, i int) string {
	text := o.shortenText(recorded.Evidence[i])
	if i < len(recorded.Checked) && recorded.Checked[i] != "" {
		text += " (seen in its transcript: " + o.shortenText(recorded.Checked[i]) + ")"
	}
	return text
}

// shortenText returns text of agents as one harmless line of at most 600 bytes.
func (o PROptions) shortenText(s string) string { return escapeWithin(s, min(600, o.maxText)) }
