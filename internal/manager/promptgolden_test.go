package manager

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/agent"
	"company/internal/company"
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
		t.Errorf("the prompt %s is another one now, and so is its hash in the ledger; where that is meant, write it anew with -golden:\n%s", name, got)
	}
}

func goldenTask() *company.Task {
	oid := func(c string) company.OID { return company.OID(strings.Repeat(c, 40)) }
	return &company.Task{
		ID: "t1", Instruction: "Add a limit.\nKeep the rest.", Head: oid("c"),
		Settings: company.Settings{Rules: 2, ProtectTests: true},
		Prepared: &company.TaskPrepared{Base: company.Base{OID: oid("b")}, Gates: []company.GateCommand{{Name: "test", Command: "go test ./...", Dir: "api"}}},
		Baseline: &company.GateResult{Checks: []company.GateCheck{{Name: "test", Command: "go test ./...", Passed: true}}},
		Subtasks: []*company.Subtask{{ID: "t1-01", Started: 1, Head: oid("d"), Planned: company.PlannedSubtask{
			Title: "Limit requests", Description: "In api/limit.go.", AcceptanceCriteria: []string{"the 101st request gets 429"}, WriteSet: []string{"api/**"}, Context: []string{"api/server.go"},
		}}},
	}
}

// A manager's prompts change with their golden files alone (STA-23).
func TestPromptsStay(t *testing.T) {
	task := goldenTask()
	task.Plan.Problems = []company.PlanProblem{{Where: "plan", What: "has no wave", Fix: "plan one"}}
	checkPrompt(t, "plan", planSystem, planBrief(task, []*company.Approval{{Question: "How many?", Text: "100"}}, "the map"))
	task.Subtasks[0].Escalation = "the gates stay red: TestLimit"
	task.Subtasks = append(task.Subtasks, &company.Subtask{ID: "t1-02", Status: company.SubtaskPending, Planned: company.PlannedSubtask{
		Title: "Tell of the limit", WriteSet: []string{"docs/**", "README.md"}, After: []string{"t1-01"},
	}})
	checkPrompt(t, "decide", decideSystem, decideBrief(task, task.Subtasks[0], "the map"))
}
