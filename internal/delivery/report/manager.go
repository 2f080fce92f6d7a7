package report

import (
	"cmp"
	"fmt"
	"strings"

	"company/internal/company"
)

// ManagerReport is the manager's report to the president at the end of a task (SUB-15): why it split the
// work, how far each ticket came, in its worker's words, and what it decided about stuck tickets.
type ManagerReport struct {
	Why       string           `json:"why,omitempty"` // empty if one worker has the whole instruction
	Merged    int              `json:"merged"`        // tickets whose work is on the integration branch
	Tickets   []TicketProgress `json:"tickets"`
	Decisions []string         `json:"decisions"`
}

// TicketProgress is what became of a ticket. The words are those of the last run that handed work in, or of the newest
// one where none did.
type TicketProgress struct {
	ID      company.SubtaskID     `json:"id"`
	Title   string                `json:"title"`
	Status  company.SubtaskStatus `json:"status"`
	Runs    int                   `json:"runs"` // of workers
	Summary string                `json:"summary,omitempty"`
	Risks   string                `json:"risks,omitempty"`
	Reason  string                `json:"reason,omitempty"` // why it is not merged, if that is known
}

func newManagerReport(task *company.Task) ManagerReport {
	report := ManagerReport{Tickets: []TicketProgress{}, Decisions: []string{}}
	for _, sub := range task.Subtasks {
		if !sub.Planned.IsInstruction() {
			report.Why = task.Plan.Why
		}
		progress := TicketProgress{ID: sub.ID, Title: sub.Planned.Title, Status: sub.Status, Runs: sub.Attempts()}
		if sub.Status == company.SubtaskCompleted {
			report.Merged++
		} else {
			progress.Reason = cmp.Or(sub.Reason, sub.Escalation)
		}
		run := task.LastHandedIn(sub.ID)
		if run == nil && sub.Head != "" {
			run = task.Runs[company.NewRunID(task.ID, sub.ID, company.Worker, sub.Started)]
		}
		if run != nil {
			progress.Summary, progress.Risks = run.Summary, run.Risks
		}
		report.Tickets = append(report.Tickets, progress)
	}
	for n := range task.Plan.Started {
		run := task.Runs[company.NewRunID(task.ID, "", company.Manager, n+1)]
		if run != nil && run.Decided != nil {
			report.Decisions = append(report.Decisions, fmt.Sprintf("%s was stuck (%s): %s: %s", run.About,
				run.Decided.Why, describeDecision(*run.Decided), run.Decided.Text))
		}
	}
	return report
}

func describeDecision(decision company.ManagerDecision) string {
	switch {
	case decision.GaveUp:
		return "handed to the president"
	case decision.Parts > 1:
		return fmt.Sprintf("split into %d", decision.Parts)
	case decision.Parts == 1:
		return "replanned"
	}
	return "sent back with advice"
}

// writeTo writes the report for people.
func (m ManagerReport) writeTo(b *strings.Builder) {
	if len(m.Tickets) == 0 {
		return
	}
	heading := "The manager's report"
	if m.Why == "" {
		heading = "The worker's report" // nobody planned
	}
	fmt.Fprintf(b, "\n## %s\n\n%d of %s merged.", heading, m.Merged, company.Count(len(m.Tickets), "ticket"))
	if m.Why != "" {
		b.WriteString(" Why it was split: " + escapeCell(m.Why))
	}
	b.WriteString("\n")
	for _, ticket := range m.Tickets {
		fmt.Fprintf(b, "\n- **%s** %s: %s after %s.", ticket.ID, escapeCell(ticket.Title), ticket.Status,
			company.Count(ticket.Runs, "run"))
		for _, text := range []string{ticket.Summary, ticket.Reason} {
			if text != "" {
				b.WriteString(" " + escapeCell(text))
			}
		}
		if ticket.Risks != "" {
			b.WriteString(" Risks: " + escapeCell(ticket.Risks))
		}
	}
	b.WriteString("\n")
	for _, decision := range m.Decisions {
		b.WriteString("- " + escapeCell(decision) + "\n")
	}
}
