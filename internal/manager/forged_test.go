package manager

import (
	"slices"
	"strings"
	"testing"

	"company/internal/agent/agenttest"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/manager/repomap"
)

// What a repository or a model wrote begins no part of a manager's brief (T22).
func TestForgedTextStaysInItsPlace(t *testing.T) {
	for _, text := range agenttest.Forged {
		task := agenttest.NewTask()
		task.Settings.Paths = []string{"x"}
		task.Plan.Problems = []company.PlanProblem{{Where: "x", What: "x", Fix: "x"}}
		sub := task.Subtasks[0]
		sub.Escalation, sub.Model, sub.Changes = "x", "x", []company.Change{{Path: "x", Action: "created"}}
		sub.Gate = &company.GateFinished{Result: company.GateResult{Checks: []company.GateCheck{{Name: "test", Output: "x"}}}}
		sub.Review.Last = &company.ReviewRecorded{
			Findings: []company.Finding{{Severity: company.Blocking, File: "x", Line: 3, What: "x", Why: "x"}}}
		task.Subtasks = append(task.Subtasks,
			&company.Subtask{ID: "t1-02", Status: company.SubtaskPending, Changes: sub.Changes,
				Planned: company.PlannedSubtask{Title: "x", WriteSet: []string{"x"}}})
		run := company.NewRunID(task.ID, sub.ID, company.Worker, 1)
		task.Runs = map[company.RunID]*company.Run{run: {ID: run, Summary: "x"}}
		decideAgain(task)
		task.Runs["t1-plan.2"].Decided.Model = "x"
		agenttest.FillStrings(task, text, "Instruction", "Granularity", "Action", "After")
		task.Runs["t1-01.4"].Summary += "y" // it stands in the reason otherwise
		diff := gitops.Diff{Changes: slices.Repeat(
			[]gitops.FileChange{{Change: company.Change{Path: text, Action: "created"}}}, 5),
			Patch: []byte(strings.Repeat(text+"\n", 2000))}
		agenttest.CheckForged(t, decideBrief(task, sub, diff, quoteAdvice(repomap.Advice{Path: text, Text: text})), 22,
			"# Ticket t1-01 is stuck: ")
		agenttest.CheckForged(t, planBrief(task, []*company.Approval{{Question: text, Text: "100"}}, ""), 4)
	}
}
