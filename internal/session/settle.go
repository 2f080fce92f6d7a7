package session

import (
	"context"
	"encoding/json"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/ledger"
)

// Settle ends a run of an ended task with the spending in its journal. A
// journal that cannot be read any more counts as the run's whole grant: the
// record is never less than the real spending.
func Settle(ctx context.Context, desk company.Decider, l *ledger.Ledger, r *company.Run) error {
	end := company.SettleRun{Run: r.ID}
	var err error
	end.Spent, err = agent.Spent(ctx, unheld{l, r.ID})
	if company.CodeOf(err) == company.ELedger {
		end.Spent = r.Reserved
	} else if err != nil {
		return err
	} else if end.Journal, _, err = l.SealJournal(ctx, r.ID); err != nil {
		return err
	}
	if _, err = desk.Do(ctx, company.Company, end); err != nil || end.Journal == "" {
		return err
	}
	return l.PurgeJournal(ctx, r.ID)
}

// unheld is the journal of a run without a holder: it is only read.
type unheld struct {
	ledger *ledger.Ledger
	run    company.RunID
}

func (u unheld) Append(context.Context, string, any) (int, error) {
	return 0, company.E(company.EStale, "no holder has run "+string(u.run))
}

func (u unheld) Read(ctx context.Context, fn func(n int, kind string, data json.RawMessage) error) error {
	return u.ledger.ReadJournal(ctx, u.run, func(rec ledger.Record) error { return fn(rec.N, rec.Kind, rec.Data) })
}
