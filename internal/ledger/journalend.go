package ledger

import (
	"context"
	"fmt"

	"company/internal/company"
)

// Read calls fn for every record of the run so far, including the records of earlier holders. It
// stores the pending records first.
func (j *Journal) Read(ctx context.Context, fn func(Record) error) error {
	j.mu.Lock()
	var err error
	if j.stale == nil {
		err = j.storeWaiting(ctx)
	}
	j.mu.Unlock()
	if err != nil {
		return err
	}
	return j.ledger.ReadJournal(ctx, j.run, fn)
}

// Seal ends the journal and stores its records as one blob, like SealJournal. It may be repeated and
// returns the same hash. It returns EStale if another holder has the journal.
func (j *Journal) Seal(ctx context.Context) (company.Hash, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.closeSelf(ctx); err != nil || j.sealed != "" {
		return j.sealed, err
	}
	hash, _, err := j.ledger.putJournal(ctx, j.run)
	if err == nil {
		j.sealed = hash
	}
	return hash, err
}

// closeSelf stores the pending records and the seal. The caller holds mu.
func (j *Journal) closeSelf(ctx context.Context) error {
	switch {
	case j.closed:
		return nil
	case j.stale != nil:
		return j.stale
	}
	rec, err := j.makeRecord(kindSealed, nil)
	if err != nil {
		return err
	}
	j.waiting = append(j.waiting, rec)
	err = j.storeWaiting(ctx)
	if company.CodeOf(err) == company.EBus && ctx.Err() == nil { // the answer may be lost
		err = j.storeWaiting(ctx)
	}
	if err != nil {
		j.waiting = j.waiting[:len(j.waiting)-1] // the caller may try again
		return err
	}
	j.closed, j.stale = true, j.staleBy(rec)
	return nil
}

// Purge removes the records of a journal that was sealed here, like PurgeJournal. The caller must know
// that the run has ended, so that no other holder will open the journal.
func (j *Journal) Purge(ctx context.Context) error {
	j.mu.Lock()
	sealed := j.sealed
	j.mu.Unlock()
	if sealed == "" {
		return j.ledger.PurgeJournal(ctx, j.run)
	}
	if err := j.ledger.VerifyBlob(ctx, sealed); err != nil {
		return fmt.Errorf("purge the journal of %s: %w", j.run, err)
	}
	return busError("purge "+j.subject, j.ledger.bus.Log().Purge(ctx, j.subject))
}
