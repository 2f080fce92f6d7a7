package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"syscall"
	"time"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/company/jcs"
)

// MaxBatch limits the total size of the events of several commands, in bytes. A single command may
// fill a whole record.
const MaxBatch = 512 << 10

// ErrBatchFull means that the batch has no room for the command. It fits into the next batch.
var ErrBatchFull = errors.New("ledger: the batch is full")

// Batch holds the events of several commands, chained after the ledger's head. They are stored in one
// record, all or none. A Batch must not be used by several goroutines.
type Batch struct {
	before   link
	end      link // without Log, which is not known yet
	commands []recordCommand
	events   []company.Event // as a later Read returns them
	heads    [][]byte        // the commands as they are stored
	texts    [][]byte        // the events as they are stored
	size     int             // of the record, in bytes
}

// Begin returns an empty batch that follows the newest event known to this handle.
func (l *Ledger) Begin() *Batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	return newBatch(l.head)
}

func newBatch(before link) *Batch { return &Batch{before: before, end: before, size: recordFrame} }

// Len returns the number of commands in the batch.
func (b *Batch) Len() int { return len(b.commands) }

// Add chains the events of one more command and returns them as they will be stored. It sets Seq, Prev
// and Time (now, in UTC). It returns ErrBatchFull if the batch must be stored first, and EInvalid if
// the ledger can never store the events. An error leaves the batch unchanged.
func (b *Batch) Add(c Command, now time.Time, drafts []company.Event) ([]company.Event, error) {
	switch {
	case c.ID == "":
		return nil, company.E(company.EInvalid, "a command has no id")
	case len(drafts) == 0:
		return nil, company.E(company.EInvalid, "a command of a batch has events")
	}
	command := recordCommand{ID: c.ID, Wish: c.Wish, Events: len(drafts)}
	head, err := jcs.Marshal(command)
	if err != nil {
		return nil, invalidError(c.ID, err)
	}
	end, size := b.end, b.size+len(head)+1
	events, texts := make([]company.Event, len(drafts)), make([][]byte, len(drafts))
	for i, event := range drafts {
		event.Seq = end.Seq + 1
		event.Prev = end.Hash
		event.Time = now.UTC().Round(0)
		text, stored, err := encodeEvent(event)
		if err != nil {
			return nil, invalidError(c.ID, err)
		}
		events[i] = stored
		sum := sha256.Sum256(text)
		texts[i] = text
		end.Seq = event.Seq
		end.Hash = company.Hash(hex.EncodeToString(sum[:]))
		size += len(text) + 1
	}
	switch {
	case len(b.commands) > 0 && size > MaxBatch:
		return nil, ErrBatchFull
	case size > bus.MaxRecord:
		return nil, invalidError(c.ID, bus.ErrTooLarge)
	}
	b.commands, b.heads = append(b.commands, command), append(b.heads, head)
	b.events, b.texts = append(b.events, events...), append(b.texts, texts...)
	b.end, b.size = end, size
	return events, nil
}

// Earlier returns the events of a command that is already in the batch, or nil. It returns EConflict
// if the id belongs to another command.
func (b *Batch) Earlier(command Command) ([]company.Event, error) {
	rec := record{Version: recordVersion, Commands: b.commands, Events: b.events}
	return rec.findEarlier(command)
}

// findEarlier returns the events of a command in the record, or nil. It returns EConflict if the id
// belongs to another command.
func (rec *record) findEarlier(command Command) ([]company.Event, error) {
	was, events, ok := rec.findCommand(command.ID)
	switch {
	case !ok:
		return nil, nil
	case command.Wish != "" && was.Wish != "" && command.Wish != was.Wish:
		return nil, company.E(company.EConflict, "the id of this command belongs to another command").
			Because(fmt.Sprintf("that one led to event %d", events[0].Seq)).
			Fix("use a new id; the same id is only for a repeat of the same command")
	}
	return events, nil
}

func invalidError(command string, err error) error {
	return company.E(company.EInvalid, fmt.Sprintf("the events of command %q cannot be stored", command)).
		Fix("put large values into a blob, and numbers beyond 2^53 into strings").Wrap(err)
}

// AppendBatch stores a batch with one sync and returns the new head. An empty batch needs no append.
//
// It returns EConflict if another writer has appended; then no event of the batch is stored. After
// EBus the outcome may be unknown. The same batch may be sent again and is stored only once.
func (l *Ledger) AppendBatch(ctx context.Context, batch *Batch) (Head, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if batch.Len() > 0 {
		if err := l.appendBatch(ctx, batch); err != nil {
			return Head{}, err
		}
	}
	return l.head.asHead(), nil
}

// appendBatch stores a batch. The caller holds mu.
func (l *Ledger) appendBatch(ctx context.Context, batch *Batch) error {
	text, sum := writeRecord(batch.heads, batch.texts)
	at, err := l.bus.Log().Append(ctx, subject, text, batch.before.Log, string(sum))
	switch {
	case err == nil && l.head == batch.before:
		end := batch.end
		end.Log = at
		l.advanceHead(record{Version: recordVersion, Commands: batch.commands, Events: batch.events}, end)
		return nil
	case err == nil, errors.Is(err, bus.ErrConflict), errors.Is(err, bus.ErrUnknown):
		return l.readBack(ctx, sum, err)
	}
	return busError("append to the ledger", err)
}

// readBack finds out whether an append that was not acknowledged took effect. It returns nil if the
// record with this sum is stored.
func (l *Ledger) readBack(ctx context.Context, sum company.Hash, cause error) error {
	// The append may have failed because the caller's context ended.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBackTimeout)
	defer cancel()
	stored := cause == nil // stored, but this handle has not read up to it
	err := l.catchUp(ctx, func(rec record, _ link) { stored = stored || rec.Sum == sum })
	switch {
	case err != nil:
		return errors.Join(err, cause)
	case stored:
		return nil
	case errors.Is(cause, bus.ErrConflict):
		return company.E(company.EConflict, fmt.Sprintf("the ledger has moved on to event %d", l.head.Seq)).
			Fix("read the new events and decide again").Wrap(cause)
	}
	return busError("append to the ledger", cause)
}

const readBackTimeout = 30 * time.Second

// IsOutage reports whether an append failed because the bus did not answer, so that the same append
// may succeed later. A closed bus and a full disk do not recover by themselves.
func IsOutage(err error) bool {
	return company.CodeOf(err) == company.EBus && errors.Is(err, bus.ErrUnknown) &&
		!errors.Is(err, bus.ErrClosed) && !errors.Is(err, syscall.ENOSPC)
}
