package merger

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

// The merger agent's prompts change with their golden files alone (STA-23).
func TestPromptsStay(t *testing.T) {
	task := goldenTask()
	sub := task.Subtasks[0]
	sub.Conflict = &company.ConflictReported{Head: sub.Head, Onto: task.Head, Paths: []string{"api/limit.go"}}
	other := *sub
	other.ID, other.Status = "t1-02", company.SubtaskCompleted
	task.Subtasks = append(task.Subtasks, &other)
	checkPrompt(t, "conflict", system, conflictBrief(task, sub, ""))
}
