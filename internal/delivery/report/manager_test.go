package report

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/present/view"
)

// SUB-15: at the end the manager reports on each ticket, and on what it decided.
func TestManagerReport(t *testing.T) {
	merged, reasons, decisions := 0, 0, 0
	everyTask(t, func(t *testing.T, src view.Source, task *company.Task, events []company.Event) {
		made, err := New(src, task, events)
		if err != nil {
			t.Fatal(err)
		}
		manager, markdown := made.Manager, made.RenderMarkdown()
		decided := 0
		for _, run := range task.Runs {
			if run.Decided != nil {
				decided++
			}
		}
		if len(manager.Tickets) != len(task.Subtasks) || len(manager.Decisions) != decided ||
			manager.Why != "" && manager.Why != task.Plan.Why {
			t.Errorf("%s: %+v", task.ID, manager)
		}
		merged += manager.Merged
		decisions += len(manager.Decisions)
		for _, ticket := range manager.Tickets {
			if ticket.Reason != "" {
				reasons++
			}
			if !strings.Contains(markdown, "- **"+string(ticket.ID)+"** "+escapeCell(ticket.Title)+": "+string(ticket.Status)) ||
				!strings.Contains(markdown, escapeCell(ticket.Summary)) {
				t.Errorf("%s is not in the report:\n%s", ticket.ID, markdown)
			}
		}
	})
	if merged == 0 || reasons == 0 || decisions == 0 {
		t.Errorf("%d tickets are merged, %d say why not, and the manager decided %d times", merged, reasons, decisions)
	}
}
