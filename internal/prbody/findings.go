package prbody

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
)

// prFindings lists the findings that were left: of reviews that approved, and of a review that
// the president waived. Of earlier reviews it adds findings that are about the very head, minor ones that were
// confirmed, since no author is asked to mend those, and rejected ones; it counts the others (REV-4).
func prFindings(t *company.Task, o PROptions) string {
	var rows []string
	confirmed, open := 0, 0
	add := func(of string, r company.ReviewState, head company.OID) {
		for at, f := range r.Findings() {
			row := "- " + string(f.Severity) + ", " + f.Status + of + ": " + describeFinding(f.Finding, o)
			switch {
			case at >= len(r.Past): // of the newest review
				if f.Basis != "" {
					row += " The second reviewer: " + o.shortenText(f.Basis)
				}
				rows = append(rows, row)
			case f.Status == company.FindingRejected:
				rows = append(rows, row+" The next review: "+o.shortenText(f.Basis))
			case isListedAgain(f.Finding, r.Last):
				confirmed++
			case f.Head != "" && f.Head == head:
				if f.Basis != "" {
					row += " The reviewer after it: " + o.shortenText(f.Basis)
				}
				rows = append(rows, row)
			case f.Status == company.FindingConfirmed && f.Severity == company.Minor:
				rows = append(rows, row+" It is of an earlier head, and may be mended.")
			case f.Status == company.FindingConfirmed:
				confirmed++
			default:
				open++
			}
		}
	}
	for _, sub := range t.Subtasks {
		if sub.Merged != "" {
			add(" ("+string(sub.ID)+")", sub.Review, sub.Head)
		}
	}
	if t.CarriedFrom() == nil {
		add("", t.Review, t.Head)
	}
	if len(rows)+confirmed+open == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## Findings left\n\n")
	if len(rows) == 0 {
		b.WriteString("None.\n")
	}
	most := max(o.maxRows, 4)
	for i, row := range rows {
		if i == most {
			fmt.Fprintf(&b, "- %d more findings are not shown; `company show %s` has all\n", len(rows)-most, t.ID)
			break
		}
		b.WriteString(row + "\n")
	}
	if confirmed+open > 0 {
		fmt.Fprintf(&b, "\nOf earlier reviews: %s confirmed by the next one, %d unverified.\n", company.Count(confirmed, "finding"), open)
	}
	return b.String()
}

// isListedAgain says whether the newest review has a finding again, with the same file and text.
func isListedAgain(f company.Finding, last *company.ReviewRecorded) bool {
	return last != nil && slices.ContainsFunc(last.Findings, func(other company.Finding) bool { return other.File == f.File && other.What == f.What })
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
