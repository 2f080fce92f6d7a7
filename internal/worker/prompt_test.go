package worker

import (
	"strings"
	"testing"

	"company/internal/company"
)

// A worker that is sent back is told which of its tests show nothing; one that
// begins has none.
func TestWorkerIsToldOfIdleTests(t *testing.T) {
	task := &company.Task{ID: "t1", Instruction: "do it", Prepared: &company.TaskPrepared{}}
	sub := &company.Subtask{ID: "t1-01", Gate: &company.GateFinished{Result: company.GateResult{Passed: true, RedGreen: &company.RedGreen{Files: 1, Fresh: 1, Idle: []string{"x TestIdle"}}}}}
	if got := ticketBrief(task, sub, circumstances{}); strings.Contains(got, "TestIdle") {
		t.Errorf("it is not sent back, and\n%s", got)
	}
	sub.Input = "The reviewer requests changes:\n- there is no test"
	if got := ticketBrief(task, sub, circumstances{}); !strings.Contains(got, "pass without the change too") || !strings.Contains(got, "x TestIdle") {
		t.Errorf("%s", got)
	}
}

// Where a test that shows the change is required, a worker knows before it begins.
func TestWorkerIsToldOfRequiredTests(t *testing.T) {
	task := &company.Task{ID: "t1", Instruction: "do it", Prepared: &company.TaskPrepared{}}
	for mode, want := range map[string]bool{"": false, company.RedGreenReport: false, company.RedGreenRequire: true} {
		task.Settings.RedGreen = mode
		if got := ticketBrief(task, &company.Subtask{ID: "t1-01"}, circumstances{}); strings.Contains(got, "must fail without the change") != want {
			t.Errorf("%q: %s", mode, got)
		}
	}
}
