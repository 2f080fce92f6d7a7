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

// restoreHint is the advice if a journal cannot be read but the bus itself is intact.
var restoreHint = "company stop, then " + company.PutCopyBack("the office's state")

// Record is one entry of a run's journal.
type Record struct {
	N     int             `json:"n"` // from 1; readers see gaps only where seals are skipped
	Time  time.Time       `json:"time"`
	Fence uint64          `json:"fence"` // of the holder that wrote it
	Kind  string          `json:"kind"`
	Data  json.RawMessage `json:"data,omitempty"`
}

// Journal is the permission to write a run's journal under one fence. Opening the journal with a
// higher fence revokes it: every later Append here returns EStale.
type Journal struct {
	ledger  *Ledger
	run     company.RunID
	subject string
	fence   uint64
	nonce   string // distinguishes two holders of one fence

	mu      sync.Mutex
	n       int      // number of the last record that is stored
	last    uint64   // its sequence in the bus
	waiting []Record // records to be stored with the next one
	tries   int
	stale   error // never cleared once set

	closed bool         // its seal is written
	sealed company.Hash // the blob that it was sealed into
}

// OpenJournal acquires the permission to write a run's journal by appending a first record
// opened{fence}. It returns EStale if the journal has a higher fence, or if this fence has sealed it.
//
// A seal locks out the current holder, but no holder with a higher fence. A process may die between
// the seal and the event that ends the run. The run is then claimed again and continues in this
// journal to the same end. A run that has ended cannot be claimed.
func (l *Ledger) OpenJournal(ctx context.Context, run company.RunID, fence uint64) (*Journal, error) {
	if !run.Valid() || fence == 0 {
		return nil, company.E(company.EInvalid, fmt.Sprintf("no journal for run %q with fence %d", run, fence))
	}
	journal := &Journal{ledger: l, run: run, subject: journalPrefix + string(run), fence: fence, nonce: rand.Text()}
	for {
		rec, message, err := l.lastRecord(ctx, journal.subject)
		if err != nil {
			return nil, err
		}
		if rec.Fence > fence || rec.Kind == kindSealed && rec.Fence == fence {
			return nil, journal.staleBy(rec)
		}
		journal.n, journal.last = rec.N, message.Seq
		_, err = journal.Append(ctx, kindOpened, nil)
		if company.CodeOf(err) == company.EStale && ctx.Err() == nil {
			// Another holder wrote in the meantime. The next iteration shows
			// whether it is an older or a newer one.
			journal.stale = nil
			continue
		}
		if err != nil {
			return nil, err
		}
		return journal, nil
	}
}

// lastRecord returns the newest record of a journal, or the zero Record if the journal is empty.
func (l *Ledger) lastRecord(ctx context.Context, subject string) (Record, bus.Message, error) {
	message, err := l.bus.Log().Last(ctx, subject)
	if errors.Is(err, bus.ErrNotFound) {
		return Record{}, bus.Message{}, nil
	}
	if err != nil {
		return Record{}, message, busError("read "+subject, err)
	}
	group, err := decodeRecords(message)
	if err != nil {
		return Record{}, message, err
	}
	return group[len(group)-1], message, nil
}

func (j *Journal) staleBy(rec Record) error {
	reason := fmt.Sprintf("fence %d is at work, this one is %d", rec.Fence, j.fence)
	switch {
	case rec.Kind == kindSealed:
		reason = "the run has ended and its journal is sealed"
	case rec.N == 0:
		reason = "the journal has been purged"
	case rec.Fence == j.fence:
		reason = fmt.Sprintf("another holder writes under the same fence %d", j.fence)
	}
	fault := company.E(company.EStale, "the journal of run "+string(j.run)+" belongs to another holder").Because(reason)
	fault.RunID = j.run
	return fault
}

// recordPrefix returns the prefix of the ids of all messages of this holder.
func (j *Journal) recordPrefix() string { return fmt.Sprintf("%s/%d/%s/", j.run, j.fence, j.nonce) }

// ReadJournal calls fn for every record of a run's journal, in order. Purged records are gone. An
// error of fn ends the read and is returned unchanged.
func (l *Ledger) ReadJournal(ctx context.Context, run company.RunID, fn func(Record) error) error {
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
					Because(fmt.Sprintf("record %d stands in its place", rec.N)).Fix(restoreHint)
			}
			if rec.Kind == kindSealed {
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
	return busError("read the journal of "+string(run), err)
}

// FollowJournal calls fn for the records of a journal with numbers above after, and then for new
// records until ctx ends. It does not report that a journal was sealed or purged. The ledger shows
// whether a run has ended.
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

// LastRecorded returns the time of the newest record of a run's journal, or the zero time if the
// journal is empty.
func (l *Ledger) LastRecorded(ctx context.Context, run company.RunID) (time.Time, error) {
	rec, _, err := l.lastRecord(ctx, journalPrefix+string(run))
	return rec.Time, err
}

// Journals lists the runs that have a journal which has not been purged.
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
