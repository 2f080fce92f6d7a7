package manager

import (
	"strings"
	"testing"

	"company/internal/agent/agenttest"
	"company/internal/company"
	"company/internal/gitops"
)

// Earlier decisions stand in a brief in bounds: the newest three, each shortened (SUB-16).
func TestEarlierDecisionsAreBounded(t *testing.T) {
	task := agenttest.NewTask()
	sub := task.Subtasks[0]
	if got := prompts.Render("earlier", newStuckMessage(task, sub, gitops.Diff{}, "", "")); got != "" {
		t.Errorf("a first decision reads %q", got)
	}
	task.Runs = map[company.RunID]*company.Run{}
	task.Plan.Started, sub.Started = 5, 5
	long := strings.Repeat("word ", 4000)
	for n := range 5 {
		d := company.NewRunID(task.ID, "", company.Manager, n+1)
		task.Runs[d] = &company.Run{ID: d, Role: company.Manager, About: sub.ID,
			Decided: &company.ManagerDecision{Why: long, Text: long, Model: long, Behind: n}}
		r := company.NewRunID(task.ID, sub.ID, company.Worker, n+1)
		task.Runs[r] = &company.Run{ID: r, Ended: true, Status: company.RunPartial, Summary: long}
	}
	got := prompts.Render("earlier", newStuckMessage(task, sub, gitops.Diff{}, "", ""))
	for _, want := range []string{"2 older decisions not shown.", "In t1-plan.3 it was stuck: word",
		"In t1-plan.5 it was stuck: word", "1 run followed; t1-01.4 ran out of turns:\n<ending>\n",
		"t1-01.5 ran out of turns.\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%.2000s", want, got)
		}
	}
	task.Runs["t1-plan.5"].Decided.GaveUp = true
	if given := prompts.Render("earlier", newStuckMessage(task, sub, gitops.Diff{}, "", "")); !strings.Contains(
		given, "</decision>\nThe president continued it. 1 run followed; t1-01.5 ran out of turns.\n") {
		t.Errorf("one that was given up:\n%.9000s", given)
	}
	if strings.Contains(got, "t1-plan.2") || len(got) > mostEarlier*(2048+400+1024+400) {
		t.Errorf("%d bytes", len(got))
	}
}
