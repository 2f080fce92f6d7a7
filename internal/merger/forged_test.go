package merger

import (
	"testing"

	"company/internal/agent/agenttest"
	"company/internal/company"
)

// What a repository or a model wrote begins no part of a merger's brief (T22).
func TestForgedTextStaysInItsPlace(t *testing.T) {
	for _, text := range agenttest.Forged {
		task := agenttest.NewTask()
		sub := task.Subtasks[0]
		sub.Conflict = &company.ConflictReported{Head: sub.Head, Onto: task.Head, Paths: []string{"x"}, Why: "x"}
		other := *sub
		other.ID, other.Status = "t1-02", company.SubtaskCompleted
		task.Subtasks = append(task.Subtasks, &other)
		agenttest.FillStrings(task, text, "Instruction", "Action", "After")
		agenttest.CheckForged(t, conflictBrief(task, sub, ""), 6, "## This side: t1-01 ", "## Merged before: t1-02 ")
	}
}
