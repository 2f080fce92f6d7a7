package merger

import (
	"testing"

	"company/internal/agent/agenttest"
	"company/internal/company"
)

// The merger agent's prompts change with their golden files alone (STA-23).
func TestPromptsStay(t *testing.T) {
	task := agenttest.NewTask()
	sub := task.Subtasks[0]
	sub.Conflict = &company.ConflictReported{Head: sub.Head, Onto: task.Head, Paths: []string{"api/limit.go"}}
	other := *sub
	other.ID, other.Status = "t1-02", company.SubtaskCompleted
	task.Subtasks = append(task.Subtasks, &other)
	agenttest.CheckPrompt(t, "conflict", system, conflictBrief(task, sub, ""))
	sub.Conflict.Why, sub.Conflict.Moved = "npm ci failed", true
	agenttest.CheckPrompt(t, "moved", system, conflictBrief(task, sub, "Advice of the repository.\n"))
	agenttest.CheckSentences(t)
}
