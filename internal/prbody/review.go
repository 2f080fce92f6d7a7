package prbody

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
)

// prReview guides the reader: the company's own review, and the files with most
// changes.
func prReview(t *company.Task, o PROptions) string {
	var b strings.Builder
	b.WriteString("## Review guide\n\n")
	if r := t.Review.Last; r != nil {
		fmt.Fprintf(&b, "The company's reviewer said: %s of %s.\n", escapeMarkdown(r.Verdict), r.Head.Short())
		if sub := t.CarriedFrom(); sub != nil {
			fmt.Fprintf(&b, "That is the review of %s, the only ticket, by the instruction too; merged, it is the same tree.\n", sub.ID)
		}
		if t.Review.Waived == t.Head {
			b.WriteString("Waived by the president.\n")
		}
	} else if t.IsReviewedInParts() {
		b.WriteString("Each ticket was approved by its parts of the instruction. They have all parts between them and do not touch each other, so that no review of the whole followed.\n")
	} else {
		b.WriteString("The whole was not reviewed.\n")
	}
	if files := readingOrder(t); len(files) > 0 {
		fmt.Fprintf(&b, "%s changed, in the order to read: %s.\n", countVerb(len(files), "file", "is", "are"), joinCode(files, o))
	}
	return b.String()
}

// ChangedPaths are the paths that the merged subtasks changed, each once, in the
// order of the subtasks.
func ChangedPaths(t *company.Task) []string {
	var out []string
	for _, s := range t.Subtasks {
		for _, c := range s.Changes {
			if s.Merged != "" && !slices.Contains(out, c.Path) {
				out = append(out, c.Path)
			}
		}
	}
	return out
}
