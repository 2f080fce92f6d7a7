package worker

import (
	"strings"
	"testing"

	"company/internal/agent/agenttest"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/toolbox/toolproto"
)

// A worker's prompts change with their golden files alone (STA-23).
func TestPromptsStay(t *testing.T) {
	task := agenttest.NewTask()
	c := circumstances{Project: "The project.",
		Branch: toolproto.PrepareResult{Branch: "agent/t1-01-limit-requests", Head: strings.Repeat("b", 40)}}
	var err error
	files := shelf{"api/server.go": "package api\n\nfunc Serve() {}\n"}
	if c.Brought, err = bringFiles(t.Context(), task.Subtasks[0].Planned.Context, files.readLines); err != nil {
		t.Fatal(err)
	}
	agenttest.CheckPrompt(t, "first", system, ticketBrief(task, task.Subtasks[0], c))
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
	c.Branch.Dirty, c.Earlier.Unfinished = true, true
	again.Gate = &company.GateFinished{Result: company.GateResult{Passed: true,
		RedGreen: &company.RedGreen{Files: 1, Fresh: 1, Idle: []string{"TestLimit"}}}}
	task.Subtasks = append(task.Subtasks, &company.Subtask{ID: "t1-03", Status: company.SubtaskPending,
		Planned: company.PlannedSubtask{Title: "Document the limit", WriteSet: []string{"docs/**"}}})
	agenttest.CheckPrompt(t, "again", system, ticketBrief(task, again, c))
	alone := agenttest.NewTask()
	alone.Settings.RedGreen, alone.Prepared.Target = company.RedGreenRequire, alone.Head
	alone.Prepared.Base.PRBranch = "main"
	alone.Subtasks[0].Planned, alone.Subtasks[0].Head = company.PlannedSubtask{Title: "Add a limit"}, ""
	agenttest.CheckPrompt(t, "alone", system, ticketBrief(alone, alone.Subtasks[0], circumstances{Branch: c.Branch}))
	agenttest.CheckPrompt(t, "program", programSystem,
		ticketBrief(alone, alone.Subtasks[0], circumstances{Branch: c.Branch, Program: true}))
	agenttest.CheckSentences(t)
}

// The president's word goes before the ticket, and the prompt says so (WRK-1).
func TestThePresidentsWordGoesFirst(t *testing.T) {
	said := company.FormatWord("")
	if !strings.Contains(system, strings.TrimSpace(said)) || !strings.Contains(system, "goes before the ticket") {
		t.Errorf("the prompt does not tell what %q is:\n%s", said, system)
	}
}
