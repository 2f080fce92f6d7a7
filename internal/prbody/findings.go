package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// prFindings are the findings that were left: those of reviews that approved, and those of
// a review that the president waived.
func prFindings(t *company.Task, o PROptions) string {
	var rows []string
	add := func(of string, r *company.ReviewRecorded) {
		if r == nil {
			return
		}
		for _, f := range r.Findings {
			rows = append(rows, "- "+string(f.Severity)+of+": "+describeFinding(f, o))
		}
	}
	for _, sub := range t.Subtasks {
		if sub.Merged != "" {
			add(" ("+string(sub.ID)+")", sub.Review.Last)
		}
	}
	if t.CarriedFrom() == nil {
		add("", t.Review.Last)
	}
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## Findings left\n\n")
	most := max(o.maxRows, 4)
	for i, row := range rows {
		if i == most {
			fmt.Fprintf(&b, "- %d more findings are not shown; `company show %s` has all\n", len(rows)-most, t.ID)
			break
		}
		b.WriteString(row + "\n")
	}
	return b.String()
}

// describeFinding is a finding with its place, its reason and its suggestion.
func describeFinding(f company.Finding, o PROptions) string {
	out := ""
	if at := f.Where(); at != "" {
		out = codeSpan(at) + " "
	}
	out += o.shortenText(f.What)
	if f.Why != "" {
		out += " (" + o.shortenText(f.Why) + ")"
	}
	if f.Suggestion != "" {
		out += " Suggestion: " + o.shortenText(f.Suggestion)
	}
	return out
}
