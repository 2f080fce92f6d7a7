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
	"company/internal/jcs"
)

// MaxBatch is how many bytes the events of several commands may have together. One
// command alone may have a whole record.
const MaxBatch = 512 << 10

// ErrBatchFull says that a batch has no room for a command; the next one has.
var ErrBatchFull = errors.New("ledger: the batch is full")

// Batch is the events of several commands, chained behind the ledger's head, that
// are stored in one record: all of them or none. It belongs to one goroutine.
type Batch struct {
	before   link
	end      link // its place in the bus is not known yet
	commands []recordCommand
	events   []company.Event // as a later Read returns them
	heads    [][]byte        // the commands as they are stored
	texts    [][]byte        // the events as they are stored
	size     int             // of the record, in bytes
}

// Begin makes an empty batch behind the newest event that this handle knows of.
func (l *Ledger) Begin() *Batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	return newBatch(l.head)
}

func newBatch(before link) *Batch { return &Batch{before: before, end: before, size: recordFrame} }

// Len is the number of commands in the batch.
func (b *Batch) Len() int { return len(b.commands) }

// Add chains the events of one more command and returns them as they will be
// stored: Seq, Prev and Time (now, in UTC) are filled in here. ErrBatchFull: the
// batch is to be stored first. EInvalid: the ledger can never hold them. Either
// way the batch is as it was.
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
	for i, e := range drafts {
		e.Seq, e.Prev, e.Time = end.Seq+1, end.Hash, now.UTC().Round(0)
		text, stored, err := encodeEvent(e)
		if err != nil {
			return nil, invalidError(c.ID, err)
		}
		events[i] = stored
		sum := sha256.Sum256(text)
		texts[i], end.Seq, end.Hash = text, e.Seq, company.Hash(hex.EncodeToString(sum[:]))
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

// Earlier returns the events of a command that is in the batch already; nil when it
// is not. EConflict: the id is another command's.
func (b *Batch) Earlier(c Command) ([]company.Event, error) {
	rec := record{Version: recordVersion, Commands: b.commands, Events: b.events}
	return rec.findEarlier(c)
}

// findEarlier returns the events that a command left in the record; nil when it left
// none. EConflict: the id was another command's.
func (rec *record) findEarlier(c Command) ([]company.Event, error) {
	was, events, ok := rec.findCommand(c.ID)
	switch {
	case !ok:
		return nil, nil
	case c.Wish != "" && was.Wish != "" && c.Wish != was.Wish:
		return nil, company.E(company.EConflict, "the id of this command was used for another one").
			Because(fmt.Sprintf("that one led to event %d", events[0].Seq)).
			Fix("send it under an id of its own; the same id is for the same command again")
	}
	return events, nil
}

func invalidError(command string, err error) error {
	return company.E(company.EInvalid, fmt.Sprintf("the events of command %q cannot be stored", command)).
		Fix("put what is large into a blob, and numbers beyond 2^53 into strings").Wrap(err)
}

// AppendBatch stores a batch with one sync and returns the new head. An empty one
// is stored already.
//
// EConflict: another writer has appended, and nothing of the batch is stored. EBus:
// the outcome may be unknown; the same batch may be sent again, and is stored once.
func (l *Ledger) AppendBatch(ctx context.Context, b *Batch) (Head, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b.Len() > 0 {
		if err := l.appendBatch(ctx, b); err != nil {
			return Head{}, err
		}
	}
	return l.head.asHead(), nil
}

// appendBatch stores a batch. The caller holds mu.
func (l *Ledger) appendBatch(ctx context.Context, b *Batch) error {
	text, sum := writeRecord(b.heads, b.texts)
	at, err := l.bus.Log().Append(ctx, subject, text, b.before.Log, string(sum))
	switch {
	case err == nil && l.head == b.before:
		end := b.end
		end.Log = at
		l.advanceHead(record{Version: recordVersion, Commands: b.commands, Events: b.events}, end)
		return nil
	case err == nil, errors.Is(err, bus.ErrConflict), errors.Is(err, bus.ErrUnknown):
		return l.readBack(ctx, sum, err)
	}
	return busError("append to the ledger", err)
}

// readBack finds out what became of an append that was not acknowledged: nil when
// the record with this sum is stored.
func (l *Ledger) readBack(ctx context.Context, sum company.Hash, cause error) error {
	// The caller's time may be what ran out.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBackTimeout)
	defer cancel()
	stored := cause == nil // known before this handle had read so far
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

// IsOutage says whether an append came to nothing because the bus gave no answer,
// so that the same append may succeed later. A closed bus and a full disk do not
// mend themselves.
func IsOutage(err error) bool {
	return company.CodeOf(err) == company.EBus && errors.Is(err, bus.ErrUnknown) &&
		!errors.Is(err, bus.ErrClosed) && !errors.Is(err, syscall.ENOSPC)
}
