package view

import (
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/present/view/viewtest"
)

// A task on which no company is at work is resting: in the list, in status and in the summary, which says why and how
// old the task is. The list can be filtered by the word that it shows.
func TestRestingHasOneWord(t *testing.T) {
	src := waitingOffice(t, func(first, second *company.Task) {
		second.Paused = true
		first.Updated = first.Submitted.Add(time.Second)
	})
	src.AtWork = false
	src.Now = viewtest.Time.Add(20 * time.Second)
	overview, err := src.Overview(true)
	if err != nil {
		t.Fatal(err)
	}
	if text := overview.RenderText(); !strings.Contains(text, "t12 is resting: no company is running: company resume t12") ||
		!strings.Contains(text, "\n  t12   resting ") || !strings.Contains(text, "\n  t13   paused ") {
		t.Errorf("status:\n%s", text)
	}
	for state, want := range map[string]company.TaskID{"resting": "t12", "paused": "t13"} {
		list, err := src.TaskList(TaskFilter{States: []string{state}})
		if err != nil || len(list.Tasks) != 1 || list.Tasks[0].ID != want || list.Tasks[0].StateText() != state {
			t.Errorf("%s: %v, %+v", state, err, list.Tasks)
		}
	}
	task := src.State.Tasks["t12"]
	if text := src.Summary(task).Render(Style{Width: 100}); !strings.Contains(text, "t12 waits after 20s") ||
		!strings.Contains(text, "\n  no company is running\n") {
		t.Errorf("summary:\n%s", text)
	}
	src.State.Approvals["a1"] = &company.Approval{ID: "a1", Task: task.ID, Kind: company.AskClarification, Text: "both",
		Answered: task.Updated}
	if why := src.Summary(task).Why; why != "your answer is in; no company is running" {
		t.Errorf("after an answer: %q", why)
	}
	src.State.Approvals["a1"].Option = company.OptWithdrawn
	if why := src.Summary(task).Why; why != "no company is running" {
		t.Errorf("after a question that was withdrawn: %q", why)
	}
	src.State.Approvals["a2"] = &company.Approval{ID: "a2", Task: task.ID, Kind: company.AskPlan, Question: "?"}
	for state, want := range map[string]int{"resting": 0, "needs you": 1, "queued": 0} {
		if list, err := src.TaskList(TaskFilter{States: []string{state}}); err != nil || len(list.Tasks) != want {
			t.Errorf("with a question, %s: %v, %+v", state, err, list.Tasks)
		}
	}
	delete(src.State.Approvals, "a2")
	src.AtWork = true
	if list, err := src.TaskList(TaskFilter{States: []string{"resting"}}); err != nil || len(list.Tasks) > 0 {
		t.Errorf("with a company at work: %v, %+v", err, list.Tasks)
	}
}
