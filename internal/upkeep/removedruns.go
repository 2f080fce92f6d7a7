package upkeep

import (
	"context"
	"time"

	"company/internal/company"
	"company/internal/ledger"
)

// removedRuns knows of which runs a cleanup has removed journals and results, although their
// tasks go on: a task had ended, was let go of, and was reopened. The ledger has all three; it
// is read when the first such run is asked for.
type removedRuns struct {
	ledger *ledger.Ledger
	state  *company.State
	before map[company.TaskID]time.Time // the newest reopening that came after a cleanup, once it was read
}

// isRemoved says whether a cleanup has removed what a run left. Where the ledger is damaged it is
// not known to.
func (a *removedRuns) isRemoved(ctx context.Context, r *company.Run) (bool, error) {
	if r == nil || !r.Ended || !r.EndedAt.Before(a.state.Office.Cleaned) {
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
	reopened, ok := a.before[r.ID.Task()]
	return ok && !r.EndedAt.After(reopened), nil
}

// readReopenings finds the tasks that were reopened after a cleanup had let go of them.
func (a *removedRuns) readReopenings(ctx context.Context) error {
	before := map[company.TaskID]time.Time{}
	var cleaned time.Time
	err := a.ledger.Read(ctx, 1, func(e company.Event) error {
		if e.Kind != (*company.OfficeCleaned)(nil).Kind() && e.Kind != (*company.TaskReopened)(nil).Kind() {
			return nil
		}
		d, err := company.Decode(e)
		switch d := d.(type) {
		case *company.OfficeCleaned:
			cleaned = d.Before
		case *company.TaskReopened:
			if d.LastWorked.Before(cleaned) {
				before[e.Task] = e.Time
			}
		}
		return err
	})
	if err == nil {
		a.before = before
	}
	return err
}
