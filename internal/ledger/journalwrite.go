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

// A holder stores several records as one message of the bus, a JSON array, with one wait
// for the disk. A record by itself is a JSON object, as in journals of older versions.

const (
	// envelope is more than the fields of a record take besides its data.
	envelope = 1024
	// mostWaiting bounds the data of the records that wait, in bytes.
	mostWaiting = 64 << 10
)

// Append adds a record behind those that wait, stores them all and returns the record's
// number. The data is stored as JSON. EStale is for good: the holder must stop. EBus means
// that the outcome is unknown: the next Append finds out, and the same record appended again
// is stored once.
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
		j.waiting = j.waiting[:len(j.waiting)-1] // the caller appends it again
		return 0, err
	}
	return j.n, nil
}

// AppendLater adds a record that is stored with the next one, by Flush, or by the seal. A
// holder that dies before loses it, so it is for what the next holder does again
// and finds the same: nothing outside of the run may rest on it. EStale, EBus: as of Append,
// where records that wait have to be stored first.
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

// Flush stores the records that wait. EStale, EBus: as of Append.
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
			return rec, company.E(company.EInvalid, "a journal record has no JSON form").Wrap(err)
		}
	}
	if len(rec.Data) > bus.MaxRecord-envelope {
		return rec, company.E(company.EInvalid, fmt.Sprintf("a journal record of %d bytes", len(rec.Data))).
			Fix("put what is large into a blob").Wrap(bus.ErrTooLarge)
	}
	return rec, nil
}

// sizeOfWaiting is the bytes that the waiting records take at most. The caller holds mu.
func (j *Journal) sizeOfWaiting() int {
	n := 0
	for _, rec := range j.waiting {
		n += len(rec.Data) + envelope
	}
	return n
}

// storeWaiting stores the records that wait. The caller holds mu.
func (j *Journal) storeWaiting(ctx context.Context) error {
	for len(j.waiting) > 0 {
		if err := j.tryWaiting(ctx); err != nil {
			return err
		}
	}
	return nil
}

// tryWaiting tries once to store the records that wait behind the last known one. Without an
// error some of them may still wait: an earlier record of ours turned up, and they go
// behind it.
func (j *Journal) tryWaiting(ctx context.Context) error {
	group := j.numberWaiting()
	text, err := encodeRecords(group)
	if err != nil {
		return err
	}
	j.tries++
	id := j.recordPrefix() + strconv.Itoa(j.tries) // never used twice, or a repeat would pass for another record
	at, err := j.ledger.bus.Log().Append(ctx, j.subject, text, j.last, id)
	if err == nil {
		j.noteStored(group, at)
		j.waiting = nil
		return nil
	}
	if !errors.Is(err, bus.ErrConflict) && !errors.Is(err, bus.ErrUnknown) {
		return busError("append to "+j.subject, err)
	}

	// Never a blind retry: either records of ours are there, or another
	// writer's, or nothing has happened.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBackTimeout)
	defer cancel()
	last, m, readErr := j.ledger.lastRecord(ctx, j.subject)
	switch {
	case readErr != nil:
		return errors.Join(readErr, busError("append to "+j.subject, err))
	case m.Seq == j.last: // not stored, or not yet
		return busError("append to "+j.subject, err)
	case !strings.HasPrefix(m.ID, j.recordPrefix()):
		j.stale = j.staleBy(last)
		return j.stale
	}
	found, err := decodeRecords(m)
	if err != nil {
		return err
	}
	j.noteStored(found, m.Seq)
	// Another id of ours is of an append whose answer was lost.
	same := 0
	for same < len(found) && same < len(j.waiting) && found[same].saysAs(j.waiting[same]) {
		same++
	}
	j.waiting = j.waiting[same:]
	return nil
}

// numberWaiting is the records that wait, numbered behind the last one. The caller holds mu.
func (j *Journal) numberWaiting() []Record {
	group := make([]Record, len(j.waiting))
	for i, rec := range j.waiting {
		rec.N = j.n + 1 + i
		group[i] = rec
	}
	return group
}

// noteStored notes records that are in the bus now. The caller holds mu.
func (j *Journal) noteStored(group []Record, at uint64) {
	j.n, j.last = group[len(group)-1].N, at
	for _, rec := range group {
		j.past.add(rec)
	}
}

// saysAs reports whether two records have the same content.
func (r Record) saysAs(other Record) bool {
	return r.Kind == other.Kind && bytes.Equal(r.Data, other.Data)
}

// encodeRecords is the message of records.
func encodeRecords(group []Record) ([]byte, error) {
	var text []byte
	var err error
	if len(group) == 1 {
		text, err = json.Marshal(group[0])
	} else {
		text, err = json.Marshal(group)
	}
	if err != nil {
		return nil, company.E(company.EInvalid, "a journal record has no JSON form").Wrap(err)
	}
	return text, nil
}

// decodeRecords reads the records of a message, one at least.
func decodeRecords(m bus.Message) (group []Record, err error) {
	if bytes.HasPrefix(m.Data, []byte("[")) {
		err = json.Unmarshal(m.Data, &group)
		if err == nil && len(group) == 0 {
			err = errors.New("it holds none")
		}
	} else {
		group = make([]Record, 1)
		err = json.Unmarshal(m.Data, &group[0])
	}
	if err != nil {
		return nil, company.E(company.ELedger, "a record of "+m.Subject+" cannot be read").Fix(repairHint).Wrap(err)
	}
	return group, nil
}
