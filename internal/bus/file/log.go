package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"company/internal/bus"
)

// Log gives access to the records of a bus by subject. It implements bus.Log.
type Log struct{ bus *Bus }

var _ bus.Log = Log{}

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
	seq, err := l.bus.write(ctx, subject, func() (uint64, error) {
		return l.bus.appendRecord(subject, data, expect, id)
	})
	if errors.Is(err, bus.ErrConflict) {
		// This may be a repeat.
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
func (l Log) Last(ctx context.Context, subject string) (last bus.Message, err error) {
	if err := l.check(ctx, subject); err != nil {
		return last, err
	}
	l.bus.mu.RLock()
	var seq uint64
	if t := l.bus.subjects[subject]; t != nil {
		seq = t.lastRecord().seq
	}
	l.bus.mu.RUnlock()
	if seq > 0 {
		_, err = l.bus.readFrom(ctx, subject, seq, seq, func(m bus.Message) error { last = m; return nil })
	}
	if err == nil && last.Seq == 0 {
		err = bus.ErrNotFound
	}
	if err != nil {
		return last, fmt.Errorf("last record of %s: %w", subject, err)
	}
	return last, nil
}

func (l Log) check(ctx context.Context, subject string) error {
	if err := bus.CheckSubject(subject); err != nil {
		return err
	}
	return l.bus.checkAlive(ctx)
}

// Read implements bus.Log.
func (l Log) Read(ctx context.Context, subject string, from uint64, fn func(bus.Message) error) error {
	if err := l.check(ctx, subject); err != nil {
		return err
	}
	_, err := l.bus.readFrom(ctx, subject, from, 0, fn)
	return err
}

// Follow implements bus.Log. It returns the cause of the end of ctx, ErrClosed, or an error of fn.
func (l Log) Follow(ctx context.Context, subject string, from uint64, fn func(bus.Message) error) error {
	if err := l.check(ctx, subject); err != nil {
		return err
	}
	ctx, cancel := l.bus.withClosing(ctx)
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
) (_ uint64, err error) {
	b.mu.RLock()
	t := b.subjects[subject]
	var first place
	var end int64
	found := false
	if t != nil {
		end = t.size
		first, found = t.findRecord(next)
	}
	b.mu.RUnlock()
	if !found {
		return next, nil
	}
	file, err := b.disk.Open(t.fileName())
	if errors.Is(err, fs.ErrNotExist) {
		return next, nil // purged meanwhile
	}
	if err != nil {
		return next, fmt.Errorf("read %s: %w", subject, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	enough := errors.New("enough")
	var refused error
	at, err := scanFrames(file, first.offset, end, func(_ int64, f frame) error {
		if until > 0 && f.seq > until {
			return enough
		}
		if err := b.checkAlive(ctx); err != nil {
			return err
		}
		next = f.seq + 1
		refused = fn(f.toMessage(subject))
		return refused
	})
	switch {
	case refused != nil:
		return next, refused
	case errors.Is(err, enough):
		return next, nil
	case err != nil:
		return next, fmt.Errorf("read %s: %w", subject, err)
	case at < end:
		return next, damagedError(t.fileName(), at, "the record does not match its checksum")
	}
	return next, nil
}

// Purge implements bus.Log.
func (l Log) Purge(ctx context.Context, subject string) error {
	if err := bus.CheckSubject(subject); err != nil {
		return err
	}
	if subject == bus.Ledger {
		return fmt.Errorf("purge %s: %w", subject, bus.ErrNotAllowed)
	}
	if _, err := l.bus.write(ctx, subject, func() (uint64, error) { return 0, l.bus.removeSubject(subject) }); err != nil {
		return fmt.Errorf("purge %s: %w", subject, err)
	}
	return nil
}

// Subjects implements bus.Log, in alphabetical order.
func (l Log) Subjects(ctx context.Context) ([]string, error) {
	if err := l.bus.checkAlive(ctx); err != nil {
		return nil, err
	}
	l.bus.mu.RLock()
	defer l.bus.mu.RUnlock()
	all := slices.Sorted(maps.Keys(l.bus.subjects))
	return slices.DeleteFunc(all, func(s string) bool { return !strings.HasPrefix(s, bus.JournalPrefix) }), nil
}
