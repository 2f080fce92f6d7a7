package view

import (
	"fmt"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/termtext"
)

// Style is the way in which a stream shows text.
type Style = termtext.Style

// StateText returns the state of a task for display.
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
	case v.Resting:
		return "resting"
	case v.Status == company.StatusWaiting:
		return v.WaitsText()
	}
	return v.Status.Text()
}

// StateColor returns the colour of a task's state.
func (v Task) StateColor() string {
	switch v.StateText() {
	case "done":
		return termtext.Green
	case "failed":
		return termtext.Red
	case "needs you":
		return termtext.Bright
	case "paused", "queued", "resting", "done, UNTESTED", "done, UNVERIFIED":
		return termtext.Yellow
	}
	return ""
}

// Title returns the title of a task in one line.
func (v Task) Title() string { return safetext.EscapeLine(company.TitleOf(v.Instruction), 100) }

// DoneText returns how many subtasks of a task are merged.
func (v Task) DoneText() string {
	if v.Subtasks == 0 || v.DryRun {
		return "-"
	}
	return fmt.Sprintf("%d/%d", v.Merged, v.Subtasks)
}

// PullText returns the pull request of a task for a column.
func (v Task) PullText() string {
	if v.PR == nil {
		return "-"
	}
	return fmt.Sprintf("#%d %s", v.PR.Number, v.PR.State)
}

// ProgressText describes the progress of a task in a phrase.
func (p Progress) ProgressText(now time.Time) string {
	parts := []string{p.StateText()}
	if p.Subtasks > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s merged", p.Merged, company.Count(p.Subtasks, "subtask")))
	}
	if cost := ShortCost(p.CostMicroUSD, p.Tokens); cost != "-" {
		parts = append(parts, cost)
	}
	text := strings.Join(append(parts, termtext.FormatAge(now.Sub(p.Submitted))), ", ")
	for _, step := range p.Steps {
		if step.Doing == FindsBase { // the feed has the others
			text += "; " + step.Doing
		}
	}
	for _, hold := range p.HoldTexts() {
		text += "; " + hold
	}
	return text
}

// StateText returns the state of a subtask for display.
func (v Subtask) StateText() string {
	if v.Paused {
		return "paused"
	}
	if v.Question != "" {
		return "needs you"
	}
	return map[company.SubtaskStatus]string{
		company.SubtaskPending: "waiting", company.SubtaskAssigned: "queued", company.SubtaskRunning: "working",
		company.SubtaskInGate:    "in the gates",
		company.SubtaskReviewing: "in review", company.SubtaskMerging: "merging", company.SubtaskCompleted: "merged",
		company.SubtaskFailed:  "failed",
		company.SubtaskBlocked: "stuck", company.SubtaskCancelled: "cancelled",
	}[v.Status]
}

func (v Subtask) StateColor() string {
	if v.Paused {
		return termtext.Yellow
	}
	if v.Question != "" {
		return termtext.Bright
	}
	switch v.Status {
	case company.SubtaskCompleted:
		return termtext.Green
	case company.SubtaskFailed:
		return termtext.Red
	case company.SubtaskBlocked:
		return termtext.Bright
	}
	return ""
}

// StateText returns the state of a run for display.
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

// writeWrapped writes a text after a head. Wrapped lines are indented below the text.
func writeWrapped(b *strings.Builder, s Style, head, text string) {
	b.WriteString(head + s.Wrap(text, strings.Repeat(" ", termtext.Cells(head))) + "\n")
}
