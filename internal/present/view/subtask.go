package view

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// Subtask is the view of a subtask.
type Subtask struct {
	ID   company.SubtaskID `json:"id"`
	Task company.TaskID    `json:"task"`
	Wave int               `json:"wave"` // or step, if subtasks depend on others by after
	// subtasks that must be merged before it starts, besides those of earlier waves
	After    []company.SubtaskID   `json:"after"`
	Status   company.SubtaskStatus `json:"status"`
	Paused   bool                  `json:"paused"`             // on its own, independent of its task
	Question company.ApprovalID    `json:"question,omitempty"` // the question that its merge waits for, if any
	Created  time.Time             `json:"created"`
	Started  *time.Time            `json:"started"` // null until a worker claims a run of it
	Updated  time.Time             `json:"updated"`
	// when it was merged, or its task ended without it; null until then
	Ended              *time.Time `json:"ended"`
	Title              string     `json:"title"`
	Description        string     `json:"description"`
	AcceptanceCriteria []string   `json:"acceptance_criteria"`
	WriteSet           []string   `json:"write_set"`
	Effort             string     `json:"effort"`
	Context            []string   `json:"context,omitempty"` // files and notes for its workers to start with
	// model profile set by the manager; absent if its workers use their own
	Model string `json:"model,omitempty"`
	// model replies that the manager added to the config's limit for each run
	MoreTurns int               `json:"more_turns,omitempty"`
	SplitFrom company.SubtaskID `json:"split_from,omitempty"` // the subtask that it was split from
	Replanned string            `json:"replanned,omitempty"`  // reason why the manager replanned it, if it did
	// commits of other people that it includes; absent for a subtask of a plan and for a repair
	TakenIn *company.BranchChange `json:"taken_in,omitempty"`
	Branch  string                `json:"branch,omitempty"`
	Head    company.OID           `json:"head,omitempty"`
	Merged  company.OID           `json:"merged,omitempty"`
	Changes []company.Change      `json:"changes"`
	// OutsideWriteSet are changed files that the write set does not cover.
	OutsideWriteSet []company.OutsideFile `json:"outside_write_set,omitempty"`
	Reason          string                `json:"reason,omitempty"`
	Waits           []Hold                `json:"waits,omitempty"` // what of it does not begin now, and why
	Gate            *Gate                 `json:"gate"`
	// checks that ran only part of their suite before the review
	FirstSteps []company.FirstStep     `json:"first_steps,omitempty"`
	Review     *company.ReviewRecorded `json:"review"`
	// findings of all its reviews, each with its status; newest last
	Findings []company.JudgedFinding `json:"findings"`
	Ticket   string                  `json:"ticket,omitempty"` // file
	Attempts int                     `json:"attempts"`         // runs of workers
	Runs     []Run                   `json:"runs"`             // of all agents
}

// Subtask returns the view of a subtask.
func (src Source) Subtask(t *company.Task, sub *company.Subtask) Subtask {
	return src.viewSubtask(t, sub, company.NewMatchBudget())
}

// viewSubtask is like Subtask, with a budget for matching write sets against files.
func (src Source) viewSubtask(task *company.Task, sub *company.Subtask, budget *int) Subtask {
	subtask := Subtask{
		ID: sub.ID, Task: task.ID, Wave: task.StepOf(sub), After: sub.After(), Status: sub.Status, Paused: sub.Paused,
		Title: sub.Planned.Title, Description: task.DescriptionOf(sub),
		AcceptanceCriteria: sub.Planned.AcceptanceCriteria, WriteSet: sub.Planned.WriteSet, Effort: sub.Planned.Effort,
		Context: sub.Planned.Context, Model: sub.Model, MoreTurns: sub.MoreTurns,
		SplitFrom: sub.SplitFrom, Replanned: sub.Replanned, TakenIn: sub.TakenIn,
		Branch: sub.Branch, Head: sub.Head, Merged: sub.Merged, Changes: append([]company.Change{}, sub.Changes...),
		Gate: viewGate(sub.Gate), FirstSteps: sub.FirstSteps, Review: sub.Review.Last,
		Findings:        append([]company.JudgedFinding{}, sub.Review.Findings()...),
		OutsideWriteSet: task.OutsideWriteSet(sub, budget), Attempts: sub.Attempts(), Runs: src.runsOf(task, sub.ID),
	}
	for _, hold := range src.listHolds(task) {
		if hold.Subtask == sub.ID {
			subtask.Waits = append(subtask.Waits, hold)
		}
	}
	if sub.Status == company.SubtaskMerging {
		for _, approval := range src.State.OpenApprovals(task.ID) {
			if approval.Subtask == sub.ID {
				subtask.Question = approval.ID
			}
		}
	}
	subtask.Created, subtask.Updated = sub.Times.Created.UTC(), sub.Times.Updated.UTC()
	subtask.Started, subtask.Ended = timeOrNil(sub.Times.Started), timeOrNil(sub.Times.Ended)
	for _, reason := range []string{sub.Reason, sub.Escalation} {
		if subtask.Reason == "" {
			subtask.Reason = reason
		}
	}
	if name := string(sub.ID) + ".md"; src.Folders.hasFile(src.Folders.Backlog, name) {
		subtask.Ticket = filepath.Join(src.Folders.Backlog, name)
	}
	return subtask
}

// writesText returns the paths that a subtask may write.
func (v Subtask) writesText() string {
	if slices.Equal(v.WriteSet, []string{"**"}) {
		return "any file"
	}
	return safetext.EscapeLine(strings.Join(v.WriteSet, ", "), 300)
}

// placeText returns the subtask's place in the plan: the subtasks that it depends on, or its wave.
func (v Subtask) placeText() string {
	if len(v.After) == 0 {
		return fmt.Sprintf("wave %d", v.Wave)
	}
	return "after " + company.JoinIDs(v.After)
}

// timeOrNil returns a time in UTC, or nil for the zero time.
func timeOrNil(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	utc := at.UTC()
	return &utc
}

// timesText formats when the subtask was planned, started and ended.
func (v Subtask) timesText() string {
	text := "planned " + v.Created.Local().Format(time.DateTime)
	if v.Started != nil {
		text += ", started " + v.Started.Local().Format(time.TimeOnly)
	}
	switch {
	case v.Ended == nil:
	case v.Status == company.SubtaskCompleted:
		text += ", merged " + v.Ended.Local().Format(time.TimeOnly)
	default:
		text += ", " + string(v.Status) + " " + v.Ended.Local().Format(time.TimeOnly)
	}
	return text
}

// originNotes explains how a subtask came into the plan, if it was not in the first one.
func (v Subtask) originNotes() []string {
	var notes []string
	if v.SplitFrom != "" {
		notes = append(notes, "split from "+string(v.SplitFrom))
	}
	if v.TakenIn != nil {
		notes = append(notes, safetext.EscapeLine(company.DescribeTakenIn(*v.TakenIn), 300))
	}
	if v.Replanned != "" {
		notes = append(notes, "replanned by the manager: "+safetext.EscapeLine(v.Replanned, 300))
	}
	return notes
}

// keptNote names the commands for the work of a subtask without which its task ended. It returns "" if there is no
// work.
func (v Subtask) keptNote() string {
	if !v.Status.Ended() || v.Status == company.SubtaskCompleted || v.Head == "" {
		return ""
	}
	return fmt.Sprintf("its work is kept at %s: company diff %s shows it, company retry %s continues it",
		v.Head.Short(), v.ID, v.Task)
}

// Render renders a subtask: its state first, then its verdicts, its runs and its ticket.
func (v Subtask) Render(style Style) string {
	var b strings.Builder
	head := fmt.Sprintf("%s  %s, %s  ", v.ID, v.StateText(), v.placeText())
	fmt.Fprintf(&b, "%s  %s, %s  %s\n", v.ID, style.Paint(v.StateColor(), v.StateText()), v.placeText(),
		style.Fit(safetext.EscapeLine(v.Title, 120), len(head)))
	if v.Paused {
		fmt.Fprintf(&b, "  paused: company resume %s\n", v.ID)
	}
	if v.Reason != "" {
		writeWrapped(&b, style, "  why:    ", safetext.EscapeLine(v.Reason, 300))
	}
	for _, hold := range v.Waits {
		writeWrapped(&b, style, "  next:   ", hold.joinReason())
	}
	for _, note := range v.originNotes() {
		writeWrapped(&b, style, "  plan:   ", note)
	}
	writeWrapped(&b, style, "  times:  ", v.timesText())
	if v.Merged != "" {
		fmt.Fprintf(&b, "  merged: %s\n", v.Merged.Short())
	}
	if v.Branch != "" {
		fmt.Fprintf(&b, "  branch: %s@%s\n", safetext.Escape(v.Branch), v.Head.Short())
	}
	if note := v.keptNote(); note != "" {
		writeWrapped(&b, style, "  kept:   ", note)
	}
	for _, c := range v.Changes {
		fmt.Fprintf(&b, "  %-9s %s\n", c.Action, safetext.EscapeLine(c.Path, 200))
	}
	if v.Gate != nil {
		onto := ""
		if v.Gate.Onto != v.Gate.Head {
			onto = " merged onto " + v.Gate.Onto.Short()
		}
		fmt.Fprintf(&b, "\n%s  on %s%s%s\n%s", style.Heading("GATES"), v.Gate.Head.Short(), onto,
			v.Gate.othersOfStack(v.ID), v.Gate.Render(style))
		for _, f := range v.FirstSteps {
			writeWrapped(&b, style, "  before the review: ", f.Check+": "+f.String())
		}
	}
	if v.Review != nil {
		b.WriteString("\n" + style.Heading("REVIEW") + "\n")
		writeReview(&b, style, v.Review)
	}
	writeJudged(&b, style, v.Findings)
	b.WriteString("\n" + style.Heading("RUNS"))
	writeRuns(&b, style, v.Runs)
	writeWords(&b, style, v.Runs)
	writeRefused(&b, style, v.Runs)
	b.WriteString("\n" + style.Heading("TICKET") + "\n")
	writeText(&b, style, v.Description, mostText)
	for _, c := range v.AcceptanceCriteria {
		writeWrapped(&b, style, "  must:   ", safetext.EscapeLine(c, 300))
	}
	writeWrapped(&b, style, "  writes: ", v.writesText())
	if len(v.OutsideWriteSet) > 0 {
		writeWrapped(&b, style, "  beyond: ", v.outsideText())
	}
	fmt.Fprintf(&b, "\n%s  company diff %s; company logs %s\n", style.Heading("LOOK"), v.ID, v.ID)
	if v.Ticket != "" {
		fmt.Fprintf(&b, "      %s\n", v.Ticket)
	}
	return b.String()
}
