package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"company/internal/bus"
	"company/internal/company"
)

// A holder stores several records as one message of the bus, a JSON array, with one sync.
// A single record is a JSON object.

const (
	// envelope is an upper bound for the fields of a record besides its data, in bytes.
	envelope = 1024
	// mostWaiting limits the size of the pending records, in bytes.
	mostWaiting = 64 << 10
)

// Append stores the pending records and a new one behind them, and returns the number of the new
// record. The data is stored as JSON. EStale is permanent: the holder must stop. After EBus the
// outcome is unknown. The next Append finds out, and the same record appended again is stored once.
func (j *Journal) Append(ctx context.Context, kind string, data any) (seq int, err error) {
	rec, err := j.makeRecord(kind, data)
	if err != nil {
		return 0, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.stale != nil {
		return 0, j.stale
	}
	if j.sizeOfWaiting()+len(rec.Data) > bus.MaxRecord-mostWaiting {
		if err := j.storeWaiting(ctx); err != nil {
			return 0, err
		}
	}
	j.waiting = append(j.waiting, rec)
	if err := j.storeWaiting(ctx); err != nil {
		j.waiting = j.waiting[:len(j.waiting)-1] // the caller may append it again
		return 0, err
	}
	return j.n, nil
}

// AppendLater adds a pending record, which is stored with the next record, by Flush, or by the seal. A
// holder that dies before then loses it. So use it only for work that the next holder repeats with the
// same result, and on which no state outside the run depends. It returns EStale and EBus like Append
// if pending records must be stored first.
func (j *Journal) AppendLater(ctx context.Context, kind string, data any) error {
	rec, err := j.makeRecord(kind, data)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.stale != nil {
		return j.stale
	}
	if j.sizeOfWaiting()+len(rec.Data) > mostWaiting {
		if err := j.storeWaiting(ctx); err != nil {
			return err
		}
	}
	j.waiting = append(j.waiting, rec)
	return nil
}

// Flush stores the pending records. It returns EStale and EBus like Append.
func (j *Journal) Flush(ctx context.Context) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.waiting) > 0 && j.stale != nil {
		return j.stale
	}
	return j.storeWaiting(ctx)
}

func (j *Journal) makeRecord(kind string, data any) (rec Record, err error) {
	rec = Record{Time: j.ledger.opts.Clock().UTC().Round(0), Fence: j.fence, Kind: kind}
	if data != nil {
		if rec.Data, err = json.Marshal(data); err != nil {
			return rec, company.E(company.EInvalid, "cannot encode a journal record as JSON").Wrap(err)
		}
	}
	if len(rec.Data) > bus.MaxRecord-envelope {
		return rec, company.E(company.EInvalid, fmt.Sprintf("journal record too large: %d bytes", len(rec.Data))).
			Fix("put large values into a blob").Wrap(bus.ErrTooLarge)
	}
	return rec, nil
}

// sizeOfWaiting returns an upper bound for the size of the pending records, in bytes. The caller holds
// mu.
func (j *Journal) sizeOfWaiting() int {
	n := 0
	for _, rec := range j.waiting {
		n += len(rec.Data) + envelope
	}
	return n
}

// storeWaiting stores the pending records. The caller holds mu.
func (j *Journal) storeWaiting(ctx context.Context) error {
	for len(j.waiting) > 0 {
		if err := j.tryWaiting(ctx); err != nil {
			return err
		}
	}
	return nil
}

// tryWaiting tries once to store the pending records after the last known one. If it returns nil, some
// may still be pending, because an earlier append of this holder was stored after all. They go after
// it.
func (j *Journal) tryWaiting(ctx context.Context) error {
	group := j.numberWaiting()
	text, err := encodeRecords(group)
	if err != nil {
		return err
	}
	j.tries++
	id := j.recordPrefix() + strconv.Itoa(j.tries) // unique, or a different record would be taken for a repeat
	at, err := j.ledger.bus.Log().Append(ctx, j.subject, text, j.last, id)
	if err == nil {
		j.noteStored(group, at)
		j.waiting = nil
		return nil
	}
	if !errors.Is(err, bus.ErrConflict) && !errors.Is(err, bus.ErrUnknown) {
		return busError("append to "+j.subject, err)
	}

	// Do not retry blindly. The log may hold our records, those of another
	// writer, or no new record.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBackTimeout)
	defer cancel()
	last, message, readErr := j.ledger.lastRecord(ctx, j.subject)
	switch {
	case readErr != nil:
		return errors.Join(readErr, busError("append to "+j.subject, err))
	case message.Seq == j.last: // not stored, or not yet
		return busError("append to "+j.subject, err)
	case !strings.HasPrefix(message.ID, j.recordPrefix()):
		j.stale = j.staleBy(last)
		return j.stale
	}
	found, err := decodeRecords(message)
	if err != nil {
		return err
	}
	j.noteStored(found, message.Seq)
	// A different id of ours belongs to an earlier append whose answer was lost.
	same := 0
	for same < len(found) && same < len(j.waiting) && found[same].saysAs(j.waiting[same]) {
		same++
	}
	j.waiting = j.waiting[same:]
	return nil
}

// numberWaiting returns the pending records, numbered after the last stored one. The caller holds mu.
func (j *Journal) numberWaiting() []Record {
	group := make([]Record, len(j.waiting))
	for i, rec := range j.waiting {
		rec.N = j.n + 1 + i
		group[i] = rec
	}
	return group
}

// noteStored updates the journal's state after records were stored at sequence at. The caller holds
// mu.
func (j *Journal) noteStored(group []Record, at uint64) {
	j.n, j.last = group[len(group)-1].N, at
}

// saysAs reports whether two records have the same kind and data.
func (r Record) saysAs(other Record) bool {
	return r.Kind == other.Kind && bytes.Equal(r.Data, other.Data)
}

// encodeRecords returns the records as the data of one message.
func encodeRecords(group []Record) ([]byte, error) {
	var text []byte
	var err error
	if len(group) == 1 {
		text, err = json.Marshal(group[0])
	} else {
		text, err = json.Marshal(group)
	}
	if err != nil {
		return nil, company.E(company.EInvalid, "cannot encode a journal record as JSON").Wrap(err)
	}
	return text, nil
}

// decodeRecords decodes the records of a message. It returns at least one record or an error.
func decodeRecords(message bus.Message) (group []Record, err error) {
	if bytes.HasPrefix(message.Data, []byte("[")) {
		err = json.Unmarshal(message.Data, &group)
		if err == nil && len(group) == 0 {
			err = errors.New("it has no record")
		}
	} else {
		group = make([]Record, 1)
		err = json.Unmarshal(message.Data, &group[0])
	}
	if err != nil {
		return nil, company.E(company.ELedger, "a record of "+message.Subject+" cannot be read").Fix(restoreHint).Wrap(err)
	}
	return group, nil
}
