package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"sync"
	"time"

	"company/internal/bus"
	"company/internal/company"
)

// writerLock returns the lock that the writer of a subject holds. The ledger has its own; other subjects
// may share one.
func (b *Bus) writerLock(subject string) *sync.Mutex {
	if subject == bus.Ledger {
		return &b.writing[0]
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(subject))
	return &b.writing[1+sum.Sum32()%uint32(len(b.writing)-1)]
}

// write runs a write to a subject in a goroutine, because a disk that does not answer blocks it. After
// ackTimeout, or when ctx ends, it returns ErrUnknown.
func (b *Bus) write(ctx context.Context, subject string, write func() (uint64, error)) (uint64, error) {
	type answer struct {
		seq uint64
		err error
	}
	if err := b.checkAlive(ctx); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, ackTimeout, errors.New("the disk does not answer"))
	defer cancel()
	done := make(chan answer, 1)
	b.appends.Go(func() {
		lock := b.writerLock(subject)
		lock.Lock()
		defer lock.Unlock()
		if err := cmp.Or(b.whyBroken(), b.checkAlive(ctx)); err != nil { // nothing was written yet
			done <- answer{err: err}
			return
		}
		seq, err := write()
		done <- answer{seq, err}
	})
	select {
	case a := <-done:
		return a.seq, a.err
	case <-ctx.Done():
		return 0, fmt.Errorf("%w: %w", bus.ErrUnknown, context.Cause(ctx))
	}
}

// appendRecord stores a record of any subject. See bus.Log.Append. The caller holds the subject's lock.
func (b *Bus) appendRecord(subject string, data []byte, expect uint64, id string) (uint64, error) {
	b.mu.RLock()
	t := b.subjects[subject]
	b.mu.RUnlock()
	var last uint64
	if t != nil {
		last = t.lastRecord().seq
		if id != "" && t.lastID == id {
			return last, nil // a repeat
		}
	}
	if last != expect {
		return 0, bus.ErrConflict
	}
	f := frame{seq: b.lastSeq.Add(1), time: time.Now(), id: id, data: data}
	if t == nil {
		return f.seq, b.createTrack(newTrack(subject), f)
	}
	file, err := b.disk.Open(t.fileName())
	if err != nil {
		return 0, storeError(err)
	}
	err = b.storeFrame(t, file, f)
	return f.seq, errors.Join(err, file.Close())
}

// createTrack stores the first record of a subject in a new file.
func (b *Bus) createTrack(t *track, f frame) error {
	file, err := b.disk.Create(t.fileName())
	if err != nil {
		return storeError(err)
	}
	if err = b.storeFrame(t, file, f); err == nil || b.broken.Err() != nil {
		return errors.Join(err, file.Close())
	}
	return errors.Join(err, file.Close(), b.disk.Remove(t.fileName()))
}

// storeFrame writes and syncs a record behind the last one of its subject. The caller holds the subject's
// lock.
func (b *Bus) storeFrame(t *track, file diskFile, f frame) error {
	offset := t.size
	raw := f.encodeFrame(offset)
	if _, err := file.WriteAt(raw, offset); err != nil {
		return b.takeBack(t, file, err)
	}
	err := file.Sync()
	if err == nil && offset == 0 {
		err = b.disk.Sync()
	}
	if err != nil {
		// The kernel may have dropped the bytes that it could not write, so a
		// successful second sync proves nothing.
		b.breakWith(err)
		return fmt.Errorf("%w: %w", bus.ErrUnknown, err)
	}
	b.mu.Lock()
	t.add(f, offset, offset+int64(len(raw)))
	b.subjects[t.subject] = t
	close(b.changed)
	b.changed = make(chan struct{})
	b.mu.Unlock()
	_ = t.writeMark(file) // without it, only damage of this record would look like a torn tail
	return nil
}

// takeBack removes the partial write of a record that did not fit on the disk.
func (b *Bus) takeBack(t *track, file diskFile, cause error) error {
	err := file.Truncate(t.size)
	if err == nil {
		err = file.Sync() // so that a power cut does not restore the refused record
	}
	if err != nil {
		b.breakWith(errors.Join(cause, err))
		return fmt.Errorf("%w: %w", bus.ErrUnknown, cause)
	}
	return storeError(cause)
}

// whyBroken returns the reason why no records can be stored any more, or nil.
func (b *Bus) whyBroken() error { return context.Cause(b.broken) }

func storeError(cause error) error {
	return company.E(company.EBus, "the bus cannot store a record").
		Fix("check the free space of the office's disk").Wrap(cause)
}

// breakWith makes the bus refuse all further writes.
func (b *Bus) breakWith(cause error) {
	b.fail(company.E(company.EBus, "the log of the bus can no longer be written").
		Fix("check the office's disk, then start again").Wrap(cause))
}

// removeSubject removes the file of a subject. A power cut may undo it until the names are synced next: an item is
// then leased again, and a journal purged again. The caller holds the subject's lock.
func (b *Bus) removeSubject(subject string) error {
	b.mu.RLock()
	t := b.subjects[subject]
	b.mu.RUnlock()
	if t == nil {
		return nil
	}
	if err := b.disk.Remove(t.fileName()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storeError(err)
	}
	b.mu.Lock()
	delete(b.subjects, subject)
	b.mu.Unlock()
	return nil
}
