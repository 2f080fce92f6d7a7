package ledger

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
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

// repairHint is the advice where a journal cannot be read: the bus itself is whole.
const repairHint = "company stop, then company bus repair: the run goes on from the records before the damage"

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

	mu      sync.Mutex
	n       int      // number of the last record that is stored
	last    uint64   // its sequence in the bus
	waiting []Record // come after it, and are stored with the next one
	tries   int
	stale   error // set once, for good

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
	group, err := decodeRecords(m)
	if err != nil {
		return Record{}, m, err
	}
	return group[len(group)-1], m, nil
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
		group, err := decodeRecords(m)
		if err != nil {
			return err
		}
		for _, rec := range group {
			if n++; rec.N != n {
				return company.E(company.ELedger, fmt.Sprintf("the journal of run %s is damaged at record %d", run, n)).
					Because(fmt.Sprintf("record %d stands in its place", rec.N)).Fix(repairHint)
			}
			if refused = fn(rec); refused != nil {
				return refused
			}
		}
		return nil
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
		group, err := decodeRecords(m)
		if err != nil {
			return err
		}
		for _, rec := range group {
			if rec.N <= after || rec.Kind == kindSealed {
				continue
			}
			if refused = fn(rec); refused != nil {
				return refused
			}
		}
		return nil
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
