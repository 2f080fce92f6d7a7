package reviewer

import (
	"slices"
	"testing"

	"company/internal/agent/agenttest"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/gitops/cleanfilter"
)

// What a repository or a model wrote begins no part of a reviewer's brief (T22).
func TestForgedTextStaysInItsPlace(t *testing.T) {
	for _, text := range agenttest.Forged {
		task := agenttest.NewTask()
		sub := task.Subtasks[0]
		sub.Changes = []company.Change{{Path: "x", Action: "created"}}
		check := company.GateCheck{Name: "x", Command: "x", Passed: true, Flaky: []string{"x"}, Gone: []string{"x"},
			Canary: &company.Canary{Blind: []string{"x"}, Reason: "x"}}
		sub.Gate = &company.GateFinished{
			Result: company.GateResult{Checks: []company.GateCheck{check}, RedGreen: &company.RedGreen{Files: 1, Reason: "x"}}}
		sub.Review.Last = &company.ReviewRecorded{Evidence: []string{"x"},
			Findings: []company.Finding{{Severity: company.Blocking, Category: "x", File: "x", What: "x", Why: "x"}}}
		task.Dependencies = []company.Dependency{{Ecosystem: "go", Name: "x", Version: "x"}}
		task.Gate = sub.Gate
		agenttest.FillStrings(task, text, "Instruction", "Action", "After")
		x := subject{
			Flags: []string{text}, bypassed: []gitops.BypassedFile{{Path: text, By: cleanfilter.Bypass("filter=" + text)}},
			Mentions: []string{text}, Answers: []*company.Approval{{Question: text, Text: "100"}},
			Whole: true,
			Round: &lastRound{Head: task.Head, Findings: sub.Review.Last.Findings,
				Since: gitops.Diff{Patch: []byte(text)}},
			diff: gitops.Diff{Changes: slices.Repeat(
				[]gitops.FileChange{{Change: company.Change{Path: text, Action: "created"}}}, 9), Patch: []byte(text)},
		}
		agenttest.CheckForged(t, reviewBrief(task, sub, x), 25, "# Ticket t1-01: ")
		sub.Status = company.SubtaskCompleted
		task.Subtasks = append(task.Subtasks,
			&company.Subtask{ID: "t1-02", Status: company.SubtaskCompleted, Changes: sub.Changes,
				Planned: company.PlannedSubtask{Title: text, WriteSet: []string{text}}})
		agenttest.CheckForged(t, reviewBrief(task, nil, x), 28)
	}
}
