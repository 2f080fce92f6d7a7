package agentrun_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/agent"
	"company/internal/agentrun"
	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/ledger/crashes"
	"company/internal/lib/safedir/foldertest"
)

var errDied = errors.New("killed here")

// dieAtEnd lets the process die before it has told the end of a run.
func (b *bench) dieAtEnd() {
	b.refuse = func(c company.Command) error {
		switch c.(type) {
		case company.EndRun, company.Release:
			return errDied
		}
		return nil
	}
}

// A task is cancelled while a run is held, and the process dies before the run
// has told what it spent: the next process books what the journal says. Spend
// is never less than what was spent.
func TestSettlesWhatACancelHasCutOff(t *testing.T) {
	b := setup(t, company.Settings{})
	b.dieAtEnd()
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

// A run whose journal kills the company is settled with all that it was granted.
func TestDeadlyJournalIsSettled(t *testing.T) {
	b := setup(t, company.Settings{})
	state := foldertest.Open(t, t.TempDir())
	open := func() *crashes.Tally { return crashes.Open(state, slog.New(slog.DiscardHandler)) }
	for range crashes.Limit {
		if _, err := open().Enter("settling "+string(b.run), b.task); err != nil {
			t.Fatal(err)
		}
		if err := state.WriteFile("crash", []byte("fatal error: stack overflow\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tally := open()
	ended := &company.Run{ID: b.run, Reserved: company.Amount{Tokens: 77}}
	end, err := agentrun.Settler{Ledger: b.ledger, Logger: b.office.Logger, Crashes: tally}.Settle(
		t.Context(), b.Task(b.task), ended)
	if err != nil || end.Outcome.Spent.Tokens != 77 || end.Outcome.Journal != "" {
		t.Errorf("%+v, %v", end.Outcome, err)
	}
	if err := tally.Close(); err != nil {
		t.Error(err)
	}
}

// REC-4: a run whose journal cannot be read after a restart ends with that reason and its whole grant as spent, and the
// task goes on with another run.
func TestUnrecoveredRunEnds(t *testing.T) {
	for _, record := range []string{"garbage", `{"n":70,"fence":1,"kind":"x"}`, `{"n":7,"fence":1,"kind":"call","data":"x"}`} {
		b := setup(t, company.Settings{})
		b.dieAtEnd()
		if err := b.carry(t.Context(), t, nil); !errors.Is(err, errDied) {
			t.Fatal(err)
		}
		reserved := b.Task(b.task).Runs[b.run].Reserved
		last, err := b.log.Last(t.Context(), "run."+string(b.run))
		if err == nil {
			_, err = b.log.Append(t.Context(), last.Subject, []byte(record), last.Seq, "damage")
		}
		if err != nil {
			t.Fatal(err)
		}
		b.refuse = nil
		b.Must(company.StartOffice{Office: decidertest.Office}) // the next process voids the claim
		if err := b.carry(t.Context(), t, nil); err != nil {
			t.Fatalf("the next holder: %v", err)
		}
		r := b.end(t)
		if r.Status != company.RunError || r.Spent != reserved || reserved.Tokens == 0 ||
			!strings.HasPrefix(r.Error, "process_restart_unrecovered: ") || b.model.asked != 1 {
			t.Errorf("%+v after %d requests", r, b.model.asked)
		}
		b.noJournals(t)
		kept, err := os.ReadFile(filepath.Join(b.dir, "runs", string(b.run), "damaged-journal.ndjson"))
		if err != nil || !strings.Contains(string(kept), record) {
			t.Errorf("%s, %v", kept, err)
		}
		task := b.Task(b.task)
		if due := company.Due(b.View(), task.Updated.Add(time.Hour), 1); len(due) != 1 || due[0].Run != "t1-plan.2" {
			t.Errorf("%s, due are %+v", task.Status, due)
		}
	}
}
