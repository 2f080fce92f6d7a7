package prbody

import (
	"strings"
	"testing"

	"company/internal/company"
)

// Where no review of the whole followed, the text says whose reviews stand for it.
func TestReviewInPartsInPullRequest(t *testing.T) {
	task := newPRTask()
	task.Instruction = "Mend both:\n- the parser\n- the printer"
	task.Review, task.Issue, task.Follows = company.ReviewState{}, nil, ""
	task.Subtasks = nil
	for i, folder := range []string{"parser", "printer"} {
		task.Subtasks = append(task.Subtasks, &company.Subtask{
			ID: company.NewSubtaskID(task.ID, i+1), Wave: 1, Status: company.SubtaskCompleted, Merged: "m", Head: "h",
			Planned: company.PlannedSubtask{Title: "Mend the " + folder, Description: "x", Does: []int{1, i + 2}},
			Changes: []company.Change{{Path: folder + "/a.go", Action: "modified"}},
			Review: company.ReviewState{Last: &company.ReviewRecorded{Head: "h", Verdict: company.Approve,
				Findings: []company.Finding{{Severity: company.Minor, What: "x"}}}},
		})
	}
	text := strings.Join(strings.Fields(PRBody(task, PROptions{})), " ")
	for _, want := range []string{"A reviewer approved each of the 2 tickets; they have all parts of the instruction " +
		"and do not touch; 2 minor findings are left, one is: x.", "so that no review of the whole followed"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	task.Subtasks[1].Changes[0].Path = "parser/b.go"
	if text := PRBody(task, PROptions{}); !strings.Contains(text, "The whole was not reviewed.") {
		t.Errorf("tickets that touch stand for the whole:\n%s", text)
	}
}
