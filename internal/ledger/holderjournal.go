package ledger

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

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

// Read calls fn for every record of the run so far, older holders' too. Those that wait
// are stored first.
func (j *Journal) Read(ctx context.Context, fn func(Record) error) error {
	j.mu.Lock()
	if j.stale == nil {
		if err := j.storeWaiting(ctx); err != nil {
			j.mu.Unlock()
			return err
		}
	}
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
	return j.SealBeside(ctx, func(company.Hash) error { return nil })
}

// SealBeside is Seal, and calls beside with the hash of the blob before the journal is sealed
// or the blob is stored: the three wait for the disk together. What beside stores must mean
// nothing where SealBeside fails. Where the hash turns out to be another one, beside is
// called once more. Its error is returned.
func (j *Journal) SealBeside(ctx context.Context, beside func(company.Hash) error) (company.Hash, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.sealed != "":
		return j.sealed, beside(j.sealed)
	case !j.closed && j.stale != nil:
		return "", j.stale
	}
	early := company.Hash("")
	if j.past.complete {
		text, err := j.encodeSealed()
		if err != nil {
			return "", err
		}
		early = HashBlob(text)
		var together sync.WaitGroup
		var putErr, besideErr error
		together.Go(func() { _, _, putErr = j.ledger.PutBlob(ctx, bytes.NewReader(text)) })
		together.Go(func() { besideErr = beside(early) })
		closeErr := j.closeSelf(ctx)
		together.Wait()
		if err := cmp.Or(closeErr, putErr, besideErr); err != nil {
			return "", err
		}
		if j.past.complete { // no other holder's record was between
			j.sealed = early
			return early, nil
		}
	} else if err := j.closeSelf(ctx); err != nil {
		return "", err
	}
	hash, _, err := j.ledger.putJournal(ctx, j.run)
	if err != nil {
		return "", err
	}
	j.sealed = hash
	if hash == early {
		return hash, nil
	}
	return hash, beside(hash)
}

// HashBlob is the hash that a blob of these bytes has.
func HashBlob(data []byte) company.Hash {
	sum := sha256.Sum256(data)
	return company.Hash(hex.EncodeToString(sum[:]))
}

// closeSelf writes the records that wait and the seal behind the last record, unless it is
// written. The caller holds mu.
func (j *Journal) closeSelf(ctx context.Context) error {
	if j.closed {
		return nil
	}
	group := j.numberWaiting()
	rec := Record{N: j.n + len(group) + 1, Time: j.ledger.opts.Clock().UTC().Round(0), Fence: j.fence, Kind: kindSealed}
	text, err := encodeRecords(append(group, rec))
	if err != nil {
		return err
	}
	// The id of a seal alone is the same for every process that seals there. With records of ours it is our own.
	id := sealID(j.run, j.last)
	if len(group) > 0 {
		id = j.recordPrefix() + "sealed"
	}
	_, err = j.ledger.bus.Log().Append(ctx, j.subject, text, j.last, id)
	if errors.Is(err, bus.ErrConflict) || errors.Is(err, bus.ErrUnknown) {
		err = j.closeAgain(ctx, id)
	} else if err == nil {
		for _, rec := range group {
			j.past.add(rec)
		}
	}
	if err != nil {
		return busError("seal "+j.subject, err)
	}
	j.closed, j.stale, j.waiting = true, j.staleBy(rec), nil
	return nil
}

// closeAgain seals the journal where another record is there, or may be. Those of this
// holder belong to the journal. The caller holds mu.
func (j *Journal) closeAgain(ctx context.Context, id string) error {
	j.past = heldRecords{}
	last, m, err := j.ledger.lastRecord(ctx, j.subject)
	if err != nil {
		return err
	}
	own := strings.HasPrefix(m.ID, j.recordPrefix())
	switch {
	case m.ID == id: // it was stored
		return nil
	case last.Kind == kindSealed && len(j.waiting) > 0, last.Kind != kindSealed && !own, last.Fence > j.fence:
		j.stale = j.staleBy(last)
		return j.stale
	}
	if err := j.storeWaiting(ctx); err != nil {
		return err
	}
	return j.ledger.closeJournal(ctx, j.run)
}

// encodeSealed is the blob of the records, which are all held or wait. The caller holds mu.
func (j *Journal) encodeSealed() ([]byte, error) {
	var lines bytes.Buffer
	encoder := newLineEncoder(&lines)
	for _, rec := range append(slices.Clip(j.past.records), j.numberWaiting()...) {
		if err := skipSeal(rec, func(rec Record) error { return encoder.Encode(rec) }); err != nil {
			return nil, company.E(company.EInternal, "seal "+j.subject).Wrap(err)
		}
	}
	return lines.Bytes(), nil
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
