package view

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/present/view/viewtest"
)

// The subtask that has a whole instruction shows it as its ticket. A check that counts no tests shows no counts, the top
// folder of the repository is readable as such, and the reviewer's evidence is called that.
func TestSubtaskOfAWholeInstruction(t *testing.T) {
	s, task := viewtest.TaskOf(func(_ *company.State, t *company.Task) {
		sub := t.Subtasks[0]
		sub.Planned = company.PlannedSubtask{Title: "Add a limit", WriteSet: []string{"**"}}
		t.Instruction = "Add a limit of ten a second."
		sub.Gate = &company.GateFinished{Result: company.GateResult{Passed: true, Checks: []company.GateCheck{{Name: "lint",
			Command: "golint", Passed: true, Counts: &company.TestCounts{}, Canary: &company.Canary{Proven: []string{"."}}}}}}
		sub.Review.Last = &company.ReviewRecorded{Verdict: company.Approve, Evidence: []string{"read in the diff"},
			Checked: []string{"the diff"}}
	})
	text := Source{State: s, Now: viewtest.Time}.Subtask(task, task.Subtasks[0]).Render(Style{})
	for _, want := range []string{"TICKET\n  Add a limit of ten a second.\n  writes: any file\n", "      covers: ./\n",
		"  evidence: read in the diff\n    confirmed: the diff\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "0 failed") {
		t.Errorf("counts of no tests:\n%s", text)
	}
}
