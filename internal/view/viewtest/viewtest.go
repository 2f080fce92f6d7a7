// Package viewtest makes tasks for tests of what people see.
package viewtest

import (
	"time"

	"company/internal/company"
)

// Time is when the tasks were submitted.
var Time = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TaskOf is a task that has come as far as change takes it.
func TaskOf(change func(*company.State, *company.Task)) (*company.State, *company.Task) {
	s := company.NewState()
	s.Seq, s.Office.ID = 3, "k3fq"
	t := &company.Task{
		ID: "t12", Instruction: "add rate limiting\n to the API", Status: company.StatusCompleted, Submitted: Time, Updated: Time.Add(192 * time.Second), Ended: Time.Add(192 * time.Second),
		Prepared: &company.TaskPrepared{Integration: "develop-t12-k3fq"}, Head: "3f9c2ab000000000000000000000000000000000",
		Subtasks: []*company.Subtask{{ID: "t12-01", Status: company.SubtaskCompleted}, {ID: "t12-02", Status: company.SubtaskCompleted}},
		Spent:    company.Amount{MicroUSD: 410_000, Tokens: 212_345}, Cap: company.Amount{MicroUSD: 5_000_000, Tokens: company.NoCap},
		PR: &company.PullRequest{Number: 7, State: company.PROpen},
	}
	t.Gate = &company.GateFinished{Head: t.Head, Result: company.GateResult{Passed: true, Checks: []company.GateCheck{{Name: "lint", Passed: true}, {Name: "test", Passed: true}}}}
	s.Tasks[t.ID] = t
	if change != nil {
		change(s, t)
	}
	return s, t
}

// WithQuestion opens a question of a task that waits for it.
func WithQuestion(kind company.ApprovalKind, question string) func(*company.State, *company.Task) {
	return func(s *company.State, t *company.Task) {
		t.Status, t.Ended, t.PR = company.StatusExecuting, time.Time{}, nil
		t.Subtasks[1].Status = company.SubtaskRunning
		s.Open = []company.TaskID{t.ID}
		s.Approvals["a3"] = &company.Approval{ID: "a3", Kind: kind, Task: t.ID, Question: question, Asked: Time}
	}
}

// FourOptions is a kind of question that FourOptionTable alone has.
const FourOptions company.ApprovalKind = "four_options"

// FourOptionTable has a kind with four options.
var FourOptionTable = company.OptionTable{FourOptions: {
	{Name: company.OptApprove, Means: "go on"},
	{Name: company.OptReject, Means: "fail the run"},
	{Name: "request_changes", Means: "again with your words", Input: company.InputNeedsWords},
	{Name: "abort", Means: "end the run", Confirm: true},
}}

// WithFourOptions opens a question of t12 that has four options.
func WithFourOptions() func(*company.State, *company.Task) {
	return func(s *company.State, t *company.Task) {
		WithQuestion(FourOptions, "Go on?")(s, t)
		s.UseOptions(FourOptionTable)
	}
}
