// Package ledger keeps the company's event log and its runs' journals on a bus.
//
// The ledger is the only source of truth about decisions. It guarantees:
//   - The events of one command are stored together or not at all.
//   - An acknowledged event survives kill -9.
//   - Event numbers have no gap.
//   - A repeated command gets the events of the first time.
//   - Every change to a stored byte is detected: each event holds the hash of the
//     one before, and each record its own sum.
//
// The events of several commands may share a record and its sync (batch.go).
//
// A torn tail is not damage: a record that was never acknowledged may be missing at the end. Damage
// is a gap, a wrong hash, or an end before a point that a snapshot knows of. It is reported as
// ELedger with the number of the first wrong event. The package never guesses a repair.
//
// Only the holder of a run's lease writes the run's journal, under the lease's fence (journal.go).
// Several records of a journal may share a message of the bus and its sync (journalwrite.go). A
// snapshot is a cache of the caller's state and of this package's index (snapshot.go).
//
// This package does not interpret events. Package company folds them.
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
	"company/internal/lib/safedir"
)

const subject = "ledger"

// Options configures a ledger. The zero value works, without snapshots.
type Options struct {
	// Folder holds the snapshot, in a file with that name. A nil Folder disables snapshots.
	// The file is a cache: if it is deleted, the next start replays all events.
	Folder *safedir.Folder
	Logger *slog.Logger     // receives warnings about ignored snapshots; nil discards them
	Clock  func() time.Time // sets the times of journal records; nil means time.Now
}

// Ledger is the event log of one office. All methods are safe for concurrent use.
type Ledger struct {
	bus  bus.Bus
	opts Options

	mu    sync.Mutex // held during an append, so that appends of one process do not conflict
	head  link
	index index
	start *header // of the snapshot that Open verified, or nil
	// startState holds the state of that snapshot until the first LoadSnapshot.
	startState []byte
	unread     unreadEvents
}

// Head identifies the newest event.
type Head struct {
	Seq    uint64       `json:"seq"`     // 0 if the ledger is empty
	Hash   company.Hash `json:"hash"`    // of the event
	LogSeq uint64       `json:"log_seq"` // of its record in the bus
}

// Open verifies the ledger and finds its head. With a valid snapshot it verifies only the later
// events; Verify checks the whole ledger.
func Open(ctx context.Context, b bus.Bus, opts Options) (*Ledger, error) {
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	ledger := &Ledger{bus: b, opts: opts, index: newIndex()}
	if err := ledger.resumeSnapshot(ctx); err != nil {
		return nil, err
	}
	if err := ledger.catchUp(ctx, ledger.unread.add); err != nil {
		return nil, err
	}
	return ledger, nil
}

// catchUp verifies the records that any writer has appended after the head, and passes each to show.
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

// Head returns the newest event known to this handle.
func (l *Ledger) Head() Head {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.head.asHead()
}

func (at link) asHead() Head { return Head{Seq: at.Seq, Hash: at.Hash, LogSeq: at.Log} }

// Command identifies a command whose events the ledger stores.
type Command struct {
	ID string
	// Wish is the hash of the command's content. If it is empty, only the id
	// identifies the command.
	Wish company.Hash
}

// Append stores the events of one command and returns them as stored. It sets Seq, Prev and Time (now,
// in UTC). Without drafts it stores no events.
//
// The command's id makes it idempotent: a repeat returns the events of the first time and ignores its
// drafts. The newest 65,536 commands are recognized. Append returns EConflict if another writer has
// appended: Head has advanced, and the caller must decide again. It also returns EConflict if another
// command was sent under this id. After EBus the outcome may be unknown, and the same command may be
// sent again.
func (l *Ledger) Append(
	ctx context.Context, command Command, now time.Time, drafts []company.Event,
) ([]company.Event, error) {
	if command.ID == "" {
		return nil, company.E(company.EInvalid, "a command has no id")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if events, err := l.findEarlier(ctx, command); events != nil || err != nil || len(drafts) == 0 {
		return events, err
	}
	batch := newBatch(l.head)
	events, err := batch.Add(command, now, drafts)
	if err != nil {
		return nil, err
	}
	if err := l.appendBatch(ctx, batch); err != nil {
		if company.CodeOf(err) == company.EConflict {
			// The other writer may have stored this same command.
			if events, findErr := l.findEarlier(ctx, command); events != nil || findErr != nil {
				return events, findErr
			}
		}
		return nil, err
	}
	return events, nil
}

// Earlier returns the events that the command stored before. It returns nil if the command is new or
// not among the newest 65,536. It returns EConflict if the id belongs to another command.
func (l *Ledger) Earlier(ctx context.Context, command Command) ([]company.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.findEarlier(ctx, command)
}

func (l *Ledger) findEarlier(ctx context.Context, command Command) ([]company.Event, error) {
	at, ok := l.index.findCommand(command.ID)
	if !ok {
		return nil, nil
	}
	var found *record
	err := l.bus.Log().Read(ctx, subject, at, func(message bus.Message) error {
		if message.Seq != at {
			return damagedError(l.head.Seq, fmt.Sprintf("record %d is missing", at))
		}
		rec, _, err := open(nil, message)
		if err != nil {
			return err
		}
		found = &rec
		return errDone
	})
	switch {
	case found == nil && err == nil:
		return nil, damagedError(l.head.Seq, fmt.Sprintf("record %d is missing", at))
	case found == nil:
		return nil, busError("read the ledger", err)
	}
	return found.findEarlier(command) // nil if another id has the same 64 bits of its hash
}

// errDone ends a Read early, without an error.
var errDone = errors.New("done")

// Read calls fn in order for every event from fromSeq on that is stored when Read starts. It verifies
// the chain on the way, except the events that Open verified, which the first Read reuses. An error of
// fn ends the read and is returned unchanged.
func (l *Ledger) Read(ctx context.Context, fromSeq uint64, fn func(company.Event) error) error {
	return l.read(ctx, fromSeq, l.bus.Log().Read, fn)
}

// ReadTask calls fn for the events of one task, like Read. It reads the events of other tasks that lie
// between them.
func (l *Ledger) ReadTask(
	ctx context.Context, task company.TaskID, fromSeq uint64, fn func(company.Event) error,
) error {
	l.mu.Lock()
	known := l.index.tasks[task]
	l.mu.Unlock()
	if fromSeq = max(fromSeq, known.First); fromSeq > known.Last || known.Last == 0 {
		return nil
	}
	err := l.Read(ctx, fromSeq, func(event company.Event) error {
		if event.Task == task {
			if err := fn(event); err != nil {
				return err
			}
		}
		if event.Seq >= known.Last {
			return errDone
		}
		return nil
	})
	switch {
	case errors.Is(err, errDone):
		return nil
	case err == nil:
		return damagedError(known.Last, "the ledger ends before it")
	}
	return err
}

// Follow reads like Read and then waits for new events until ctx ends. It then returns the cause.
func (l *Ledger) Follow(ctx context.Context, fromSeq uint64, fn func(company.Event) error) error {
	return l.read(ctx, fromSeq, l.bus.Log().Follow, fn)
}

type reader func(ctx context.Context, subject string, from uint64, fn func(bus.Message) error) error

func (l *Ledger) read(ctx context.Context, fromSeq uint64, read reader, fn func(company.Event) error) error {
	fromSeq = max(fromSeq, 1)
	l.mu.Lock()
	link := l.index.markBefore(fromSeq)
	verified, end, ok := l.unread.takeFrom(fromSeq)
	l.mu.Unlock()
	if ok {
		link = end
	}
	for _, event := range verified {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := fn(event); err != nil {
			return err
		}
	}
	var refused error
	err := read(ctx, subject, link.Log+1, func(m bus.Message) error {
		rec, next, err := open(&link, m)
		if err != nil {
			return err
		}
		link = next
		for _, event := range rec.Events {
			if event.Seq < fromSeq {
				continue
			}
			if refused = fn(event); refused != nil {
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

// busError adds a code to errors of the bus. Errors that have a code, and the cancellation of the
// caller's context, are returned unchanged.
func busError(op string, err error) error {
	var coded *company.Error
	switch {
	case err == nil, errors.As(err, &coded),
		errors.Is(err, context.Canceled) && !errors.Is(err, bus.ErrUnknown):
		return err
	}
	fault := company.E(company.EBus, "the bus failed").Wrap(err)
	fault.Op, fault.Class = op, company.Recoverable
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		fault = fault.Fix("free space on the office's disk, then try again")
	}
	return fault
}
