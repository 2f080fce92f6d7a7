package file

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"company/internal/bus"
	"company/internal/bus/casqueue"
)

// readAhead is the number of records that a reader looks up at a time.
const readAhead = 128

// Log gives access to the records of a bus by subject. It implements bus.Log.
type Log struct{ bus *Bus }

var (
	_ bus.Log        = Log{}
	_ casqueue.Store = (*Bus)(nil)
)

// Append implements bus.Log.
func (l Log) Append(ctx context.Context, subject string, data []byte, expect uint64, id string) (uint64, error) {
	if err := bus.CheckSubject(subject); err != nil {
		return 0, err
	}
	if len(data) > bus.MaxRecord {
		return 0, fmt.Errorf("append %d bytes to %s: %w", len(data), subject, bus.ErrTooLarge)
	}
	if len(id) > mostID {
		return 0, fmt.Errorf("append to %s: the id has more than %d bytes: %w", subject, mostID, bus.ErrNotAllowed)
	}
	seq, err := l.bus.submitRequest(ctx, &request{kind: recordFrame, subject: subject, data: data, expect: expect, id: id})
	if errors.Is(err, bus.ErrConflict) {
		// This may be a repeat of a record whose id is no longer in memory.
		if first, findErr := bus.FindID(ctx, l, subject, expect, id); findErr != nil || first > 0 {
			return first, findErr
		}
	}
	if err != nil {
		return 0, fmt.Errorf("append to %s: %w", subject, err)
	}
	return seq, nil
}

// Last implements bus.Log.
func (l Log) Last(ctx context.Context, subject string) (bus.Message, error) {
	if err := bus.CheckSubject(subject); err != nil {
		return bus.Message{}, err
	}
	return l.bus.readLast(ctx, subject)
}

// readLast returns the newest record of any subject.
func (b *Bus) readLast(ctx context.Context, subject string) (bus.Message, error) {
	for {
		if err := b.CheckAlive(ctx); err != nil {
			return bus.Message{}, err
		}
		b.mu.RLock()
		entry, ok := b.index.lastEntry(subject, time.Now())
		b.mu.RUnlock()
		if !ok {
			return bus.Message{}, fmt.Errorf("last record of %s: %w", subject, bus.ErrNotFound)
		}
		frame, err := b.readEntry(entry)
		if errors.Is(err, os.ErrClosed) {
			continue // its segment was rewritten meanwhile
		}
		if err != nil {
			return bus.Message{}, fmt.Errorf("last record of %s: %w", subject, err)
		}
		return frame.toMessage(), nil
	}
}

// readEntry reads a record from disk. It returns os.ErrClosed if the segment is not in use any more.
func (b *Bus) readEntry(item entry) (frame, error) {
	raw := make([]byte, item.size)
	if err := readAll(item.segment.file, raw, int64(item.offset)); err != nil {
		return frame{}, err
	}
	f, ok := parseFrame(raw, item.segment.salt, int64(item.offset))
	if !ok || f.kind != recordFrame || f.seq != item.seq {
		return frame{}, damagedError(item.segment.fileName(), int64(item.offset), "the record does not match its checksum")
	}
	return f, nil
}

// Read implements bus.Log.
func (l Log) Read(ctx context.Context, subject string, from uint64, fn func(bus.Message) error) error {
	if err := bus.CheckSubject(subject); err != nil {
		return err
	}
	if err := l.bus.CheckAlive(ctx); err != nil {
		return err
	}
	l.bus.mu.RLock()
	last, ok := l.bus.index.lastEntry(subject, time.Now())
	l.bus.mu.RUnlock()
	if !ok {
		return nil
	}
	_, err := l.bus.readFrom(ctx, subject, from, last.seq, fn)
	return err
}

// Follow implements bus.Log. It returns the cause of the end of ctx, ErrClosed, or an error of fn.
func (l Log) Follow(ctx context.Context, subject string, from uint64, fn func(bus.Message) error) error {
	if err := bus.CheckSubject(subject); err != nil {
		return err
	}
	if err := l.bus.CheckAlive(ctx); err != nil {
		return err
	}
	ctx, cancel := l.bus.WithClosing(ctx)
	defer cancel()
	for {
		l.bus.mu.RLock()
		changed := l.bus.changed
		l.bus.mu.RUnlock()
		next, err := l.bus.readFrom(ctx, subject, from, 0, fn)
		if err != nil {
			return err
		}
		from = next
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// readFrom calls fn for the existing records of a subject from a sequence on, up to and including
// until (0 means all). It returns the sequence at which to continue.
func (b *Bus) readFrom(
	ctx context.Context, subject string, next, until uint64, fn func(bus.Message) error,
) (uint64, error) {
	for {
		b.mu.RLock()
		found := b.index.entriesFrom(subject, next)
		found = slices.Clone(found[:min(len(found), readAhead)])
		b.mu.RUnlock()
		if len(found) == 0 {
			return next, nil
		}
		for _, entry := range found {
			if until > 0 && entry.seq > until {
				return next, nil
			}
			if err := b.CheckAlive(ctx); err != nil {
				return next, err
			}
			frame, err := b.readEntry(entry)
			if errors.Is(err, os.ErrClosed) {
				break // its segment was rewritten meanwhile, so look it up again
			}
			if err != nil {
				return next, fmt.Errorf("read %s: %w", subject, err)
			}
			next = entry.seq + 1
			if err := fn(frame.toMessage()); err != nil {
				return next, err
			}
		}
	}
}

// Purge implements bus.Log.
func (l Log) Purge(ctx context.Context, subject string) error {
	if err := bus.CheckSubject(subject); err != nil {
		return err
	}
	if subject == bus.Ledger {
		return fmt.Errorf("purge %s: %w", subject, bus.ErrNotAllowed)
	}
	if _, err := l.bus.submitRequest(ctx, &request{kind: purgeFrame, subject: subject}); err != nil {
		return fmt.Errorf("purge %s: %w", subject, err)
	}
	return nil
}

// Subjects implements bus.Log, in alphabetical order.
func (l Log) Subjects(ctx context.Context) ([]string, error) {
	if err := l.bus.CheckAlive(ctx); err != nil {
		return nil, err
	}
	l.bus.mu.RLock()
	defer l.bus.mu.RUnlock()
	all := slices.Collect(maps.Keys(l.bus.index.tracks))
	all = slices.DeleteFunc(all, func(s string) bool { return !strings.HasPrefix(s, bus.JournalPrefix) })
	slices.Sort(all)
	return all, nil
}

// WriteItem implements casqueue.Store.
func (b *Bus) WriteItem(
	ctx context.Context, subject string, data []byte, expect uint64, keep time.Duration,
) (uint64, error) {
	return b.submitRequest(ctx, &request{kind: recordFrame, subject: subject, data: data, expect: expect, keep: keep})
}

// LastItem implements casqueue.Store.
func (b *Bus) LastItem(ctx context.Context, subject string) (bus.Message, error) {
	return b.readLast(ctx, subject)
}
