package session

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"syscall"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/marks"
	"company/internal/sandbox"
)

// Settler closes the books of runs that have no holder and no next one, because their task has ended.
type Settler struct {
	Ledger *ledger.Ledger
	Work   sandbox.Salvager
	Logger *slog.Logger
	// Marks knows at which records earlier processes died. Nil: nothing is known.
	Marks *marks.Book
}

// Settle returns the end of a run: the spending, the turns and the models that its journal has, and the
// work that its worker left. A journal that cannot be read any more counts as the run's whole grant: the
// record is never less than the real spending. Called again, it returns the same end.
func (s Settler) Settle(ctx context.Context, t *company.Task, r *company.Run) (company.SettleRun, error) {
	end := company.SettleRun{Run: r.ID}
	var past agent.Past
	err := s.checkReadable(r.ID)
	if err == nil {
		past, err = agent.LookBack(ctx, unheld{s.Ledger, s.Marks, r.ID})
	}
	switch company.CodeOf(err) {
	case "":
		if end.Outcome.Journal, _, err = s.Ledger.SealJournal(ctx, r.ID); err != nil {
			return end, err
		}
	case company.ELedger, company.ECrash:
		past = agent.Past{Spent: r.Reserved}
	default:
		return end, err
	}
	end.Outcome.Spent, end.Outcome.Turns, end.Outcome.Models, end.Outcome.Heard = past.Spent, past.Turns, past.ByModel, past.Heard
	return end, salvageWork(ctx, s.Work, s.Logger, t, r, &end.Outcome)
}

// checkReadable refuses a journal at one of whose records the company died again and again while it counted the spending.
func (s Settler) checkReadable(run company.RunID) error {
	for _, d := range s.Marks.SetAside(string(run)) {
		if d.Doing == marks.Settle || d.Doing == marks.LookBack {
			return company.E(company.ECrash, "the journal of "+string(run)+" is not read any more")
		}
	}
	return nil
}

// salvageWork adds the work of a run that was cut off to its outcome. Work that cannot be taken stays in
// the run's repository, and the run ends without it. The error is that of a moment in which nothing can be
// taken: the run is settled later.
func salvageWork(ctx context.Context, by sandbox.Salvager, log *slog.Logger, t *company.Task, r *company.Run, out *company.RunEnded) error {
	var work sandbox.Salvaged
	err := company.Guard("taking the work of "+string(r.ID), func() (err error) {
		work, err = by.TakeWork(ctx, t, r)
		return err
	})
	switch {
	case err == nil:
		out.Head, out.Branch, out.Changes = work.Head, work.Branch, work.Changes
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return err
	default:
		log.WarnContext(ctx, "work of a run that was cut off not taken", "run_id", r.ID, "err", err)
	}
	return nil
}

// unheld is the journal of a run without a holder: it is only read.
type unheld struct {
	ledger *ledger.Ledger
	marks  *marks.Book
	run    company.RunID
}

func (u unheld) Read(ctx context.Context, fn func(n int, kind string, data json.RawMessage) error) error {
	return readMarked(u.marks, marks.Place{Owner: string(u.run), Doing: marks.Settle}, fn, func(each func(ledger.Record) error) error {
		return u.ledger.ReadJournal(ctx, u.run, each)
	})
}
