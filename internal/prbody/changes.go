package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// mostSummaries is how many summaries of one subtask are shown: of the first run and of
// the newest ones.
const mostSummaries = 3

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
	return fmt.Sprintf(" (%s, %s)", sub.Merged.Short(), countNoun(sub.Started, "attempt"))
}

// summariesOf are the summaries of a subtask's runs, in order. One that only says again
// what another says is left out.
func summariesOf(t *company.Task, sub *company.Subtask, o PROptions) string {
	var list []*company.Run
	for _, r := range t.SummedUp(sub.ID) {
		text := strings.TrimSpace(r.Summary)
		if text != "" && strings.Join(strings.Fields(text), " ") != sub.Planned.Title && (len(list) == 0 || list[len(list)-1].Summary != r.Summary) {
			list = append(list, r)
		}
	}
	var b strings.Builder
	for i, r := range list {
		most := min(o.maxText, 3000)
		switch left := len(list) - mostSummaries; {
		case left > 0 && i > 0 && i <= left:
			if i == 1 {
				fmt.Fprintf(&b, "\nThen %s of which the summary is not shown.\n", countNoun(left, "attempt"))
			}
			continue
		case r.Role == company.Merger:
			b.WriteString("\nThen, where it conflicted:\n")
		case i > 0:
			b.WriteString("\nThen, sent back:\n")
		}
		fmt.Fprintf(&b, "\n%s\n", quoteText(r.Summary, most, t.ID))
	}
	return b.String()
}
