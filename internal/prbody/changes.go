package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// prChanges is what the workers say that they did: a claim of theirs.
func prChanges(t *company.Task, o PROptions) string {
	var b strings.Builder
	for i, sub := range t.Subtasks {
		if i == o.maxRows {
			fmt.Fprintf(&b, "\n%d more subtasks are not shown.\n", len(t.Subtasks)-i)
			break
		}
		title := sub.Planned.Title
		if sub.Planned.IsInstruction() {
			title = t.PullTitle()
		}
		fmt.Fprintf(&b, "\n**%s** %s%s\n", sub.ID, escapeWithin(title, 200), mergedAs(t, sub))
		b.WriteString(summariesOf(t, sub, o))
	}
	if b.Len() == 0 {
		return ""
	}
	return "## What changed\n" + b.String()
}

// mergedAs tells what became of a task's only subtask; several have a table.
func mergedAs(t *company.Task, sub *company.Subtask) string {
	switch {
	case len(t.Subtasks) > 1 && sub.Merged != "":
		return ""
	case sub.Merged == "":
		return fmt.Sprintf(" (not merged: %s)", sub.Status)
	}
	return fmt.Sprintf(" (%s)", sub.Merged.Short())
}

// summariesOf is the summary of a ticket by its worker, and the deed of others where it
// conflicted. Each finish replaces the one before it.
func summariesOf(t *company.Task, sub *company.Subtask, o PROptions) string {
	most := min(o.maxText, 3000)
	var b strings.Builder
	if r := lastHandedIn(t, sub); r != nil {
		for _, part := range []struct{ head, text string }{{"Problem:", r.Problem}, {"", r.Summary}, {"Risks:", r.Risks}} {
			if text := strings.TrimSpace(part.text); text != "" && strings.Join(strings.Fields(text), " ") != sub.Planned.Title {
				if part.head != "" {
					b.WriteString("\n" + part.head + "\n")
				}
				fmt.Fprintf(&b, "\n%s\n", quoteText(text, most, t.ID))
			}
		}
	}
	var merger string
	for _, r := range t.SummedUp(sub.ID) {
		if r.Role == company.Merger && strings.TrimSpace(r.Summary) != "" {
			merger = r.Summary
		}
	}
	if merger != "" {
		fmt.Fprintf(&b, "\nWhere it conflicted:\n\n%s\n", quoteText(merger, most, t.ID))
	}
	return b.String()
}
