package view

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/present/view/viewtest"
)

// SUB-8: a plan with an order shows after which subtasks each comes, in the table, in the
// ticket, in the question about the plan and in the estimate of a dry run.
func TestOrderedPlanIsShown(t *testing.T) {
	t.Parallel()
	s, task := viewtest.TaskOf(func(_ *company.State, t *company.Task) {
		t.Subtasks = nil
		for i, after := range [][]string{nil, {"t12-01"}, {"t12-01", "t12-02"}} {
			t.Subtasks = append(t.Subtasks,
				&company.Subtask{ID: company.NewSubtaskID(t.ID, i+1), Wave: 1, Status: company.SubtaskPending,
					Planned: company.PlannedSubtask{Title: "part", After: after}})
		}
		t.Status, t.Plan.Waves = company.StatusExecuting, 1
		t.Ended = t.Submitted
	})
	src := Source{State: s, Now: viewtest.Time}
	text := src.TaskDetail(task).Render(Style{Width: 120})
	for _, want := range []string{"3 subtasks in 3 steps", "AFTER", "01 02"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	v := src.Subtask(task, task.Subtasks[2])
	if v.Wave != 3 || len(v.After) != 2 ||
		!strings.HasPrefix(v.Render(Style{Width: 120}), "t12-03  waiting, after t12-01, t12-02  part\n") {
		t.Errorf("%d %v\n%s", v.Wave, v.After, v.Render(Style{Width: 120}))
	}
	question := src.approval(&company.Approval{ID: "a1", Kind: company.AskPlan, Task: task.ID})
	if got := strings.Join(question.Details,
		"|"); got != "- t12-01: part|- t12-02, after t12-01: part|- t12-03, after t12-01, t12-02: part" {
		t.Errorf("%s", got)
	}
}

// SUB-16: a subtask that was split from another one, or replanned, says so.
func TestReplannedSubtaskIsShown(t *testing.T) {
	t.Parallel()
	s, task := viewtest.TaskOf(func(_ *company.State, t *company.Task) {
		t.Subtasks = []*company.Subtask{
			{ID: "t12-01", Wave: 1, Status: company.SubtaskPending, Replanned: "two\x1b things", MoreTurns: 5},
			{ID: "t12-02", Wave: 1, Status: company.SubtaskPending, SplitFrom: "t12-01"},
		}
		t.Status, t.Plan.Waves = company.StatusExecuting, 1
	})
	src := Source{State: s, Now: viewtest.Time}
	text := src.TaskDetail(task).Render(Style{Width: 120})
	for _, want := range []string{"replanned by the manager: two", "the manager gave each run 5 turns more",
		"split from t12-01"} {
		if !strings.Contains(text, want) || strings.Contains(text, "\x1b") {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	first, second := src.Subtask(task, task.Subtasks[0]), src.Subtask(task, task.Subtasks[1])
	if text := first.Render(Style{}); first.SplitFrom != "" ||
		!strings.Contains(text, "  plan:   replanned by the manager: two") {
		t.Errorf("%s", text)
	}
	if text := second.Render(Style{}); second.SplitFrom != "t12-01" ||
		!strings.Contains(text, "  plan:   split from t12-01\n") {
		t.Errorf("%s", text)
	}
}
