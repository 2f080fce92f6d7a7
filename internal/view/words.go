package view

import (
	"fmt"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/screen"
)

// Style is how a stream shows text.
type Style = screen.Style

// StateText is how a task stands, for people.
func (v Task) StateText() string {
	switch {
	case v.Status == company.StatusCompleted && v.DryRun:
		return "planned only"
	case v.Status == company.StatusCompleted && v.UntestedWhy != "":
		return "done, UNTESTED"
	case v.Status == company.StatusCompleted && len(v.Unverified) > 0:
		return "done, UNVERIFIED"
	case v.Ended == nil && v.Paused:
		return "paused"
	case v.Status == company.StatusWaiting:
		return v.WaitsText()
	}
	return v.Status.Text()
}

// StateColor is the colour of a task's state.
func (v Task) StateColor() string {
	switch v.StateText() {
	case "done":
		return screen.Green
	case "failed":
		return screen.Red
	case "needs you":
		return screen.Bright
	case "paused", "resting", "done, UNTESTED", "done, UNVERIFIED":
		return screen.Yellow
	}
	return ""
}

// Title is what a task is about, in a line.
func (v Task) Title() string { return safetext.EscapeLine(company.TitleOf(v.Instruction), 100) }

// DoneText is how many subtasks of a task are merged.
func (v Task) DoneText() string {
	if v.Subtasks == 0 || v.DryRun {
		return "-"
	}
	return fmt.Sprintf("%d/%d", v.Merged, v.Subtasks)
}

// PullText is the pull request of a task in a column.
func (v Task) PullText() string {
	if v.PR == nil {
		return "-"
	}
	return fmt.Sprintf("#%d %s", v.PR.Number, v.PR.State)
}

// ProgressText is how far a task is, in a phrase.
func (p Progress) ProgressText(now time.Time) string {
	parts := []string{p.StateText()}
	if p.Subtasks > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s merged", p.Merged, company.Count(p.Subtasks, "subtask")))
	}
	if cost := ShortCost(p.CostMicroUSD, p.Tokens); cost != "-" {
		parts = append(parts, cost)
	}
	return strings.Join(append(parts, screen.FormatAge(now.Sub(p.Submitted))), ", ")
}

// StateText is how a subtask stands, for people.
func (v Subtask) StateText() string {
	if v.Paused {
		return "paused"
	}
	if v.Question != "" {
		return "needs you"
	}
	return map[company.SubtaskStatus]string{
		company.SubtaskPending: "waiting", company.SubtaskAssigned: "queued", company.SubtaskRunning: "working", company.SubtaskInGate: "in the gates",
		company.SubtaskReviewing: "in review", company.SubtaskMerging: "merging", company.SubtaskCompleted: "merged", company.SubtaskFailed: "failed",
		company.SubtaskBlocked: "stuck", company.SubtaskCancelled: "cancelled",
	}[v.Status]
}

func (v Subtask) StateColor() string {
	if v.Paused {
		return screen.Yellow
	}
	if v.Question != "" {
		return screen.Bright
	}
	switch v.Status {
	case company.SubtaskCompleted:
		return screen.Green
	case company.SubtaskFailed:
		return screen.Red
	case company.SubtaskBlocked:
		return screen.Bright
	}
	return ""
}

// StateText is how a run stands, for people.
func (v Run) StateText() string {
	switch v.Status {
	case "offered":
		return "queued"
	case "running":
		return "working"
	case string(company.RunSuccess):
		return "done"
	case string(company.RunPartial):
		return "out of turns"
	case string(company.RunQualityFailed):
		return "gates red"
	case string(company.RunError):
		return "failed"
	}
	return v.Status
}

// writeWrapped writes a text behind a head, with what does not fit into the line
// below it.
func writeWrapped(b *strings.Builder, s Style, head, text string) {
	b.WriteString(head + s.Wrap(text, strings.Repeat(" ", screen.Cells(head))) + "\n")
}
