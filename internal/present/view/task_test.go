package view

import (
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/present/view/viewtest"
)

// What is shown of a run that is under way is what the agents say, since the
// ledger learns of turns at the end.
func TestLiveRunView(t *testing.T) {
	s, task := viewtest.TaskOf(viewtest.WithQuestion(company.AskMerge, "?"))
	task.Runs = map[company.RunID]*company.Run{
		"t12-02.1": {ID: "t12-02.1", Role: company.Worker, Subtask: "t12-02", Held: true, Claimed: time.Now().UTC()},
		"t12-01.1": {ID: "t12-01.1", Role: company.Worker, Subtask: "t12-01", Ended: true, Turns: 7, Claimed: viewtest.Time,
			EndedAt: viewtest.Time},
	}
	activities := []Activity{{Run: "t12-02.1", Turn: 3, Text: "run_command sleep 60"},
		{Run: "t12-01.1", Turn: 9, Text: "thinks"}}
	for id, want := range map[string]string{
		"t12":      "PLAN",
		"t12-02":   "3 turns  -  run_command sleep 60",
		"t12-02.1": "3 turns, 0 tokens\n  now:    run_command sleep 60\n",
		"t12-01.1": "7 turns, 0 tokens\n",
	} {
		v, err := Source{State: s, Now: time.Now(), Activities: activities}.Show(id)
		if err != nil {
			t.Fatal(err)
		}
		text := v.Render(Style{})
		if !strings.Contains(text, want) || strings.Contains(text, "thinks") {
			t.Errorf("%s:\n%s", id, text)
		}
	}
}

// A task that has not ended grows older without an event.
func TestTaskAgeGrows(t *testing.T) {
	s, task := viewtest.TaskOf(viewtest.WithQuestion(company.AskMerge, "?"))
	task.Updated = task.Submitted
	if got := (Source{State: s, Now: time.Now()}).Task(task).DurationMS; got < time.Since(
		viewtest.Time).Milliseconds()-60_000 {
		t.Errorf("it is %d ms old", got)
	}
}

// A task shows the caps that hold, and the command that raises the one that is
// short.
func TestBudgetView(t *testing.T) {
	used := func(micro, tokens int64) company.Amount { return company.Amount{MicroUSD: micro, Tokens: tokens} }
	for _, c := range []struct {
		cap, spent company.Amount
		want       *company.Amount
		shown      string
		raise      string
	}{
		{used(5_000_000, 5_000_000), used(0, 72_000), nil, "cost:   72k tokens of at most 5M tokens\n", "5usd"},
		{used(5_000_000, 5_000_000), used(0, 4_999_000), &company.Amount{Tokens: 2000},
			"cost:   4999k tokens of at most 5M tokens\n", "5Mtokens"},
		{used(5_000_000, company.NoCap), used(410_000, 72_000), nil, "cost:   $0.41, 72k tokens of at most $5.00\n", "5usd"},
		{used(5_000_000, 5_000_000), used(410_000, 72_000), nil,
			"cost:   $0.41, 72k tokens of at most $5.00, 5M tokens\n", "5usd"},
		{used(company.NoCap, 5_000_000), used(0, 0), nil, "cost:   0 tokens of at most 5M tokens\n", "5Mtokens"},
		{NoLimit, used(0, 72_000), nil, "cost:   72k tokens, without a limit\n", "1Mtokens"},
		{used(company.NoCap, 12_000), used(0, 11_000), &company.Amount{Tokens: 14_200},
			"cost:   11k tokens of at most 12k tokens\n", "14ktokens"},
		{used(2_500_000, company.NoCap), used(2_400_000, 0), &company.Amount{MicroUSD: 1}, "of at most $2.50\n", "2.50usd"},
		{used(5_000_000, company.NoCap), used(0, 72_000), nil, "cost:   72k tokens, without a limit\n", "5usd"},
	} {
		task := &company.Task{ID: "t1", Cap: c.cap, Spent: c.spent, BudgetShortfall: c.want}
		v := Source{State: company.NewState(), Now: time.Now()}.TaskDetail(task)
		if got := v.Render(Style{}); !strings.Contains(got, c.shown) {
			t.Errorf("%s of %s is shown as\n%s\nwant %s", c.spent, c.cap, got, c.shown)
		}
		if got := RaiseCommand(task); got != "company budget add t1 "+c.raise {
			t.Errorf("%s of %s: %s", c.spent, c.cap, got)
		}
	}
}

// A verdict on several subtasks names the others.
func TestGatesOfAStack(t *testing.T) {
	s, task := viewtest.TaskOf(func(_ *company.State, t *company.Task) {
		t.Subtasks[0].Gate = &company.GateFinished{Result: company.GateResult{Passed: true},
			Stack: []company.SubtaskID{"t12-01", "t12-02"}}
		t.Subtasks[1].Gate = &company.GateFinished{Result: company.GateResult{Passed: true}}
	})
	src := Source{State: s, Now: viewtest.Time}
	one, two := src.Subtask(task, task.Subtasks[0]), src.Subtask(task, task.Subtasks[1])
	if text := one.Render(Style{}); !strings.Contains(text, ", together with t12-02\n") || len(one.Gate.Stack) != 2 {
		t.Errorf("%v\n%s", one.Gate.Stack, text)
	}
	if text := two.Render(Style{}); strings.Contains(text, "together") {
		t.Errorf("%s", text)
	}
}

// A check that ran a part of its suite says so, also after the merge's verdict.
func TestFirstStepsAreShown(t *testing.T) {
	part := company.TestPart{Ran: 3, Of: 41}
	s, task := viewtest.TaskOf(func(_ *company.State, t *company.Task) {
		t.Subtasks[0].FirstSteps = []company.FirstStep{{Check: "test", TestPart: part}}
		t.Subtasks[0].Gate = &company.GateFinished{
			Result: company.GateResult{Passed: true,
				Checks: []company.GateCheck{{Name: "test", Command: "go test ./...", Passed: true}}}}
		t.Subtasks[1].Gate = &company.GateFinished{
			Result: company.GateResult{Passed: true,
				Checks: []company.GateCheck{{Name: "test", Command: "go test ./...", Passed: true, Part: &part}}}}
	})
	src := Source{State: s, Now: viewtest.Time}
	merged, first := src.Subtask(task, task.Subtasks[0]), src.Subtask(task, task.Subtasks[1])
	if text := merged.Render(Style{}); !strings.Contains(text, "  before the review: test: 3 of 41 packages\n") ||
		strings.Contains(text, "all are run") {
		t.Errorf("%s", text)
	}
	if text := first.Render(Style{}); !strings.Contains(
		text, "go test ./..., exit 0, 0.0s, 3 of 41 packages; all run on the merged tree") ||
		*first.Gate.Checks[0].Part != part {
		t.Errorf("%s", text)
	}
}

// SUB-3: the assigned manager is the agent of the newest run of its role.
func TestManagerOfATask(t *testing.T) {
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	task := &company.Task{Runs: map[company.RunID]*company.Run{
		"t1-01.1":   {Role: company.Worker, Worker: "w1", Claimed: at.Add(time.Hour)},
		"t1-plan.3": {Role: company.Manager}, // on offer
	}}
	if got := managerOf(task); got != "" {
		t.Errorf("before it begins: %q", got)
	}
	task.Runs["t1-plan.1"] = &company.Run{Role: company.Manager, Worker: "host", Claimed: at}
	task.Runs["t1-plan.2"] = &company.Run{Role: company.Manager, Worker: "manager", Claimed: at.Add(time.Minute)}
	if got := managerOf(task); got != "manager" {
		t.Errorf("%q", got)
	}
}
