package manager

import (
	"testing"

	"company/internal/agent/agenttest"
	"company/internal/company"
	"company/internal/gitops"
)

func planBrief(task *company.Task, answers []*company.Approval, repo string) string {
	return prompts.Render("plan-first.md.tmpl", projectMessage{Task: task, Answers: answers, Repository: repo})
}

func decideBrief(task *company.Task, sub *company.Subtask, diff gitops.Diff, repo string) string {
	return prompts.Render("decide-first.md.tmpl", newStuckMessage(task, sub, diff, repo, ""))
}

// A manager's prompts change with their golden files alone (STA-23).
func TestPromptsStay(t *testing.T) {
	task := agenttest.NewTask()
	task.Plan.Problems = []company.PlanProblem{{Where: "plan", What: "has no wave", Fix: "plan one"}}
	task.Settings.Agents.Worker.Capabilities = []string{"Go", "SQL"}
	agenttest.CheckPrompt(t, "plan", planSystem,
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
	agenttest.CheckPrompt(t, "decide", decideSystem, decideBrief(task, task.Subtasks[0], gitops.Diff{}, "the map"))
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
	agenttest.CheckPrompt(t, "decide-tried", decideSystem, decideBrief(task, task.Subtasks[0], diff, "the map"))
	decideAgain(task)
	agenttest.CheckPrompt(t, "decide-again", decideSystem, decideBrief(task, task.Subtasks[0], diff, "the map"))
	for n, d := range []company.ManagerDecision{
		{Text: "Ask for the limit.", GaveUp: true, Behind: 4}, {Text: "It is too large.", Parts: 2, Behind: 5},
		{Text: "It needs the counter.", Parts: 1, Behind: 5},
	} {
		id := company.NewRunID(task.ID, "", company.Manager, 5+n)
		d.Why = "the worker asks for help"
		task.Runs[id] = &company.Run{ID: id, Role: company.Manager, About: "t1-01", Ended: true, Decided: &d}
	}
	task.Runs["t1-01.5"] = &company.Run{ID: "t1-01.5", Role: company.Worker, Subtask: "t1-01", Ended: true,
		Status: company.RunSuccess}
	task.Runs["t1-01.6"] = &company.Run{ID: "t1-01.6", Role: company.Worker, Subtask: "t1-01", Ended: true,
		Status: company.RunError, Error: "the model is gone"}
	task.Plan.Started, task.Subtasks[0].Started = 7, 7
	task.Settings.Paths = []string{"api", "docs"}
	task.Settings.Granularity = company.Granularity{MaxSubtasks: 3, MaxEffort: company.EffortSmall}
	task.Prepared.Unrun = []company.UnrunCheck{{OfCI: true, Command: "make e2e", At: "ci.yml:7", Why: "it needs a network"}}
	task.Baseline.Checks[0] = company.GateCheck{Name: "test", ExitCode: 1, Output: "FAIL"}
	diff.Truncated = true
	agenttest.CheckPrompt(t, "decide-replanned", decideSystem, decideBrief(task, task.Subtasks[0], diff, "the map"))
	task.Baseline = nil
	agenttest.CheckPrompt(t, "project", "",
		prompts.Render("project.md.tmpl", projectMessage{Task: task, Repository: "the map\n", Advice: "Its advice.\n"}))
	agenttest.CheckSentences(t)
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
