package upkeep

import (
	"context"
	"time"

	"company/internal/company"
	"company/internal/ledger"
)

// removedRuns finds runs whose journals and results a cleanup removed although their tasks continue: the task ended,
// was cleaned up and was reopened. The ledger records all three. It is read on first use.
type removedRuns struct {
	ledger *ledger.Ledger
	state  *company.State
	before map[company.TaskID]time.Time // latest reopening after a cleanup, by task; nil until it is read
}

// isRemoved reports whether a cleanup removed the data of a run. It returns false if the ledger is damaged.
func (a *removedRuns) isRemoved(ctx context.Context, run *company.Run) (bool, error) {
	if run == nil || !run.Ended || !run.EndedAt.Before(a.state.Office.Cleaned) {
		return false, nil
	}
	if a.before == nil {
		if err := a.readReopenings(ctx); err != nil {
			if company.CodeOf(err) == company.ELedger {
				return false, nil
			}
			return false, err
		}
	}
	reopened, ok := a.before[run.ID.Task()]
	return ok && !run.EndedAt.After(reopened), nil
}

// readReopenings finds the tasks that were reopened after a cleanup.
func (a *removedRuns) readReopenings(ctx context.Context) error {
	before := map[company.TaskID]time.Time{}
	var cleaned time.Time
	err := a.ledger.Read(ctx, 1, func(event company.Event) error {
		if event.Kind != (*company.OfficeCleaned)(nil).Kind() && event.Kind != (*company.TaskReopened)(nil).Kind() {
			return nil
		}
		d, err := company.Decode(event)
		switch d := d.(type) {
		case *company.OfficeCleaned:
			cleaned = d.Before
		case *company.TaskReopened:
			if d.LastWorked.Before(cleaned) {
				before[event.Task] = event.Time
			}
		}
		return err
	})
	if err == nil {
		a.before = before
	}
	return err
}
