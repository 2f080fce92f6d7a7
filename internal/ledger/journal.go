package ledger

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"company/internal/bus"
	"company/internal/company"
)

const (
	journalPrefix = "run."
	kindOpened    = "opened" // a holder's first record
	kindSealed    = "sealed" // a holder's last record; never shown to readers
)

// Record is one entry of a run's journal.
type Record struct {
	N     int             `json:"n"` // from 1; gapless but for seals, which readers are not shown
	Time  time.Time       `json:"time"`
	Fence uint64          `json:"fence"` // of the holder that wrote it
	Kind  string          `json:"kind"`
	Data  json.RawMessage `json:"data,omitempty"`
}

// Journal is the right to write a run's journal under one fence. An opening
// with a higher fence takes the right away: the next Append here is EStale, and
// so is every one after it.
type Journal struct {
	ledger  *Ledger
	run     company.RunID
	subject string
	fence   uint64
	nonce   string // tells two holders of one fence apart

	mu    sync.Mutex
	n     int    // number of the last record
	last  uint64 // its sequence in the bus
	tries int
	stale error // set once, for good

	past   heldRecords  // of the whole journal, where they were all seen here
	closed bool         // its seal is written
	sealed company.Hash // the blob that it was sealed into
}

// OpenJournal takes the right to write a run's journal, by a first record
// opened{fence}. EStale: a higher fence is there, or this fence has sealed it.
//
// A seal keeps out the holder until then, and no holder with a higher fence. A
// process may die between the seal and the event that ends the run: the run is
// then claimed anew, and goes on in this journal to the same end. A run that
// has ended gives no claim.
func (l *Ledger) OpenJournal(ctx context.Context, run company.RunID, fence uint64) (*Journal, error) {
	if !run.Valid() || fence == 0 {
		return nil, company.E(company.EInvalid, fmt.Sprintf("no journal for run %q with fence %d", run, fence))
	}
	j := &Journal{ledger: l, run: run, subject: journalPrefix + string(run), fence: fence, nonce: rand.Text()}
	for {
		rec, m, err := l.lastRecord(ctx, j.subject)
		if err != nil {
			return nil, err
		}
		if rec.Fence > fence || rec.Kind == kindSealed && rec.Fence == fence {
			return nil, j.staleBy(rec)
		}
		j.n, j.last = rec.N, m.Seq
		j.past = heldRecords{complete: rec.N == 0}
		_, err = j.Append(ctx, kindOpened, nil)
		if company.CodeOf(err) == company.EStale && ctx.Err() == nil {
			// An older holder wrote once more in between; or a newer one did,
			// which the next look shows.
			j.stale = nil
			continue
		}
		if err != nil {
			return nil, err
		}
		return j, nil
	}
}

// lastRecord is the newest record of a journal; zero if it has none.
func (l *Ledger) lastRecord(ctx context.Context, subject string) (Record, bus.Message, error) {
	m, err := l.bus.Log().Last(ctx, subject)
	if errors.Is(err, bus.ErrNotFound) {
		return Record{}, bus.Message{}, nil
	}
	if err != nil {
		return Record{}, m, busError("read "+subject, err)
	}
	rec, err := decodeRecord(m)
	return rec, m, err
}

func decodeRecord(m bus.Message) (Record, error) {
	var rec Record
	if err := json.Unmarshal(m.Data, &rec); err != nil {
		return rec, company.E(company.ELedger, "a record of "+m.Subject+" cannot be read").Wrap(err)
	}
	return rec, nil
}

func (j *Journal) staleBy(rec Record) error {
	why := fmt.Sprintf("fence %d is at work, this one is %d", rec.Fence, j.fence)
	switch {
	case rec.Kind == kindSealed:
		why = "the run has ended and its journal is sealed"
	case rec.N == 0:
		why = "the journal has been purged"
	case rec.Fence == j.fence:
		why = fmt.Sprintf("another holder writes under the same fence %d", j.fence)
	}
	e := company.E(company.EStale, "the journal of run "+string(j.run)+" belongs to another holder").Because(why)
	e.RunID = j.run
	return e
}

// Append adds a record and returns its number. The data is stored as JSON.
// EStale is for good: the holder must stop. EBus means that the outcome is
// unknown: the next Append finds out, and the same record appended again is
// stored once.
func (j *Journal) Append(ctx context.Context, kind string, data any) (seq int, err error) {
	rec := Record{Time: j.ledger.opts.Clock().UTC().Round(0), Fence: j.fence, Kind: kind}
	if data != nil {
		if rec.Data, err = json.Marshal(data); err != nil {
			return 0, company.E(company.EInvalid, "a journal record has no JSON form").Wrap(err)
		}
	}
	if len(rec.Data) > bus.MaxRecord-envelope {
		return 0, company.E(company.EInvalid, fmt.Sprintf("a journal record of %d bytes", len(rec.Data))).
			Fix("put what is large into a blob").Wrap(bus.ErrTooLarge)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.stale != nil {
		return 0, j.stale
	}
	for {
		stored, err := j.write(ctx, rec)
		if stored || err != nil {
			return j.n, err
		}
	}
}

// envelope is more than the fields of a record take besides its data.
const envelope = 1024

// write tries once, as the record after the last known one. Neither stored
// nor an error: an earlier record of ours turned up; try behind it.
func (j *Journal) write(ctx context.Context, rec Record) (stored bool, err error) {
	rec.N = j.n + 1
	text, err := json.Marshal(rec)
	if err != nil {
		return false, company.E(company.EInvalid, "a journal record has no JSON form").Wrap(err)
	}
	j.tries++
	id := j.recordPrefix() + strconv.Itoa(j.tries) // never used twice, or a repeat would pass for another record
	at, err := j.ledger.bus.Log().Append(ctx, j.subject, text, j.last, id)
	if err == nil {
		j.n, j.last = rec.N, at
		j.past.add(rec)
		return true, nil
	}
	if !errors.Is(err, bus.ErrConflict) && !errors.Is(err, bus.ErrUnknown) {
		return false, busError("append to "+j.subject, err)
	}

	// Never a blind retry: either a record of ours is there, or another
	// writer's, or nothing has happened.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBackTimeout)
	defer cancel()
	last, m, readErr := j.ledger.lastRecord(ctx, j.subject)
	switch {
	case readErr != nil:
		return false, errors.Join(readErr, busError("append to "+j.subject, err))
	case m.Seq == j.last: // not stored, or not yet
		return false, busError("append to "+j.subject, err)
	case !strings.HasPrefix(m.ID, j.recordPrefix()):
		j.stale = j.staleBy(last)
		return false, j.stale
	}
	// Another id of ours is of an append whose answer was lost.
	same := m.ID == id || last.Kind == rec.Kind && bytes.Equal(last.Data, rec.Data)
	j.n, j.last = last.N, m.Seq
	j.past.add(last)
	return same, nil
}

// recordPrefix begins the ids of all records of this holder.
func (j *Journal) recordPrefix() string { return fmt.Sprintf("%s/%d/%s/", j.run, j.fence, j.nonce) }

// ReadJournal calls fn for every record of a run's journal that has not been
// purged, in order. An error of fn ends it and is returned as it is.
func (l *Ledger) ReadJournal(ctx context.Context, run company.RunID, fn func(Record) error) error {
	return l.readWithSeals(ctx, run, func(rec Record) error { return skipSeal(rec, fn) })
}

// skipSeal shows a record to a reader. Seals are not shown.
func skipSeal(rec Record, fn func(Record) error) error {
	if rec.Kind == kindSealed {
		return nil
	}
	return fn(rec)
}

// readWithSeals is ReadJournal with the seals.
func (l *Ledger) readWithSeals(ctx context.Context, run company.RunID, fn func(Record) error) error {
	var refused error
	n := 0
	err := l.bus.Log().Read(ctx, journalPrefix+string(run), 0, func(m bus.Message) error {
		rec, err := decodeRecord(m)
		if err != nil {
			return err
		}
		if n++; rec.N != n {
			return company.E(company.ELedger, fmt.Sprintf("the journal of run %s is damaged at record %d", run, n)).
				Because(fmt.Sprintf("record %d stands in its place", rec.N))
		}
		refused = fn(rec)
		return refused
	})
	if refused != nil {
		return refused
	}
	return busError("read the journal of "+string(run), err)
}

// FollowJournal is ReadJournal that begins after a number of records and goes on with
// what comes later, until ctx ends. It does not tell that a journal was sealed or
// purged: whether a run has ended, the ledger says.
func (l *Ledger) FollowJournal(ctx context.Context, run company.RunID, after int, fn func(Record) error) error {
	var refused error
	err := l.bus.Log().Follow(ctx, journalPrefix+string(run), 0, func(m bus.Message) error {
		rec, err := decodeRecord(m)
		if err != nil || rec.N <= after || rec.Kind == kindSealed {
			return err
		}
		refused = fn(rec)
		return refused
	})
	if refused != nil {
		return refused
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return busError("follow the journal of "+string(run), err)
}

// LastRecorded is when the newest record of a run's journal was written; zero:
// the journal has none.
func (l *Ledger) LastRecorded(ctx context.Context, run company.RunID) (time.Time, error) {
	rec, _, err := l.lastRecord(ctx, journalPrefix+string(run))
	return rec.Time, err
}

// Journals lists the runs that have a journal which is not purged.
func (l *Ledger) Journals(ctx context.Context) ([]company.RunID, error) {
	subjects, err := l.bus.Log().Subjects(ctx)
	if err != nil {
		return nil, busError("list journals", err)
	}
	runs := make([]company.RunID, len(subjects))
	for i, s := range subjects {
		runs[i] = company.RunID(strings.TrimPrefix(s, journalPrefix))
	}
	return runs, nil
}
