package prbody

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
)

// prFindings lists the remaining findings of approving reviews and of a review that the president waived. Of earlier
// reviews it adds findings about the current head, confirmed minor ones, since no author is asked to fix those, and
// rejected ones. Mended ones follow with their commits. It counts the others (REV-4).
func prFindings(task *company.Task, prOptions PROptions) string {
	var rows, mended []string
	confirmed, open := 0, 0
	add := func(of string, reviewState company.ReviewState, head, merged company.OID) {
		for index, finding := range reviewState.Findings() {
			row := "- " + string(finding.Severity) + ", " + finding.Status + of + ": " +
				describeFinding(finding.Finding, prOptions)
			switch {
			case index >= len(reviewState.Past): // of the newest review
				if finding.Basis != "" {
					row += " The second reviewer: " + prOptions.shortenText(finding.Basis)
				}
				rows = append(rows, row)
			case finding.Status == company.FindingMended:
				commit := finding.Mended
				if merged != "" && !task.Settings.KeepsHistory() { // the ticket is one commit
					commit = merged
				}
				place := ""
				if at := finding.Where(); at != "" {
					place = codeSpan(at) + " "
				}
				mended = append(mended, "- "+string(finding.Severity)+of+": "+place+
					endLine(prOptions.shortenText(finding.What))+" Mended in "+commit.Short()+".")
			case finding.Status == company.FindingRejected:
				rows = append(rows, row+" The next review: "+prOptions.shortenText(finding.Basis))
			case isListedAgain(finding.Finding, reviewState.Last):
				confirmed++
			case finding.Head != "" && finding.Head == head:
				if finding.Basis != "" {
					row += " The reviewer after it: " + prOptions.shortenText(finding.Basis)
				}
				rows = append(rows, row)
			case finding.Status == company.FindingConfirmed && finding.Severity == company.Minor:
				rows = append(rows, row+" It is of an earlier head, and may be mended.")
			case finding.Status == company.FindingConfirmed:
				confirmed++
			default:
				open++
			}
		}
	}
	for _, sub := range task.Subtasks {
		if sub.Merged != "" {
			add(" ("+string(sub.ID)+")", sub.Review, sub.Head, sub.Merged)
		}
	}
	if task.CarriedFrom() == nil {
		add("", task.Review, task.Head, "")
	}
	if len(rows)+len(mended)+confirmed+open == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## Findings left\n\n")
	if len(rows) == 0 {
		b.WriteString("None.\n")
	}
	limit := max(prOptions.maxRows, 4)
	list := func(rows []string) {
		for i, row := range rows {
			if i == limit {
				fmt.Fprintf(&b, "- %d more findings are not shown; `company show %s` has all\n", len(rows)-limit, task.ID)
				break
			}
			b.WriteString(row + "\n")
		}
	}
	list(rows)
	if len(mended) > 0 {
		b.WriteString("\nFound in review and mended before this pull request:\n")
		list(mended)
	}
	if confirmed+open > 0 {
		fmt.Fprintf(&b, "\nOf earlier reviews: %s confirmed by the next one, %d unverified.\n",
			company.Count(confirmed, "finding"), open)
	}
	return b.String()
}

// isListedAgain reports whether the newest review has the same finding, with the same file and text.
func isListedAgain(finding company.Finding, last *company.ReviewRecorded) bool {
	return last != nil && slices.ContainsFunc(
		last.Findings, func(other company.Finding) bool { return other.File == finding.File && other.What == finding.What })
}

// describeFinding formats a finding with its place, its reason and its suggestion.
func describeFinding(finding company.Finding, prOptions PROptions) string {
	out := ""
	if at := finding.Where(); at != "" {
		out = codeSpan(at) + " "
	}
	out += prOptions.shortenText(finding.What)
	if finding.Why != "" {
		out += " (" + prOptions.shortenText(finding.Why) + ")"
	}
	if finding.Suggestion != "" {
		out += " Suggestion: " + prOptions.shortenText(finding.Suggestion)
	}
	return out
}
