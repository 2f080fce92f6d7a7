package view

import (
	"testing"

	"company/internal/company"
	"company/internal/present/view/viewtest"
)

// What runs under way have spent counts before the ledger learns of it, and once.
func TestCostSoFar(t *testing.T) {
	s, task := viewtest.TaskOf(func(_ *company.State, task *company.Task) {
		task.Status = company.StatusExecuting
		task.Runs = map[company.RunID]*company.Run{
			"t12-01.1": {ID: "t12-01.1", Subtask: "t12-01", Role: company.Worker, Held: true},
			"t12-02.1": {ID: "t12-02.1", Subtask: "t12-02", Role: company.Worker, Ended: true, Status: company.RunSuccess,
				Spent: company.Amount{Tokens: 5}},
		}
	})
	src := Source{State: s, Now: viewtest.Time, AtWork: true, Activities: []Activity{
		{Run: "t12-01.1", Turn: 2, Spent: company.Amount{MicroUSD: 90_000, Tokens: 1000}, Text: "thinks"},
		{Run: "t12-02.1", Turn: 9, Spent: company.Amount{MicroUSD: 70_000, Tokens: 5}, Text: "thinks"},
	}}
	want := task.Spent.Add(company.Amount{MicroUSD: 90_000, Tokens: 1000})
	if v := src.Task(task); v.Tokens != want.Tokens || v.CostMicroUSD == nil || *v.CostMicroUSD != want.MicroUSD {
		t.Errorf("the task: %d tokens, %v; want %v", v.Tokens, v.CostMicroUSD, want)
	}
	if v, err := src.Overview(false); err != nil || v.Tokens != want.Tokens || len(v.Running) != 1 ||
		v.Running[0].Tokens != 1000 {
		t.Errorf("the office: %d tokens, %+v %v; want %d", v.Tokens, v.Running, err, want.Tokens)
	}
	if v := src.Run(task, task.Runs["t12-02.1"]); v.Tokens != 5 || v.CostMicroUSD != nil {
		t.Errorf("the run that has ended: %d tokens, %v", v.Tokens, v.CostMicroUSD)
	}
}
