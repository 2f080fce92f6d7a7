package manager

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
		ID: "t1", Instruction: "Add a limit.\n\nKeep the rest.", Head: oid("c"),
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

func planBrief(task *company.Task, answers []*company.Approval, repo string) string {
	return prompts.Render("plan-first.md.tmpl", projectMessage{Task: task, Answers: answers, Repository: repo})
}

func decideBrief(task *company.Task, sub *company.Subtask, diff gitops.Diff, repo string) string {
	return prompts.Render("decide-first.md.tmpl", newStuckMessage(task, sub, diff, repo, ""))
}

// A manager's prompts change with their golden files alone (STA-23).
func TestPromptsStay(t *testing.T) {
	task := goldenTask()
	task.Plan.Problems = []company.PlanProblem{{Where: "plan", What: "has no wave", Fix: "plan one"}}
	checkPrompt(t, "plan", planSystem,
		planBrief(task, []*company.Approval{{Question: "How many?", Text: "100"}}, "the map"))
	task.Subtasks[0].Escalation = "the gates stay red: TestLimit"
	task.Subtasks = append(task.Subtasks,
		&company.Subtask{ID: "t1-02", Status: company.SubtaskPending, Planned: company.PlannedSubtask{
			Title: "Tell of the limit", WriteSet: []string{"docs/**", "README.md"}, After: []string{"t1-01"},
		}}, &company.Subtask{ID: "t1-03", Status: company.SubtaskCompleted,
			Planned: company.PlannedSubtask{Title: "Name the limit", WriteSet: []string{"config/**"}},
			Changes: []company.Change{{Path: "api/names.go", Action: "created"}}})
	task.Subtasks[0].Changes = []company.Change{{Path: "api/limit.go", Action: "created"},
		{Path: "docs/limit.md", Action: "modified"}}
	checkPrompt(t, "decide", decideSystem, decideBrief(task, task.Subtasks[0], gitops.Diff{}, "the map"))
	run := company.NewRunID(task.ID, "t1-01", company.Worker, 1)
	task.Runs = map[company.RunID]*company.Run{run: {ID: run, Summary: "The limit is there; TestLimit hangs."}}
	task.Subtasks[0].Review.Last = &company.ReviewRecorded{
		Findings: []company.Finding{{Severity: company.Blocking, File: "api/limit.go", Line: 3,
			What: "the 101st request passes", Why: "it counts from 0"}}}
	task.Subtasks[0].Gate = &company.GateFinished{
		Result: company.GateResult{
			Checks: []company.GateCheck{{Name: "test", Command: "go test ./...", ExitCode: 1, Output: "--- FAIL: TestLimit"}}}}
	diff := gitops.Diff{Changes: []gitops.FileChange{{Change: company.Change{Path: "api/limit.go", Action: "created"}}},
		Patch: []byte("diff --git a/api/limit.go b/api/limit.go\n+package api\n")}
	checkPrompt(t, "decide-tried", decideSystem, decideBrief(task, task.Subtasks[0], diff, "the map"))
	decideAgain(task)
	checkPrompt(t, "decide-again", decideSystem, decideBrief(task, task.Subtasks[0], diff, "the map"))
}

// decideAgain gives the first ticket of the golden task two decisions, with the runs after them.
func decideAgain(task *company.Task) {
	task.Plan.Started = 4
	note := func(id company.RunID, about company.SubtaskID, d company.ManagerDecision) {
		task.Runs[id] = &company.Run{ID: id, Role: company.Manager, About: about, Ended: true, Status: company.RunSuccess,
			Decided: &d}
	}
	note("t1-plan.2", "t1-01",
		company.ManagerDecision{Why: "the worker ran out of turns: I am at the tests",
			Text: "Begin with the test.\n\nThen count from 1.", MoreTurns: 20, Behind: 1})
	note("t1-plan.3", "t1-02", company.ManagerDecision{Why: "another ticket", Text: "other advice", Behind: 0})
	note("t1-plan.4", "t1-01",
		company.ManagerDecision{Why: "the reviewer still requests changes: it counts from 0", Text: "Take the other counter.",
			Model: "big", Behind: 2})
	for n, r := range []company.Run{
		{Status: company.RunSuccess, Head: "c1", Summary: "The limit is there; the test hangs."},
		{Status: company.RunSuccess, Head: "c2", Summary: "It counts from 1 now.\n\nThe test passes here."},
		{Status: company.RunError, Error: "the model is gone"},
		{Status: company.RunQualityFailed, Summary: "The other counter it is; TestLimit hangs."},
	} {
		r.ID, r.Role, r.Subtask, r.Ended = company.NewRunID(task.ID, "t1-01", company.Worker, n+1), company.Worker,
			"t1-01", true
		task.Runs[r.ID] = &r
	}
	task.Subtasks[0].Started, task.Subtasks[0].Guided, task.Subtasks[0].Model = 4, 2, "big"
}
