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

// readAhead is how many records a reader finds at a time.
const readAhead = 128

// Log is the records of a bus by subject. It implements bus.Log.
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
		return 0, fmt.Errorf("append to %s: an id has at most %d bytes: %w", subject, mostID, bus.ErrNotAllowed)
	}
	seq, err := l.bus.submitRequest(ctx, &request{kind: recordFrame, subject: subject, data: data, expect: expect, id: id})
	if errors.Is(err, bus.ErrConflict) {
		// A repeat of a record that is no longer among the newest ids.
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

// readLast is the newest record of any subject.
func (b *Bus) readLast(ctx context.Context, subject string) (bus.Message, error) {
	for {
		if err := b.CheckAlive(ctx); err != nil {
			return bus.Message{}, err
		}
		b.mu.RLock()
		e, ok := b.index.lastEntry(subject, time.Now())
		b.mu.RUnlock()
		if !ok {
			return bus.Message{}, fmt.Errorf("last record of %s: %w", subject, bus.ErrNotFound)
		}
		f, err := b.readEntry(e)
		if errors.Is(err, os.ErrClosed) {
			continue // its segment was written anew meanwhile
		}
		if err != nil {
			return bus.Message{}, fmt.Errorf("last record of %s: %w", subject, err)
		}
		return f.toMessage(), nil
	}
}

// readEntry reads a record from the disk. The error is os.ErrClosed where its
// segment is not in use any more.
func (b *Bus) readEntry(e entry) (frame, error) {
	raw := make([]byte, e.size)
	if err := readAll(e.segment.file, raw, int64(e.offset)); err != nil {
		return frame{}, err
	}
	f, ok := parseFrame(raw, e.segment.salt, int64(e.offset))
	if !ok || f.kind != recordFrame || f.seq != e.seq {
		return frame{}, damagedError(e.segment.fileName(), int64(e.offset), "the record is not what was written")
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

// Follow implements bus.Log. It returns the cause of the end of ctx,
// ErrClosed, or an error of fn.
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

// readFrom calls fn for the records of a subject from a sequence on that are there
// now, up to the sequence until (0: all), and returns the one to go on with.
func (b *Bus) readFrom(ctx context.Context, subject string, next, until uint64, fn func(bus.Message) error) (uint64, error) {
	for {
		b.mu.RLock()
		found := b.index.entriesFrom(subject, next)
		found = slices.Clone(found[:min(len(found), readAhead)])
		b.mu.RUnlock()
		if len(found) == 0 {
			return next, nil
		}
		for _, e := range found {
			if until > 0 && e.seq > until {
				return next, nil
			}
			if err := b.CheckAlive(ctx); err != nil {
				return next, err
			}
			f, err := b.readEntry(e)
			if errors.Is(err, os.ErrClosed) {
				break // its segment was written anew meanwhile: look again
			}
			if err != nil {
				return next, fmt.Errorf("read %s: %w", subject, err)
			}
			next = e.seq + 1
			if err := fn(f.toMessage()); err != nil {
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
func (b *Bus) WriteItem(ctx context.Context, subject string, data []byte, expect uint64, keep time.Duration) (uint64, error) {
	return b.submitRequest(ctx, &request{kind: recordFrame, subject: subject, data: data, expect: expect, keep: keep})
}

// LastItem implements casqueue.Store.
func (b *Bus) LastItem(ctx context.Context, subject string) (bus.Message, error) {
	return b.readLast(ctx, subject)
}
