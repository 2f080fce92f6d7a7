package app_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"company/internal/app"
	"company/internal/company"
	"company/internal/present/view"
	"company/test/heldoffice"
)

// The requests of an ended run and the differences that are named add up to what the task booked,
// also when the task is archived. Where a cleanup took the journals, the refusal names it.
func TestTaskCostsAreWhatWasBooked(t *testing.T) {
	o := heldoffice.Open(t)
	id := o.Executing("count me", 1)
	run := company.NewRunID(id, company.NewSubtaskID(id, 1), company.Worker, 1)
	o.Must(company.Offer{Run: run})
	fence := o.Claim(run, "")
	o.Must(company.Reserve{Run: run, Fence: fence, One: company.Amount{MicroUSD: 900, Tokens: 900},
		Many: company.Amount{MicroUSD: 900, Tokens: 900}})
	l := app.LedgerOf(o.App)
	j, err := l.OpenJournal(t.Context(), run, fence)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1, 0).UTC()
	mustAppend(
		t, j, "prompt",
		map[string]any{"at": at, "system": map[string]string{"text": "you work"},
			"first": map[string]string{"text": "the ticket"}})
	mustAppend(t, j, "call", map[string]any{"n": 1, "at": at, "worst": company.Amount{MicroUSD: 400, Tokens: 400}})
	answered := reply("done")
	answered["spent"] = company.Amount{MicroUSD: 70, Tokens: 7}
	mustAppend(t, j, "reply", answered)
	mustAppend(t, j, "call", map[string]any{"n": 2, "at": at, "worst": company.Amount{MicroUSD: 30, Tokens: 3}})
	sealed, _, err := l.SealJournal(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	o.Must(company.EndRun{Run: run, Fence: fence,
		Outcome: company.RunEnded{Status: company.RunError, Error: "enough", Journal: sealed,
			Spent: company.Amount{MicroUSD: 125, Tokens: 12}}})
	o.Must(company.Cancel{Task: id})
	booked := o.App.FindTask(t.Context(), id).Spent
	check := func(when string) {
		t.Helper()
		v, err := o.App.Source().TaskCosts(t.Context(), string(id), view.CostDetail{Requests: true})
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		if v.Total.CostMicroUSD != booked.MicroUSD || v.Total.Tokens != booked.Tokens {
			t.Errorf("%s: %+v, booked %s", when, v.Total, booked)
		}
		var sum company.Amount
		for _, r := range v.Requests {
			sum = sum.Add(company.Amount{MicroUSD: r.CostMicroUSD, Tokens: r.Tokens})
		}
		for _, d := range v.Differences {
			sum = sum.Add(company.Amount{MicroUSD: d.CostMicroUSD, Tokens: d.Tokens})
		}
		if sum != booked || len(v.Requests) != 2 || v.Unanswered.Requests != 1 || v.Unanswered.CostMicroUSD != 30 {
			t.Errorf("%s: requests and differences are %s, booked %s: %+v", when, sum, booked, v)
		}
		if text := v.Render(view.CostQuery{}, view.Style{}); !strings.Contains(
			text, string(run)+" was charged $0.000025 more than its requests: enough") {
			t.Errorf("%s: %s", when, text)
		}
	}
	check("in the state")
	o.Archive(id)
	if o.App.View().Past[id] == nil {
		t.Fatal("the task is not archived")
	}
	check("archived")

	// Where a journal was removed, the ledger still has what its run cost.
	src := o.App.Source()
	src.Journals = removedJournals{}
	v, err := src.TaskCosts(t.Context(), string(id), view.CostDetail{})
	if err != nil || v.Total.CostMicroUSD != booked.MicroUSD || len(v.Differences) != 1 {
		t.Errorf("with a removed journal: %v, %+v", err, v)
	}
	if _, err := src.TaskCosts(t.Context(), string(run), view.CostDetail{}); company.CodeOf(err) != company.ENotFound {
		t.Errorf("the run of a removed journal: %v", err)
	}
}

// removedJournals has none of an office's journals.
type removedJournals struct{}

func (removedJournals) ReadRequests(context.Context, company.RunID, int) ([]view.Request, error) {
	return nil, company.E(company.ENotFound, "the journal was removed")
}
