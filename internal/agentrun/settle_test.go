package agentrun_test

import (
	"context"
	"errors"
	"testing"

	"company/internal/agent"
	"company/internal/agentrun"
	"company/internal/company"
	"company/internal/company/decidertest"
)

// A task is cancelled while a run is held, and the process dies before the run
// has told what it spent: the next process books what the journal says. Spend
// is never less than what was spent.
func TestSettlesWhatACancelHasCutOff(t *testing.T) {
	b := setup(t, company.Settings{})
	died := errors.New("killed here")
	b.refuse = func(c company.Command) error {
		switch c.(type) {
		case company.EndRun, company.Release:
			return died
		}
		return nil
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	err := b.carry(ctx, t, asking{after: func(agent.Outcome, *company.EndRun) { // after one call of 15 tokens
		b.Must(company.Cancel{Task: b.task, Why: "no"})
		cancel(errors.New("no longer due"))
	}})
	if err == nil || len(b.View().Unsettled(false)) != 0 {
		t.Fatalf("%v; while it is held nobody else settles it: %v", err, b.View().Unsettled(false))
	}
	b.refuse = nil
	b.Must(company.StartOffice{Office: decidertest.Office})
	left := b.View().Unsettled(false)
	if len(left) != 1 || left[0].ID != b.run {
		t.Fatalf("unsettled: %v", left)
	}
	for range 2 { // a second time changes nothing
		end, err := agentrun.Settler{Ledger: b.ledger, Logger: b.office.Logger}.Settle(t.Context(), b.Task(b.task), left[0])
		if err != nil {
			t.Fatal(err)
		}
		b.Must(end)
		if err := b.ledger.PurgeJournal(t.Context(), b.run); err != nil {
			t.Fatal(err)
		}
		r := b.end(t)
		if r.Spent.Tokens != 15 || b.Task(b.task).Spent.Tokens != 15 || r.Turns != 1 || len(r.Models) != 1 ||
			r.Models[0].Spent != r.Spent || r.Journal == "" || r.Status != company.RunError ||
			b.Task(b.task).Status != company.StatusCancelled {
			t.Fatalf("settled as %+v, the task spent %s", r, b.Task(b.task).Spent)
		}
		b.noJournals(t)
	}
	if left := b.View().Unsettled(false); len(left) != 0 {
		t.Errorf("still unsettled: %v", left)
	}
}
