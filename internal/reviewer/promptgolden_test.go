package reviewer

import (
	"testing"

	"company/internal/agent/agenttest"
	"company/internal/company"
	"company/internal/gitops"
)

// A reviewer's prompts change with their golden files alone (STA-23).
func TestPromptsStay(t *testing.T) {
	task := agenttest.NewTask()
	sub := task.Subtasks[0]
	sub.Gate = &company.GateFinished{
		Result: company.GateResult{Passed: true,
			Checks: []company.GateCheck{{Name: "test", Command: "go test ./...", Passed: true}}}}
	x := subject{From: task.Prepared.Base.OID, Head: sub.Head, Whole: true, Advice: "Advice of the repository.\n",
		diff: gitops.Diff{
			Changes: []gitops.FileChange{{Change: company.Change{Path: "api/limit.go", Action: "created"}}},
			Patch:   []byte("+package api\n"),
		}}
	agenttest.CheckPrompt(t, "ticket", system, reviewBrief(task, sub, x))
	plain := *task
	task.Plan = company.Planning{Accepted: "t1-plan.1", Decisions: []string{"A client is its address."}}
	run := company.NewRunID(task.ID, sub.ID, company.Worker, 2)
	task.Runs = map[company.RunID]*company.Run{run: {ID: run, Role: company.Worker, Subtask: sub.ID, Ended: true,
		Status: company.RunSuccess, Head: sub.Head, Problem: "Nothing limits a client.",
		Summary: "A client has 100 requests a minute.\n- The 101st gets 429.\n- A name is shorter.", Risks: "none seen",
		Decisions: []string{"A minute begins with the first request."}}}
	x.Round = &lastRound{Head: task.Head, Findings: []company.Finding{{Severity: company.Minor, What: "a name is long"}},
		Since: gitops.Diff{Patch: []byte("+const limit = 100\n")}}
	agenttest.CheckPrompt(t, "again", system, reviewBrief(task, sub, x))
	*task, x.Round = plain, nil
	sub.Changes = []company.Change{{Path: "api/limit.go", Action: "created"}, {Path: "README.md", Action: "modified"},
		{Path: "go.mod", Action: "modified"}}
	task.Subtasks = append(task.Subtasks,
		&company.Subtask{ID: "t1-02", Planned: company.PlannedSubtask{Title: "Tell of it", WriteSet: []string{"*.md"}}})
	x.Whole = false
	agenttest.CheckPrompt(t, "outside", system, reviewBrief(task, sub, x))
	x.Round = &lastRound{Head: sub.Head,
		Findings: []company.Finding{{Severity: company.Minor, Category: company.CategoryStyle, File: "api/limit.go", Line: 3,
			What: "a name", Why: "it counts"}}, Second: company.Approve}
	agenttest.CheckPrompt(t, "second-approval", system, reviewBrief(task, sub, x))
	x.Round.Second = company.RequestChanges
	task.Settings.ConfirmReview = company.ConfirmAll
	agenttest.CheckPrompt(t, "second-all", system, reviewBrief(task, sub, x))
	x.Round, task.Settings.ConfirmReview = nil, ""
	task.Subtasks, x.Whole = task.Subtasks[:1], true
	agenttest.CheckPrompt(t, "whole", system, reviewBrief(task, nil, x))
	sub.Status = company.SubtaskCompleted
	task.Subtasks = append(task.Subtasks,
		&company.Subtask{ID: "t1-02", Status: company.SubtaskCompleted,
			Planned: company.PlannedSubtask{Title: "Tell of it", AcceptanceCriteria: []string{"README.md has it"},
				WriteSet: []string{"*.md"}}})
	sub.Review.Last = &company.ReviewRecorded{Evidence: []string{"TestLimit"},
		Findings: []company.Finding{{Severity: company.Minor, What: "a name is long"}}}
	agenttest.CheckPrompt(t, "whole-outside", system, reviewBrief(task, nil, x))
	task = agenttest.NewTask()
	sub = task.Subtasks[0]
	sub.Gate = &company.GateFinished{Result: company.GateResult{Checks: []company.GateCheck{
		{Name: "lint", Skipped: true}, {Name: "types", Absent: true}, {Name: "old", ExitCode: 1, Excused: company.ComparedKnown},
		{Name: "unread", ExitCode: 2, Excused: company.ComparedAsBefore}, {Name: "red", ExitCode: 3},
		{Name: "vet", Absent: true, LeftOut: true},
		{Name: "api", Passed: true, Flaky: []string{"TestX"}, Part: &company.TestPart{Ran: 3, Of: 41}, Gone: []string{"TestOld"},
			Canary: &company.Canary{Blind: []string{"web"}, Reason: "it was interrupted"}}},
		RedGreen: &company.RedGreen{Files: 2, Fresh: 7, Unseen: 1, Proof: []string{"TestA"}, Unbuilt: []string{"TestB"},
			Apart: []string{"TestC"}, Died: []string{"TestD"}, Idle: []string{"TestE"}}}}
	sub.Changes = []company.Change{{Path: "Makefile", Action: "modified"}}
	task.Baseline.Checks[0] = company.GateCheck{Name: "test", ExitCode: 1, Output: "FAIL"}
	task.Prepared.Unrun = []company.UnrunCheck{{OfCI: true, Command: "make e2e", At: "ci.yml:7", Why: "it needs a network"}}
	task.Dependencies = []company.Dependency{{Ecosystem: "go", Name: "example.com/x", Version: "v1.0.0"}}
	x.Flags, x.Mentions, x.BaseTree = []string{"a_test.go: ends the process: os.Exit(0)"}, []string{"abc1234: @octocat"}, true
	x.bypassed = []gitops.BypassedFile{{Path: "a.bin", By: "filter=lfs"}}
	x.Round = &lastRound{Head: task.Head, Approved: true, Since: gitops.Diff{Truncated: true},
		Findings: []company.Finding{{Severity: company.Minor, What: "a name is long"}}}
	agenttest.CheckPrompt(t, "gates", system, reviewBrief(task, sub, x))
	sub.Unchanged, x.Round = true, &lastRound{Head: sub.Head}
	x.Head, sub.Gate.Result.RedGreen = sub.Head, &company.RedGreen{}
	sub.Gate.Result.Checks = sub.Gate.Result.Checks[:1]
	agenttest.CheckPrompt(t, "unchanged", system, reviewBrief(task, sub, x))
	sub.Gate.Result.Untested = true
	none := prompts.Render("red-green", &company.RedGreen{Files: 1})
	unknown := prompts.Render("red-green", &company.RedGreen{Files: 1, Reason: "the tests did not build"})
	agenttest.CheckPrompt(t, "untested", system, reviewBrief(task, sub, x)+none+unknown)
	task.Subtasks = append(task.Subtasks, &company.Subtask{ID: "t1-02", Status: company.SubtaskCompleted,
		Planned: company.PlannedSubtask{Title: "Count what was sent"}})
	sub.Status, sub.Reason = company.SubtaskBlocked, "the merger could not resolve its conflict"
	sub.Unresolved = &company.ConflictReported{Paths: []string{"api/limit.go", "api/count.go"}}
	agenttest.CheckPrompt(t, "conflict", conflictSystem, prompts.Render("conflict.md.tmpl",
		conflictMessage{Task: task, Ticket: sub, Own: "its diff\n", Other: "the other diff\n"}))
	agenttest.CheckSentences(t)
}
