package view

import (
	"fmt"
	"path/filepath"
	"strings"

	"company/internal/company"
	"company/internal/safetext"
)

// Subtask is the view of a subtask.
type Subtask struct {
	ID                 company.SubtaskID       `json:"id"`
	Task               company.TaskID          `json:"task"`
	Wave               int                     `json:"wave"`
	Status             company.SubtaskStatus   `json:"status"`
	Title              string                  `json:"title"`
	Description        string                  `json:"description"`
	AcceptanceCriteria []string                `json:"acceptance_criteria"`
	WriteSet           []string                `json:"write_set"`
	Effort             string                  `json:"effort"`
	Branch             string                  `json:"branch,omitempty"`
	Head               company.OID             `json:"head,omitempty"`
	Merged             company.OID             `json:"merged,omitempty"`
	Changes            []company.Change        `json:"changes"`
	Reason             string                  `json:"reason,omitempty"`
	Gate               *Gate                   `json:"gate"`
	Review             *company.ReviewRecorded `json:"review"`
	Ticket             string                  `json:"ticket,omitempty"` // file
	Attempts           int                     `json:"attempts"`         // runs of workers
	Runs               []Run                   `json:"runs"`             // of everybody
}

// Subtask makes the view of a subtask of a task.
func (src Source) Subtask(t *company.Task, sub *company.Subtask) Subtask {
	v := Subtask{
		ID: sub.ID, Task: t.ID, Wave: sub.Wave, Status: sub.Status, Title: sub.Planned.Title, Description: sub.Planned.Description,
		AcceptanceCriteria: sub.Planned.AcceptanceCriteria, WriteSet: sub.Planned.WriteSet, Effort: sub.Planned.Effort,
		Branch: sub.Branch, Head: sub.Head, Merged: sub.Merged, Changes: sub.Changes, Gate: viewGate(sub.Gate), Review: sub.Review.Last,
		Attempts: sub.Attempts(), Runs: src.runsOf(t, sub.ID),
	}
	for _, why := range []string{sub.Reason, sub.Escalation} {
		if v.Reason == "" {
			v.Reason = why
		}
	}
	if name := string(sub.ID) + ".md"; src.Folders.has(src.Folders.Backlog, name) {
		v.Ticket = filepath.Join(src.Folders.Backlog, name)
	}
	return v
}

func (v Subtask) RenderText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s, wave %d  %s\n", v.ID, v.Status, v.Wave, safetext.EscapeLine(v.Title, 120))
	b.WriteString(IndentLines(v.Description, 40))
	for _, c := range v.AcceptanceCriteria {
		fmt.Fprintf(&b, "  must:   %s\n", safetext.EscapeLine(c, 300))
	}
	fmt.Fprintf(&b, "  writes: %s\n", safetext.EscapeLine(strings.Join(v.WriteSet, ", "), 300))
	if v.Reason != "" {
		fmt.Fprintf(&b, "  why:    %s\n", safetext.EscapeLine(v.Reason, 300))
	}
	if v.Branch != "" {
		fmt.Fprintf(&b, "  branch: %s@%s\n", safetext.Escape(v.Branch), v.Head.Short())
	}
	if v.Merged != "" {
		fmt.Fprintf(&b, "  merged: %s\n", v.Merged.Short())
	}
	for _, c := range v.Changes {
		fmt.Fprintf(&b, "  %-9s %s\n", c.Action, safetext.EscapeLine(c.Path, 200))
	}
	b.WriteString("\nRUNS\n")
	writeRuns(&b, v.Runs)
	writeRefused(&b, v.Runs)
	if v.Gate != nil {
		fmt.Fprintf(&b, "\nGATES  on %s merged onto %s\n%s", v.Gate.Head.Short(), v.Gate.Onto.Short(), v.Gate.RenderText())
	}
	if v.Review != nil {
		fmt.Fprintf(&b, "\nREVIEW\n%s", reviewText(v.Review))
	}
	fmt.Fprintf(&b, "\nLOOK  company diff %s; company logs %s\n", v.ID, v.ID)
	if v.Ticket != "" {
		fmt.Fprintf(&b, "      %s\n", v.Ticket)
	}
	return b.String()
}
