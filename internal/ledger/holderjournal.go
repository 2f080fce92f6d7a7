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

// The holder of a journal has written its records itself, or has read the records of
// earlier holders once. It keeps them in memory, so that reading and sealing the journal
// need not read them from the bus again.

// maxHeld limits the data of the records that a holder keeps in memory, in bytes. A longer journal is
// read from the bus.
const maxHeld = 32 << 20

// heldRecords holds the records of a journal from the first one on. The zero value is incomplete and
// holds no records.
type heldRecords struct {
	complete bool // no record up to the last one is missing
	records  []Record
	bytes    int
}

// add keeps the next record. It drops all records if there is a gap or if maxHeld is exceeded.
func (h *heldRecords) add(rec Record) {
	switch {
	case !h.complete:
	case rec.N != len(h.records)+1, h.bytes+len(rec.Data) > maxHeld:
		*h = heldRecords{}
	default:
		h.records, h.bytes = append(h.records, rec), h.bytes+len(rec.Data)
	}
}

// Read calls fn for every record of the run so far, including the records of earlier holders. It
// stores the pending records first.
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

// Seal ends the journal and stores its records as one blob, like SealJournal. It may be repeated and
// returns the same hash. It returns EStale if another holder has the journal.
func (j *Journal) Seal(ctx context.Context) (company.Hash, error) {
	return j.SealBeside(ctx, func(company.Hash) error { return nil })
}

// SealBeside does the same as Seal. It calls beside with the hash of the blob while it seals the
// journal and stores the blob. So all three writes share the wait for the disk. If the hash turns out
// to be different, beside is called again. If not all records are in memory, beside is only called
// after the blob is stored. Data that beside stores must have no effect if SealBeside fails.
// SealBeside returns the error of beside.
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
		if j.past.complete { // no record of another holder came in between
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

// HashBlob returns the hash that a blob with these bytes has.
func HashBlob(data []byte) company.Hash {
	sum := sha256.Sum256(data)
	return company.Hash(hex.EncodeToString(sum[:]))
}

// closeSelf appends the pending records and the seal, unless the journal is sealed already. The caller
// holds mu.
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
	// A seal without records has the same id in every process. With records of ours the id is our own.
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
	j.closed = true
	j.stale = j.staleBy(rec)
	j.waiting = nil
	return nil
}

// closeAgain seals the journal after an append that failed or whose outcome is unknown. Records that
// this holder has stored belong to the journal. The caller holds mu.
func (j *Journal) closeAgain(ctx context.Context, id string) error {
	j.past = heldRecords{}
	last, message, err := j.ledger.lastRecord(ctx, j.subject)
	if err != nil {
		return err
	}
	own := strings.HasPrefix(message.ID, j.recordPrefix())
	switch {
	case message.ID == id: // it was stored
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

// encodeSealed returns the blob of all records, held and pending. The caller holds mu.
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
