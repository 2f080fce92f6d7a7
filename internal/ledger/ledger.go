// Package ledger keeps the company's event log and its runs' journals on a
// bus.
//
// The ledger is the one truth about decisions. It promises that the events of
// one command are stored together or not at all, that an acknowledged event
// survives kill -9, that event numbers have no gap, that a repeated command
// gets the events of the first time, and that no byte of it changes unnoticed:
// each event holds the hash of the one before, each record its own sum. The
// events of several commands may share a record, and so its sync (batch.go).
//
// A torn tail and damage are told apart: a record that was never acknowledged
// may be missing at the end, which is no loss. A gap, a wrong hash, or an end
// before a point that a snapshot knows of is ELedger, with the number of the
// first event that is wrong, and nothing is guessed.
//
// A run's journal is written by the holder of the run's lease alone, under the
// lease's fence (journal.go); several of its records may be one message of the bus, and
// so share its sync (journalwrite.go). A snapshot is a cache of the caller's state and
// of this package's index (snapshot.go).
//
// What events mean is not known here: package company folds them.
package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"syscall"
	"time"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/folder"
)

const subject = "ledger"

// Options of a ledger. The zero value works, without snapshots.
type Options struct {
	// Folder is where the snapshot is kept, in a file of that name; nil: nowhere.
	// The file is a cache: deleting it costs the next start a full replay.
	Folder *folder.Folder
	Logger *slog.Logger     // gets ignored snapshots; nil: none
	Clock  func() time.Time // stamps journal records; nil: time.Now
}

// Ledger is the event log of one office. All methods may be called by many
// goroutines.
type Ledger struct {
	bus  bus.Bus
	opts Options

	mu    sync.Mutex // held over an append, so that one process never races itself
	head  link
	index index
	start *header // of the snapshot that Open verified; nil: none
	// startState is the state of that snapshot, until it is asked for the first time.
	startState []byte
	unread     unreadEvents
}

// Head is the newest event.
type Head struct {
	Seq    uint64       `json:"seq"`     // 0: the ledger is empty
	Hash   company.Hash `json:"hash"`    // of the event
	LogSeq uint64       `json:"log_seq"` // of its record in the bus
}

// Open verifies the ledger and finds its head. With a good snapshot only the
// events since are verified; Verify does the rest.
func Open(ctx context.Context, b bus.Bus, opts Options) (*Ledger, error) {
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	l := &Ledger{bus: b, opts: opts, index: newIndex()}
	if err := l.resumeSnapshot(ctx); err != nil {
		return nil, err
	}
	if err := l.catchUp(ctx, l.unread.add); err != nil {
		return nil, err
	}
	return l, nil
}

// catchUp verifies what any writer appended since the head, and shows each record.
// The caller holds mu, or has not shared l yet.
func (l *Ledger) catchUp(ctx context.Context, show func(record, link)) error {
	err := l.bus.Log().Read(ctx, subject, l.head.Log+1, func(m bus.Message) error {
		rec, next, err := open(&l.head, m)
		if err != nil {
			return err
		}
		l.advanceHead(rec, next)
		show(rec, next)
		return nil
	})
	return busError("read the ledger", err)
}

func (l *Ledger) advanceHead(rec record, next link) {
	l.index.add(rec, next)
	l.head = next
}

// Head is the newest event that this handle knows of.
func (l *Ledger) Head() Head {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.head.asHead()
}

func (at link) asHead() Head { return Head{Seq: at.Seq, Hash: at.Hash, LogSeq: at.Log} }

// Command names a command of which the ledger keeps the events.
type Command struct {
	ID string
	// Wish is the hash of what it asks for; empty: its id alone tells it from
	// every other.
	Wish company.Hash
}

// Append stores the events of one command and returns them as stored: Seq,
// Prev and Time (now, in UTC) are filled in here. No drafts: nothing is stored.
//
// The command's id makes it idempotent: a repeat returns the events of the
// first time, whatever its drafts (the newest 65,536 commands are known).
// EConflict: another writer has appended; Head has moved on, decide again. Or
// another command was sent under this id. EBus: the outcome may be unknown; the
// same command may be sent again.
func (l *Ledger) Append(ctx context.Context, c Command, now time.Time, drafts []company.Event) ([]company.Event, error) {
	if c.ID == "" {
		return nil, company.E(company.EInvalid, "a command has no id")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if events, err := l.findEarlier(ctx, c); events != nil || err != nil || len(drafts) == 0 {
		return events, err
	}
	b := newBatch(l.head)
	events, err := b.Add(c, now, drafts)
	if err != nil {
		return nil, err
	}
	if err := l.appendBatch(ctx, b); err != nil {
		if company.CodeOf(err) == company.EConflict {
			// The other writer may have stored this very command.
			if events, findErr := l.findEarlier(ctx, c); events != nil || findErr != nil {
				return events, findErr
			}
		}
		return nil, err
	}
	return events, nil
}

// Earlier returns the events that a command left before; nil when it is new,
// or older than the newest 65,536. EConflict: the id was another command's.
func (l *Ledger) Earlier(ctx context.Context, c Command) ([]company.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.findEarlier(ctx, c)
}

func (l *Ledger) findEarlier(ctx context.Context, c Command) ([]company.Event, error) {
	at, ok := l.index.findCommand(c.ID)
	if !ok {
		return nil, nil
	}
	var found *record
	err := l.bus.Log().Read(ctx, subject, at, func(m bus.Message) error {
		if m.Seq != at {
			return damagedError(l.head.Seq, fmt.Sprintf("record %d is gone", at))
		}
		rec, _, err := open(nil, m)
		if err != nil {
			return err
		}
		found = &rec
		return errDone
	})
	switch {
	case found == nil && err == nil:
		return nil, damagedError(l.head.Seq, fmt.Sprintf("record %d is gone", at))
	case found == nil:
		return nil, busError("read the ledger", err)
	}
	return found.findEarlier(c) // nil: two ids share 64 bits of their hashes
}

// errDone ends a Read that has what it wants.
var errDone = errors.New("done")

// Read calls fn for every event from a number on that is stored when Read
// starts, in order, and verifies the chain on its way; what Open verified is not
// verified again by the first Read. An error of fn ends it
// and is returned as it is.
func (l *Ledger) Read(ctx context.Context, fromSeq uint64, fn func(company.Event) error) error {
	return l.read(ctx, fromSeq, l.bus.Log().Read, fn)
}

// Follow is Read that goes on with what comes later, until ctx ends; then it
// returns the cause.
func (l *Ledger) Follow(ctx context.Context, fromSeq uint64, fn func(company.Event) error) error {
	return l.read(ctx, fromSeq, l.bus.Log().Follow, fn)
}

type reader func(ctx context.Context, subject string, from uint64, fn func(bus.Message) error) error

func (l *Ledger) read(ctx context.Context, fromSeq uint64, read reader, fn func(company.Event) error) error {
	fromSeq = max(fromSeq, 1)
	l.mu.Lock()
	at := l.index.markBefore(fromSeq)
	verified, end, ok := l.unread.takeFrom(fromSeq)
	l.mu.Unlock()
	if ok {
		at = end
	}
	for _, e := range verified {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := fn(e); err != nil {
			return err
		}
	}
	var refused error
	err := read(ctx, subject, at.Log+1, func(m bus.Message) error {
		rec, next, err := open(&at, m)
		if err != nil {
			return err
		}
		at = next
		for _, e := range rec.Events {
			if e.Seq < fromSeq {
				continue
			}
			if refused = fn(e); refused != nil {
				return refused
			}
		}
		return nil
	})
	if refused != nil {
		return refused
	}
	return busError("read the ledger", err)
}

// busError gives errors of the bus a code; those that have one keep it, and
// the end of the caller's own context stays what it is.
func busError(op string, err error) error {
	var coded *company.Error
	switch {
	case err == nil, errors.As(err, &coded),
		errors.Is(err, context.Canceled) && !errors.Is(err, bus.ErrUnknown):
		return err
	}
	e := company.E(company.EBus, "the bus did not do its part").Wrap(err)
	e.Op, e.Class = op, company.Recoverable
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		e = e.Fix("make room on the office's disk, then try again")
	}
	return e
}
