package agentrun

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"syscall"

	"company/internal/agent"
	"company/internal/agentrun/runfiles"
	"company/internal/agentrun/sandbox"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/ledger/crashes"
	"company/internal/lib/safedir"
)

// Settler settles runs that have no holder and will get none, because their task has ended.
type Settler struct {
	Ledger *ledger.Ledger
	Work   sandbox.Salvager
	Logger *slog.Logger
	// Crashes knows at which journals earlier processes died. If it is nil, no such journal is known.
	Crashes *crashes.Tally
}

// Settle returns the end of a run: the spending, the turns and the models from its journal, and the work that
// its worker left. A journal that cannot be read, or that killed earlier processes, counts as the run's whole grant, so
// the record is never less than the real spending. Repeated calls return the same end.
func (s Settler) Settle(ctx context.Context, task *company.Task, run *company.Run) (company.SettleRun, error) {
	end := company.SettleRun{Run: run.ID}
	var past agent.Past
	leave, err := s.Crashes.Enter("settling "+string(run.ID), run.ID.Task())
	if err == nil {
		past, err = agent.LookBack(ctx, unheld{s.Ledger, run.ID})
		leave()
	}
	switch company.CodeOf(err) {
	case "":
		if end.Outcome.Journal, _, err = s.Ledger.SealJournal(ctx, run.ID); err != nil {
			return end, err
		}
	case company.ELedger, company.ECrash:
		past = agent.Past{Spent: run.Reserved}
	default:
		return end, err
	}
	end.Outcome.Spent = past.Spent
	end.Outcome.Turns = past.Turns
	end.Outcome.Models = past.ByModel
	end.Outcome.Heard = past.Heard
	return end, salvageWork(ctx, s.Work, s.Logger, task, run, &end.Outcome)
}

// salvageWork adds the work of a cut-off run to its outcome. Work that cannot be taken stays in the run's
// repository, and the run ends without it. An error means that no work can be taken now (cancelled, full disk),
// and the run is settled later.
func salvageWork(
	ctx context.Context, by sandbox.Salvager, log *slog.Logger, task *company.Task, run *company.Run,
	out *company.RunEnded,
) error {
	var work sandbox.Salvaged
	err := company.Guard("taking the work of "+string(run.ID), func() (err error) {
		work, err = by.TakeWork(ctx, task, run)
		return err
	})
	switch {
	case err == nil:
		out.Head = work.Head
		out.Branch = work.Branch
		out.Changes = work.Changes
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return err
	default:
		log.WarnContext(ctx, "work of a run that was cut off not taken", "run_id", run.ID, "err", err)
	}
	return nil
}

// SetJournalAside moves the journal of a run that has ended to a file in the run's folder if it is damaged. Otherwise
// each reader of all journals would meet it again.
func SetJournalAside(ctx context.Context, from *ledger.Ledger, runs *safedir.Folder, run company.RunID) error {
	if _, err := agent.LookBack(ctx, unheld{from, run}); company.CodeOf(err) != company.ELedger {
		return err
	}
	file, err := runfiles.OpenRunLog(runs, run, "damaged-journal.ndjson")
	if err != nil {
		return err
	}
	if err = from.CopyJournal(ctx, run, file); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return from.DropJournal(ctx, run)
}

// unheld reads the journal of a run without a holder.
type unheld struct {
	ledger *ledger.Ledger
	run    company.RunID
}

func (u unheld) Read(ctx context.Context, fn func(n int, kind string, data json.RawMessage) error) error {
	return u.ledger.ReadJournal(ctx, u.run, func(rec ledger.Record) error { return fn(rec.N, rec.Kind, rec.Data) })
}
