package app_test

import (
	"testing"
	"time"

	"company/internal/app"
	"company/internal/company"
	"company/internal/ledger"
	"company/test/heldoffice"
)

// What a run has cost stays in view when its holder lets it go, when the company ends, and when the next one takes it up.
func TestCostOfAnInterruptedRunStays(t *testing.T) {
	o := heldoffice.Open(t)
	id := o.Executing("count me", 1)
	run := company.NewRunID(id, company.NewSubtaskID(id, 1), company.Worker, 1)
	at := time.Unix(1, 0).UTC()
	hold := func() uint64 {
		o.Must(company.Offer{Run: run})
		fence := o.Claim(run, "")
		o.Must(company.Reserve{Run: run, Fence: fence, One: company.Amount{MicroUSD: 900, Tokens: 900},
			Many: company.Amount{MicroUSD: 900, Tokens: 900}})
		return fence
	}
	answer := func(j *ledger.Journal, n int) {
		mustAppend(t, j, "call", map[string]any{"n": n, "at": at, "worst": company.Amount{MicroUSD: 400, Tokens: 400}})
		answered := reply("done")
		answered["n"], answered["spent"] = n, company.Amount{MicroUSD: 70, Tokens: 7}
		mustAppend(t, j, "reply", answered)
	}
	check := func(when string, turns int) {
		t.Helper()
		src := o.App.Source()
		task := src.State.Tasks[id]
		v, r := src.Task(task), src.Run(task, task.Runs[run])
		if v.Tokens != int64(7*turns) || v.CostMicroUSD == nil || *v.CostMicroUSD != int64(70*turns) {
			t.Errorf("%s: %s costs %d tokens, want %d", when, id, v.Tokens, 7*turns)
		}
		if r.Turns != turns || r.Tokens != v.Tokens || r.Doing != "" {
			t.Errorf("%s: %+v", when, r)
		}
	}
	fence := hold()
	j, err := app.LedgerOf(o.App).OpenJournal(t.Context(), run, fence)
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, j, "prompt", map[string]any{"at": at, "system": map[string]string{"text": "you work"},
		"first": map[string]string{"text": "the ticket"}})
	answer(j, 1)
	check("held", 1)
	answer(j, 2)
	o.Must(company.Release{Run: run, Fence: fence, Why: "the office is stopping"})
	check("let go", 2)
	o.Close()
	o.Reopen()
	check("at rest", 2)
	fence = hold()
	check("taken up", 2)
	if j, err = app.LedgerOf(o.App).OpenJournal(t.Context(), run, fence); err != nil {
		t.Fatal(err)
	}
	answer(j, 3)
	o.Must(company.Release{Run: run, Fence: fence, Why: "the office is stopping"})
	check("let go again", 3)
}
