package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"company/internal/bus"
	"company/internal/company"
)

// The holder of a journal has written its records itself, or read those of an earlier
// holder once. It keeps them: to read, seal and purge the journal asks nothing of the
// bus that is known here.

// maxHeld bounds the records that a holder keeps, in bytes of their data. A longer
// journal is read from the bus.
const maxHeld = 32 << 20

// heldRecords are the first records of a journal. The zero value does not know them.
type heldRecords struct {
	complete bool // none is missing up to the last one
	records  []Record
	bytes    int
}

// add notes the next record of the journal.
func (h *heldRecords) add(rec Record) {
	switch {
	case !h.complete:
	case rec.N != len(h.records)+1, h.bytes+len(rec.Data) > maxHeld:
		*h = heldRecords{}
	default:
		h.records, h.bytes = append(h.records, rec), h.bytes+len(rec.Data)
	}
}

// Read calls fn for every record of the run so far, older holders' too.
func (j *Journal) Read(ctx context.Context, fn func(Record) error) error {
	j.mu.Lock()
	held, last := j.past, j.n
	j.mu.Unlock()
	if held.complete {
		for _, rec := range held.records {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if err := skipSeal(rec, fn); err != nil {
				return err
			}
		}
		return nil
	}
	read := heldRecords{complete: true}
	err := j.ledger.readWithSeals(ctx, j.run, func(rec Record) error {
		read.add(rec)
		return skipSeal(rec, fn)
	})
	j.mu.Lock()
	defer j.mu.Unlock()
	if err == nil && j.n == last && len(read.records) == last {
		j.past = read
	}
	return err
}

// Seal ends the journal: it can be written no more, and its records are kept as one
// blob, as SealJournal does. It may be repeated, with the same answer. EStale: another
// holder has the journal.
func (j *Journal) Seal(ctx context.Context) (company.Hash, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.sealed != "":
		return j.sealed, nil
	case j.closed:
	case j.stale != nil:
		return "", j.stale
	default:
		if err := j.closeSelf(ctx); err != nil {
			return "", err
		}
	}
	hash, err := j.putRecords(ctx)
	if err == nil {
		j.sealed = hash
	}
	return hash, err
}

// closeSelf writes the seal behind the last record. The caller holds mu.
func (j *Journal) closeSelf(ctx context.Context) error {
	rec := Record{N: j.n + 1, Time: j.ledger.opts.Clock().UTC().Round(0), Fence: j.fence, Kind: kindSealed}
	text, err := json.Marshal(rec)
	if err != nil {
		return company.E(company.EInternal, "seal "+j.subject).Wrap(err)
	}
	_, err = j.ledger.bus.Log().Append(ctx, j.subject, text, j.last, sealID(j.run, j.last))
	if errors.Is(err, bus.ErrConflict) || errors.Is(err, bus.ErrUnknown) {
		// Another record is there, or may be. Those of this holder belong to the
		// journal.
		j.past = heldRecords{}
		last, m, readErr := j.ledger.lastRecord(ctx, j.subject)
		switch {
		case readErr != nil:
			return readErr
		case last.Kind != kindSealed && !strings.HasPrefix(m.ID, j.recordPrefix()), last.Fence > j.fence:
			j.stale = j.staleBy(last)
			return j.stale
		}
		err = j.ledger.closeJournal(ctx, j.run)
	}
	if err != nil {
		return busError("seal "+j.subject, err)
	}
	j.closed, j.stale = true, j.staleBy(rec)
	return nil
}

// putRecords keeps the records as a blob. The caller holds mu.
func (j *Journal) putRecords(ctx context.Context) (company.Hash, error) {
	if !j.past.complete {
		hash, _, err := j.ledger.putJournal(ctx, j.run)
		return hash, err
	}
	var lines bytes.Buffer
	encoder := newLineEncoder(&lines)
	for _, rec := range j.past.records {
		if err := skipSeal(rec, func(rec Record) error { return encoder.Encode(rec) }); err != nil {
			return "", company.E(company.EInternal, "seal "+j.subject).Wrap(err)
		}
	}
	hash, _, err := j.ledger.PutBlob(ctx, &lines)
	return hash, err
}

// Purge forgets the records of a journal that was sealed here, as PurgeJournal does.
// The caller knows that no other holder will open it: the run has ended.
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
