package reviewer

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/gitops"
)

var writeGolden = flag.Bool("golden", false, "write the prompts of testdata anew")

// checkPrompt holds a prompt, with the hash of its system prompt, to its file in testdata.
func checkPrompt(t *testing.T, name, system, first string) {
	t.Helper()
	got := "rules " + string(agent.TextHash(system)) + "\n\n" + first
	file := filepath.Join("testdata", name+".md")
	if *writeGolden {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the prompt %s is another one now, and so is its hash in the ledger; where that is meant, write it anew "+
			"with -golden:\n%s", name, got)
	}
}

func goldenTask() *company.Task {
	oid := func(c string) company.OID { return company.OID(strings.Repeat(c, 40)) }
	return &company.Task{
		ID: "t1", Instruction: "Add a limit.\nKeep the rest.", Head: oid("c"),
		Settings: company.Settings{ProtectTests: true},
		Prepared: &company.TaskPrepared{Base: company.Base{OID: oid("b")},
			Gates: []company.GateCommand{{Name: "test", Command: "go test ./...", Dir: "api"}}},
		Baseline: &company.GateResult{Checks: []company.GateCheck{{Name: "test", Command: "go test ./...", Passed: true}}},
		Subtasks: []*company.Subtask{{ID: "t1-01", Started: 1, Head: oid("d"), Planned: company.PlannedSubtask{
			Title: "Limit requests", Description: "In api/limit.go.", AcceptanceCriteria: []string{"the 101st request gets 429"},
			WriteSet: []string{"api/**"}, Context: []string{"api/server.go"},
		}}},
	}
}

// A reviewer's prompts change with their golden files alone (STA-23).
func TestPromptsStay(t *testing.T) {
	task := goldenTask()
	sub := task.Subtasks[0]
	sub.Gate = &company.GateFinished{
		Result: company.GateResult{Passed: true,
			Checks: []company.GateCheck{{Name: "test", Command: "go test ./...", Passed: true}}}}
	x := subject{From: task.Prepared.Base.OID, Head: sub.Head, Whole: true, Advice: "Advice of the repository.\n",
		diff: gitops.Diff{
			Changes: []gitops.FileChange{{Change: company.Change{Path: "api/limit.go", Action: "created"}}},
			Patch:   []byte("+package api\n"),
		}}
	checkPrompt(t, "ticket", system, reviewBrief(task, sub, x))
	plain := *task
	task.Plan = company.Planning{Accepted: "t1-plan.1", Decisions: []string{"A client is its address."}}
	run := company.NewRunID(task.ID, sub.ID, company.Worker, 2)
	task.Runs = map[company.RunID]*company.Run{run: {ID: run, Role: company.Worker, Subtask: sub.ID, Ended: true,
		Status: company.RunSuccess, Head: sub.Head, Problem: "Nothing limits a client.",
		Summary: "A client has 100 requests a minute.\n- The 101st gets 429.\n- A name is shorter.", Risks: "none seen",
		Decisions: []string{"A minute begins with the first request."}}}
	x.Round = &lastRound{Head: task.Head, Findings: []company.Finding{{Severity: company.Minor, What: "a name is long"}},
		Since: gitops.Diff{Patch: []byte("+const limit = 100\n")}}
	checkPrompt(t, "again", system, reviewBrief(task, sub, x))
	*task, x.Round = plain, nil
	sub.Changes = []company.Change{{Path: "api/limit.go", Action: "created"}, {Path: "README.md", Action: "modified"},
		{Path: "go.mod", Action: "modified"}}
	task.Subtasks = append(task.Subtasks,
		&company.Subtask{ID: "t1-02", Planned: company.PlannedSubtask{Title: "Tell of it", WriteSet: []string{"*.md"}}})
	x.Whole = false
	checkPrompt(t, "outside", system, reviewBrief(task, sub, x))
	x.Round = &lastRound{Head: sub.Head,
		Findings: []company.Finding{{Severity: company.Minor, Category: company.CategoryStyle, File: "api/limit.go", Line: 3,
			What: "a name", Why: "it counts"}}, Second: company.Approve}
	checkPrompt(t, "second-approval", system, reviewBrief(task, sub, x))
	x.Round.Second = company.RequestChanges
	task.Settings.ConfirmReview = company.ConfirmAll
	checkPrompt(t, "second-all", system, reviewBrief(task, sub, x))
	x.Round, task.Settings.ConfirmReview = nil, ""
	task.Subtasks, x.Whole = task.Subtasks[:1], true
	checkPrompt(t, "whole", system, reviewBrief(task, nil, x))
	sub.Status = company.SubtaskCompleted
	task.Subtasks = append(task.Subtasks,
		&company.Subtask{ID: "t1-02", Status: company.SubtaskCompleted,
			Planned: company.PlannedSubtask{Title: "Tell of it", AcceptanceCriteria: []string{"README.md has it"},
				WriteSet: []string{"*.md"}}})
	checkPrompt(t, "whole-outside", system, reviewBrief(task, nil, x))
}
