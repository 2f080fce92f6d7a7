package session

import (
	"context"
	"encoding/json"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/ledger"
)

// Settlement closes the journal of a run that has no holder and no next one,
// because its task has ended. It returns the run's end, with the spending that
// the journal has. A journal that cannot be read any more counts as the run's
// whole grant: the record is never less than the real spending.
func Settlement(ctx context.Context, l *ledger.Ledger, r *company.Run) (company.SettleRun, error) {
	end := company.SettleRun{Run: r.ID}
	var err error
	end.Spent, err = agent.Spent(ctx, unheld{l, r.ID})
	if company.CodeOf(err) == company.ELedger {
		end.Spent, err = r.Reserved, nil
	} else if err == nil {
		end.Journal, _, err = l.SealJournal(ctx, r.ID)
	}
	return end, err
}

// unheld is the journal of a run without a holder: it is only read.
type unheld struct {
	ledger *ledger.Ledger
	run    company.RunID
}

func (u unheld) Read(ctx context.Context, fn func(n int, kind string, data json.RawMessage) error) error {
	return u.ledger.ReadJournal(ctx, u.run, func(rec ledger.Record) error { return fn(rec.N, rec.Kind, rec.Data) })
}
