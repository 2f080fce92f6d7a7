package prbody

import (
	"fmt"
	"strings"

	"company/internal/company"
)

// prChanges returns the workers' descriptions of their changes. These are unverified claims.
func prChanges(task *company.Task, prOptions PROptions) string {
	var b strings.Builder
	for i, sub := range task.Subtasks {
		if i == prOptions.maxRows {
			fmt.Fprintf(&b, "\n%d more subtasks are not shown.\n", len(task.Subtasks)-i)
			break
		}
		title := sub.Planned.Title
		if sub.Planned.IsInstruction() {
			title = task.PullTitle()
		}
		fmt.Fprintf(&b, "\n**%s** %s%s\n", sub.ID, escapeWithin(title, 200), mergedAs(task, sub))
		b.WriteString(summariesOf(task, sub, prOptions))
	}
	if b.Len() == 0 {
		return ""
	}
	return "## What changed\n" + b.String()
}

// mergedAs returns the status of a task's only subtask. Several subtasks are listed in a table.
func mergedAs(task *company.Task, sub *company.Subtask) string {
	switch {
	case len(task.Subtasks) > 1 && sub.Merged != "":
		return ""
	case sub.Merged == "":
		return fmt.Sprintf(" (not merged: %s)", sub.Status)
	}
	return fmt.Sprintf(" (%s)", sub.Merged.Short())
}

// summariesOf returns the worker's summary of a ticket, and the merger's if it conflicted. Each later summary
// replaces the earlier ones.
func summariesOf(task *company.Task, sub *company.Subtask, o PROptions) string {
	limit := min(o.maxText, 3000)
	var b strings.Builder
	if r := task.LastHandedIn(sub.ID); r != nil {
		isAbove := len(task.Subtasks) == 1 && sub.Merged != "" // of one ticket, the texts stand above the fold
		for _, part := range []struct {
			head, text string
			limit      int
		}{{"Problem:", r.Problem, maxProblem}, {"", r.Summary, maxChange}, {"Risks:", r.Risks, maxRisks}} {
			if _, isWhole := fitBlocks(part.text, part.limit); isAbove && isWhole {
				continue
			}
			if text := strings.TrimSpace(part.text); text != "" && strings.Join(strings.Fields(text), " ") != sub.Planned.Title {
				if part.head != "" {
					b.WriteString("\n" + part.head + "\n")
				}
				fmt.Fprintf(&b, "\n%s\n", quoteText(text, limit, task.ID))
			}
		}
	}
	var merger string
	for _, run := range task.SummedUp(sub.ID) {
		if run.Role == company.Merger && strings.TrimSpace(run.Summary) != "" {
			merger = run.Summary
		}
	}
	if merger != "" {
		fmt.Fprintf(&b, "\nWhere it conflicted:\n\n%s\n", quoteText(merger, limit, task.ID))
	}
	return b.String()
}
