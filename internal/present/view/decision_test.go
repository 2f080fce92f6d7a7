package view

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/present/view/viewtest"
)

// What the manager, its advice and a worker decided in the president's place is shown,
// with who did, and harmless; a long list ends with how many are left out.
func TestDecisionsAreShown(t *testing.T) {
	t.Parallel()
	s, task := viewtest.TaskOf(func(_ *company.State, t *company.Task) {
		t.Plan.Accepted, t.Plan.Decisions = "t12-plan.1",
			[]string{"Numbers above 3999 are refused.",
				"The old names stay,\n\x1b[31mas nothing asks for others; " + strings.Repeat("their callers are many, ", 5) +
					"so they do."}
		t.Subtasks = []*company.Subtask{
			{ID: "t12-01", Wave: 1, Status: company.SubtaskCompleted, Planned: company.PlannedSubtask{Title: "part"},
				Decisions: []string{"Zero has no numeral."}}}
		t.Runs = map[company.RunID]*company.Run{
			"t12-01.1": {ID: "t12-01.1", Role: company.Worker, Subtask: "t12-01", Ended: true, Status: company.RunSuccess,
				Head: "c1", Claimed: viewtest.Time, EndedAt: viewtest.Time,
				Decisions: []string{"Zero has no numeral.", "Blanks are not trimmed."}}}
		t.Status, t.Plan.Waves, t.Ended = company.StatusExecuting, 1, t.Submitted
	})
	src := Source{State: s, Now: viewtest.Time}
	shown := src.TaskDetail(task)
	_, text, _ := strings.Cut(shown.Render(Style{Width: 80}), "\nDECISIONS")
	text, _, _ = strings.Cut(text, "\n\n")
	list, err := json.MarshalIndent(shown.Decisions, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	holdOutput(t, filepath.Join("testdata", "output", "decisions.txt"), []byte("DECISIONS"+text+"\n\n"+string(list)+"\n"))
	for i := range 20 {
		task.Plan.Decisions = append(task.Plan.Decisions, fmt.Sprint("choice ", i))
	}
	many := src.TaskDetail(task)
	if short, whole := many.Render(Style{}),
		many.Render(Style{Verbose: true}); !strings.Contains(short, "  … 14 more decisions: -v\n") ||
		strings.Contains(short, "choice 19") || !strings.Contains(whole, "choice 19") {
		t.Errorf("%s", short)
	}
	task.Plan.Decisions, task.Subtasks[0].Decisions, task.Runs = nil, nil, nil
	if none := src.TaskDetail(task); none.Decisions == nil || strings.Contains(none.Render(Style{}), "DECISIONS") {
		t.Errorf("%+v", none.Decisions)
	}
}
