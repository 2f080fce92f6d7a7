package prbody

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
)

// prReview guides the reader: the company's own review, and the changed files in reading order.
func prReview(task *company.Task, prOptions PROptions) string {
	var b strings.Builder
	b.WriteString("## Review guide\n\n")
	if r := task.Review.Last; r != nil {
		fmt.Fprintf(&b, "The company's reviewer said: %s of %s.\n", escapeMarkdown(r.Verdict), r.Head.Short())
		if sub := task.CarriedFrom(); sub != nil {
			fmt.Fprintf(&b, "That is the review of %s, the only ticket, by the instruction too; merged, it is the same tree.\n",
				sub.ID)
		}
		if task.Review.Waived == task.Head {
			b.WriteString("Waived by the president.\n")
		}
	} else {
		b.WriteString("The whole was not reviewed.\n")
	}
	if files := readingOrder(task); len(files) > 0 {
		fmt.Fprintf(&b, "%s changed, in the order to read: %s.\n", countVerb(len(files), "file", "is", "are"),
			joinCode(files, prOptions))
	}
	return b.String()
}

// ChangedPaths returns the distinct paths that the merged subtasks changed, in the order of the subtasks.
func ChangedPaths(task *company.Task) []string {
	var out []string
	for _, subtask := range task.Subtasks {
		for _, change := range subtask.Changes {
			if subtask.Merged != "" && !slices.Contains(out, change.Path) {
				out = append(out, change.Path)
			}
		}
	}
	return out
}
