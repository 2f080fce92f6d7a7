package prbody

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
)

// prEvidence says how the work was checked: what reviewers name for each acceptance
// criterion. It is a claim of agents'; the gates below are facts.
func prEvidence(t *company.Task, o PROptions) string {
	var rows []string
	for _, sub := range t.Subtasks {
		if sub.Merged != "" {
			rows = append(rows, evidenceOf(t, sub, o)...)
		}
	}
	if r := t.Review.Last; r != nil && t.CarriedFrom() == nil {
		for i := range r.Evidence {
			rows = append(rows, "- The whole: "+o.evidenceText(r, i))
		}
	}
	if rows = dropRepeated(rows); len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## How it was checked\n\nWhat reviewers name for each acceptance criterion:\n")
	most := 2 * o.maxRows
	for i, row := range rows {
		if i == most {
			fmt.Fprintf(&b, "- %d more are not shown; `company show %s` has all\n", len(rows)-most, t.ID)
			break
		}
		b.WriteString(row + "\n")
	}
	return b.String()
}

// dropRepeated drops rows that stand there already: a review names the same for each of its
// criteria.
func dropRepeated(rows []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(rows, func(row string) bool {
		was := seen[row]
		seen[row] = true
		return was
	})
}

// evidenceOf are the criteria of a ticket with what its reviewer names for each. What the
// reviewer of an only ticket says beyond them is of the instruction.
func evidenceOf(t *company.Task, sub *company.Subtask, o PROptions) []string {
	of := ""
	if len(t.Subtasks) > 1 {
		of = string(sub.ID) + ": "
	}
	last := sub.Review.Last
	if sub.Review.Waived != "" && (last == nil || last.Head != sub.Head) || last == nil {
		return nil
	}
	var out []string
	for i, c := range sub.Planned.AcceptanceCriteria {
		line := "- " + of + o.shortenText(c)
		if i < len(last.Evidence) {
			line += " **Shown by:** " + o.evidenceText(last, i)
		} else {
			line += " **Nothing is named for it.**"
		}
		out = append(out, line)
	}
	for i := len(sub.Planned.AcceptanceCriteria); i < len(last.Evidence); i++ {
		out = append(out, "- "+of+"For the instruction: "+o.evidenceText(last, i))
	}
	return out
}

// evidenceText is what a review names, and what of it code has found in its transcript.
func (o PROptions) evidenceText(r *company.ReviewRecorded, i int) string {
	text := o.shortenText(r.Evidence[i])
	if i < len(r.Checked) && r.Checked[i] != "" {
		text += " (seen in its transcript: " + o.shortenText(r.Checked[i]) + ")"
	}
	return text
}

// shortenText makes a text of agents one line that is harmless, of at most 600 bytes.
func (o PROptions) shortenText(s string) string { return escapeWithin(s, min(600, o.maxText)) }
