package agentrun_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"company/internal/agentrun"
	"company/internal/company"
	"company/internal/ledger/marks"
	"company/internal/lib/safedir"
	"company/internal/lib/safedir/foldertest"
)

// dieAt has processes of an office die at a place, and returns the book of the next one.
func dieAt(t *testing.T, state *safedir.Folder, p marks.Place, times int) *marks.Book {
	t.Helper()
	for range times {
		marks.Open(state, slog.New(slog.DiscardHandler)).Enter(p)
	}
	book := marks.Open(state, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := book.Close(); err != nil {
			t.Error(err)
		}
	})
	return book
}

// TestRunIsSetAside: a run at whose record the company died twice is not taken up. The president is asked, and his yes
// is one more attempt.
func TestRunIsSetAside(t *testing.T) {
	b := setup(t, company.Settings{})
	state := foldertest.Open(t, t.TempDir())
	p := marks.Place{Owner: string(b.run), Doing: marks.Resume, N: 2}
	b.office.Marks = dieAt(t, state, p, 2)
	if err := b.carry(t.Context(), t, nil); err != nil || b.model.asked != 0 {
		t.Fatalf("%v, the model was asked %d times", err, b.model.asked)
	}
	var failed []company.Failure
	for _, f := range b.Task(b.task).Failures {
		failed = append(failed, f)
	}
	if len(failed) != 1 || failed[0].Code != company.ECrash || !failed[0].NeedsPerson ||
		!strings.Contains(failed[0].Error, "died 2 times in a row while resuming the conversation at record 2") {
		t.Fatalf("failures: %+v", failed)
	}
	if err := b.carry(t.Context(), t, nil); err != nil || b.model.asked != 1 {
		t.Fatalf("after the answer: %v, the model was asked %d times", err, b.model.asked)
	}
	b.end(t)
	if left := marks.ReadSetAside(state, slog.New(slog.DiscardHandler)); len(left) > 0 ||
		len(b.office.Marks.SetAside("")) > 0 {
		t.Errorf("set aside after the end: %v", left)
	}
}

// TestUnreadableSpendingIsSettled: a run whose journal kills the company is settled with all that it was granted.
func TestUnreadableSpendingIsSettled(t *testing.T) {
	b := setup(t, company.Settings{})
	state := foldertest.Open(t, t.TempDir())
	book := dieAt(t, state, marks.Place{Owner: string(b.run), Doing: marks.Settle, N: 1}, 2)
	ended := &company.Run{ID: b.run, Reserved: company.Amount{Tokens: 77}}
	end, err := agentrun.Settler{Ledger: b.ledger, Logger: b.office.Logger, Marks: book}.Settle(
		t.Context(), b.Task(b.task), ended)
	if err != nil || end.Outcome.Spent.Tokens != 77 || end.Outcome.Journal != "" {
		t.Errorf("%+v, %v", end.Outcome, err)
	}
}

// TestReadersMarkRecords: each reader of a journal marks the records that it reads by its own name, and no mark is
// left.
func TestReadersMarkRecords(t *testing.T) {
	b := setup(t, company.Settings{})
	journal, err := b.ledger.OpenJournal(t.Context(), b.run, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Append(t.Context(), "reply", json.RawMessage(`{"n": "no number"}`)); err != nil {
		t.Fatal(err)
	}
	state := foldertest.Open(t, t.TempDir())
	// A process that could not read record 2 has survived it.
	p := marks.Place{Owner: string(b.run), Doing: marks.Settle, N: 2}
	book := dieAt(t, state, p, 1)
	_, err = agentrun.Settler{Ledger: b.ledger, Logger: b.office.Logger, Marks: book}.Settle(
		t.Context(), b.Task(b.task), &company.Run{ID: b.run})
	if syntax := (*json.UnmarshalTypeError)(nil); !errors.As(err, &syntax) {
		t.Fatalf("a record that cannot be read: %v", err)
	}
	if next := dieAt(t, state, p, 1); len(next.SetAside("")) > 0 {
		t.Errorf("a death that was passed counts: %v", next.SetAside(""))
	}
}
