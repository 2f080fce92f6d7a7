// Package viewtest creates tasks for tests of views.
package viewtest

import (
	"time"

	"company/internal/company"
)

// Time is the submission time of the tasks.
var Time = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TaskOf returns a completed task after applying change.
func TaskOf(change func(*company.State, *company.Task)) (*company.State, *company.Task) {
	state := company.NewState()
	state.Seq, state.Office.ID = 3, "k3fq"
	task := &company.Task{
		ID: "t12", Instruction: "add rate limiting\n to the API", Status: company.StatusCompleted, Submitted: Time,
		Updated: Time.Add(192 * time.Second), Ended: Time.Add(192 * time.Second),
		Priority: company.PriorityMedium, Prepared: &company.TaskPrepared{Integration: "develop-t12-k3fq"},
		Head: "3f9c2ab000000000000000000000000000000000",
		Subtasks: []*company.Subtask{{ID: "t12-01", Status: company.SubtaskCompleted},
			{ID: "t12-02", Status: company.SubtaskCompleted}},
		Spent: company.Amount{MicroUSD: 410_000, Tokens: 212_345},
		Cap:   company.Amount{MicroUSD: 5_000_000, Tokens: company.NoCap},
		PR:    &company.PullRequest{Number: 7, State: company.PROpen},
	}
	task.Gate = &company.GateFinished{Head: task.Head,
		Result: company.GateResult{Passed: true,
			Checks: []company.GateCheck{{Name: "lint", Passed: true}, {Name: "test", Passed: true}}}}
	state.Tasks[task.ID] = task
	if change != nil {
		change(state, task)
	}
	return state, task
}

// WithQuestion opens a question of a task, which then waits for the answer.
func WithQuestion(kind company.ApprovalKind, question string) func(*company.State, *company.Task) {
	return func(state *company.State, task *company.Task) {
		task.Status = company.StatusExecuting
		task.Ended = time.Time{}
		task.PR = nil
		task.Subtasks[1].Status = company.SubtaskRunning
		state.Open = []company.TaskID{task.ID}
		state.Approvals["a3"] = &company.Approval{ID: "a3", Kind: kind, Task: task.ID, Question: question, Asked: Time}
	}
}

// FourOptions is a kind of question that only FourOptionTable has.
const FourOptions company.ApprovalKind = "four_options"

// FourOptionTable has a kind with four options.
var FourOptionTable = company.OptionTable{FourOptions: {
	{Name: company.OptApprove, Means: "go on"},
	{Name: company.OptReject, Means: "fail the run"},
	{Name: "request_changes", Means: "again with your words", Input: company.InputNeedsWords},
	{Name: "abort", Means: "end the run", Confirm: true},
}}

// WithFourOptions opens a question of t12 with four options.
func WithFourOptions() func(*company.State, *company.Task) {
	return func(state *company.State, t *company.Task) {
		WithQuestion(FourOptions, "Go on?")(state, t)
		state.UseOptions(FourOptionTable)
	}
}
