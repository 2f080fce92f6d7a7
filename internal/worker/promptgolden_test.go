package worker

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/toolbox/toolproto"
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
			WriteSet: []string{"api/**"}, Context: []string{"api/server.go", "clients are named by address"},
		}}},
	}
}

// A worker's prompts change with their golden files alone (STA-23).
func TestPromptsStay(t *testing.T) {
	task := goldenTask()
	c := circumstances{Project: "The project.",
		Branch: toolproto.PrepareResult{Branch: "agent/t1-01-limit-requests", Head: strings.Repeat("b", 40)}}
	var err error
	files := shelf{"api/server.go": "package api\n\nfunc Serve() {}\n"}
	if c.Brought, err = bringFiles(t.Context(), task.Subtasks[0].Planned.Context, files.readLines); err != nil {
		t.Fatal(err)
	}
	checkPrompt(t, "first", system, ticketBrief(task, task.Subtasks[0], c))
	again := task.Subtasks[0]
	again.Input = "The reviewer requests changes:\n- there is no test"
	c.Earlier = &earlierWork{
		From: task.Prepared.Base.OID, Head: again.Head, Run: "t1-01.1", Summary: "A limit of 100 requests.",
		diff: gitops.Diff{Patch: []byte(
			"diff --git a/api/limit.go b/api/limit.go\nindex 7c678473..5f38ba61 100644\n--- a/api/limit.go\n+++ " +
				"b/api/limit.go\n@@ -1 +1,2 @@\n package api\n+const limit = 100\n")},
	}
	again.Review.Last = &company.ReviewRecorded{Verdict: company.RequestChanges, Findings: []company.Finding{
		{Severity: company.Blocking, What: "there is no test"},
		{Severity: company.Minor, File: "api/limit.go", Line: 2, What: "the constant has no comment", Why: "others have one"}}}
	run := company.NewRunID(task.ID, again.ID, company.Worker, 1)
	task.Plan = company.Planning{Accepted: "t1-plan.1", Decisions: []string{"A client is its address."}}
	task.Runs = map[company.RunID]*company.Run{run: {ID: run, Role: company.Worker, Subtask: again.ID, Ended: true,
		Status: company.RunSuccess, Head: again.Head, Decisions: []string{"The limit is a constant."}}}
	c.merged = []*company.Subtask{
		mergedTicket(task, 2, "Name clients", "A client is its address.",
			company.Change{Action: "created", Path: "api/client.go"})}
	checkPrompt(t, "again", system, ticketBrief(task, again, c))
}

// The president's word goes before the ticket, and the prompt says so (WRK-1).
func TestThePresidentsWordGoesFirst(t *testing.T) {
	said := company.FormatWord("")
	if !strings.Contains(system, strings.TrimSpace(said)) || !strings.Contains(system, "goes before the ticket") {
		t.Errorf("the prompt does not tell what %q is:\n%s", said, system)
	}
}
