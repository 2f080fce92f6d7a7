package view

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/safetext"
)

// Subtask is the view of a subtask.
type Subtask struct {
	ID                 company.SubtaskID     `json:"id"`
	Task               company.TaskID        `json:"task"`
	Wave               int                   `json:"wave"`  // or step, where subtasks of the plan name others in after
	After              []company.SubtaskID   `json:"after"` // which must be merged before it begins, besides those of earlier waves
	Status             company.SubtaskStatus `json:"status"`
	Paused             bool                  `json:"paused"`             // by itself, apart from its task
	Question           company.ApprovalID    `json:"question,omitempty"` // that its merge waits for; absent: none
	Created            time.Time             `json:"created"`
	Started            *time.Time            `json:"started"` // null: no worker has claimed a run of it yet
	Updated            time.Time             `json:"updated"`
	Ended              *time.Time            `json:"ended"` // merged or cancelled; null: it goes on
	Title              string                `json:"title"`
	Description        string                `json:"description"`
	AcceptanceCriteria []string              `json:"acceptance_criteria"`
	WriteSet           []string              `json:"write_set"`
	Effort             string                `json:"effort"`
	Context            []string              `json:"context,omitempty"`    // files and notes that its workers begin with
	Does               []int                 `json:"does,omitempty"`       // parts of the instruction that it carries out, by number
	Model              string                `json:"model,omitempty"`      // the profile that the manager gave it; absent: its workers' own
	MoreTurns          int                   `json:"more_turns,omitempty"` // model replies that the manager gave each of its runs beyond the config's
	SplitFrom          company.SubtaskID     `json:"split_from,omitempty"` // the subtask that it was split from
	Replanned          string                `json:"replanned,omitempty"`  // why the manager planned it anew; absent: it did not
	TakenIn            *company.BranchChange `json:"taken_in,omitempty"`   // the commits of others that it takes in; absent: it is of a plan, or a repair
	Branch             string                `json:"branch,omitempty"`
	Head               company.OID           `json:"head,omitempty"`
	Merged             company.OID           `json:"merged,omitempty"`
	Changes            []company.Change      `json:"changes"`
	WriteSetFit        *company.Fit          `json:"write_set_fit"` // null: nothing is changed yet, it is a repair, or its globs take too long to compare
	// OutsideWriteSet are its changed files that the write set does not cover; absent: none.
	OutsideWriteSet []company.OutsideFile   `json:"outside_write_set,omitempty"`
	Reason          string                  `json:"reason,omitempty"`
	Gate            *Gate                   `json:"gate"`
	FirstSteps      []company.FirstStep     `json:"first_steps,omitempty"` // checks that ran a part of their suite before the review
	Review          *company.ReviewRecorded `json:"review"`
	Findings        []company.JudgedFinding `json:"findings"`         // of all its reviews, each with its status; the newest last
	Ticket          string                  `json:"ticket,omitempty"` // file
	Attempts        int                     `json:"attempts"`         // runs of workers
	Runs            []Run                   `json:"runs"`             // of everybody
}

// Subtask makes the view of a subtask of a task.
func (src Source) Subtask(t *company.Task, sub *company.Subtask) Subtask {
	return src.viewSubtask(t, sub, company.NewMatchBudget())
}

// viewSubtask is Subtask with the budget for the comparison of write sets with files.
func (src Source) viewSubtask(t *company.Task, sub *company.Subtask, budget *int) Subtask {
	v := Subtask{
		ID: sub.ID, Task: t.ID, Wave: t.StepOf(sub), After: sub.After(), Status: sub.Status, Paused: sub.Paused, Title: sub.Planned.Title, Description: sub.Planned.Description,
		AcceptanceCriteria: sub.Planned.AcceptanceCriteria, WriteSet: sub.Planned.WriteSet, Effort: sub.Planned.Effort, Context: sub.Planned.Context, Does: sub.Planned.Does, Model: sub.Model, MoreTurns: sub.MoreTurns, SplitFrom: sub.SplitFrom, Replanned: sub.Replanned, TakenIn: sub.TakenIn,
		Branch: sub.Branch, Head: sub.Head, Merged: sub.Merged, Changes: append([]company.Change{}, sub.Changes...), Gate: viewGate(sub.Gate), FirstSteps: sub.FirstSteps, Review: sub.Review.Last,
		Findings: append([]company.JudgedFinding{}, sub.Review.Findings()...), WriteSetFit: fitOf(sub, budget), OutsideWriteSet: t.OutsideWriteSet(sub, budget), Attempts: sub.Attempts(), Runs: src.runsOf(t, sub.ID),
	}
	if sub.Status == company.SubtaskMerging {
		for _, a := range src.State.OpenApprovals(t.ID) {
			if a.Subtask == sub.ID {
				v.Question = a.ID
			}
		}
	}
	v.Created, v.Updated = sub.Times.Created.UTC(), sub.Times.Updated.UTC()
	v.Started, v.Ended = timeOrNil(sub.Times.Started), timeOrNil(sub.Times.Ended)
	for _, why := range []string{sub.Reason, sub.Escalation} {
		if v.Reason == "" {
			v.Reason = why
		}
	}
	if name := string(sub.ID) + ".md"; src.Folders.hasFile(src.Folders.Backlog, name) {
		v.Ticket = filepath.Join(src.Folders.Backlog, name)
	}
	return v
}

// placeText is the subtask's place in the plan: the subtasks that it names, or its wave.
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

// timesText tells when the subtask was planned, started and ended.
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

// originNotes say how a subtask came into the plan, where it was not in the first one.
func (v Subtask) originNotes() []string {
	var notes []string
	if v.SplitFrom != "" {
		notes = append(notes, "split from "+string(v.SplitFrom))
	}
	if v.TakenIn != nil {
		notes = append(notes, safetext.EscapeLine(company.DescribeTakenIn(*v.TakenIn), 300))
	}
	if v.Replanned != "" {
		notes = append(notes, "planned anew by the manager: "+safetext.EscapeLine(v.Replanned, 300))
	}
	return notes
}

// keptNote names the commands for the work of a subtask that ended with its task. Empty: it left none.
func (v Subtask) keptNote() string {
	if v.Status != company.SubtaskCancelled || v.Head == "" {
		return ""
	}
	return fmt.Sprintf("its work is kept at %s: company diff %s shows it, company retry %s goes on from it", v.Head.Short(), v.ID, v.Task)
}

// Render is a subtask: how it stands first, then its verdicts, its runs, its ticket.
func (v Subtask) Render(s Style) string {
	var b strings.Builder
	head := fmt.Sprintf("%s  %s, %s  ", v.ID, v.StateText(), v.placeText())
	fmt.Fprintf(&b, "%s  %s, %s  %s\n", v.ID, s.Paint(v.StateColor(), v.StateText()), v.placeText(), s.Fit(safetext.EscapeLine(v.Title, 120), len(head)))
	if v.Paused {
		fmt.Fprintf(&b, "  paused: company resume %s\n", v.ID)
	}
	if v.Reason != "" {
		writeWrapped(&b, s, "  why:    ", safetext.EscapeLine(v.Reason, 300))
	}
	for _, note := range v.originNotes() {
		writeWrapped(&b, s, "  plan:   ", note)
	}
	writeWrapped(&b, s, "  times:  ", v.timesText())
	if v.Merged != "" {
		fmt.Fprintf(&b, "  merged: %s\n", v.Merged.Short())
	}
	if v.Branch != "" {
		fmt.Fprintf(&b, "  branch: %s@%s\n", safetext.Escape(v.Branch), v.Head.Short())
	}
	if note := v.keptNote(); note != "" {
		writeWrapped(&b, s, "  kept:   ", note)
	}
	for _, c := range v.Changes {
		fmt.Fprintf(&b, "  %-9s %s\n", c.Action, safetext.EscapeLine(c.Path, 200))
	}
	if v.Gate != nil {
		fmt.Fprintf(&b, "\n%s  on %s merged onto %s%s\n%s", s.Heading("GATES"), v.Gate.Head.Short(), v.Gate.Onto.Short(), v.Gate.othersOfStack(v.ID), v.Gate.Render(s))
		for _, f := range v.FirstSteps {
			writeWrapped(&b, s, "  before the review: ", f.Check+": "+f.String())
		}
	}
	if v.Review != nil {
		b.WriteString("\n" + s.Heading("REVIEW") + "\n")
		writeReview(&b, s, v.Review)
	}
	writeJudged(&b, s, v.Findings)
	b.WriteString("\n" + s.Heading("RUNS"))
	writeRuns(&b, s, v.Runs)
	writeWords(&b, s, v.Runs)
	writeRefused(&b, s, v.Runs)
	b.WriteString("\n" + s.Heading("TICKET") + "\n")
	writeText(&b, s, v.Description, mostText)
	for _, c := range v.AcceptanceCriteria {
		writeWrapped(&b, s, "  must:   ", safetext.EscapeLine(c, 300))
	}
	writeWrapped(&b, s, "  writes: ", safetext.EscapeLine(strings.Join(v.WriteSet, ", "), 300))
	if v.WriteSetFit != nil {
		writeWrapped(&b, s, "  fit:    ", fitText(*v.WriteSetFit))
	}
	if len(v.OutsideWriteSet) > 0 {
		writeWrapped(&b, s, "  beyond: ", v.outsideText())
	}
	fmt.Fprintf(&b, "\n%s  company diff %s; company logs %s\n", s.Heading("LOOK"), v.ID, v.ID)
	if v.Ticket != "" {
		fmt.Fprintf(&b, "      %s\n", v.Ticket)
	}
	return b.String()
}
