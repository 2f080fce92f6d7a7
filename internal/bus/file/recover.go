package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"company/internal/bus"
)

// recoverFiles reads every file and finds its records. It truncates a last record that was never
// acknowledged, and removes files in which no record was. All other faults are ELedger.
func (b *Bus) recoverFiles(ctx context.Context) error {
	names, err := b.disk.List()
	if err != nil {
		return err
	}
	for _, name := range names {
		t, ok := parseName(name)
		if !ok {
			continue
		}
		if err := b.recoverFile(ctx, t); err != nil {
			return err
		}
		if len(t.records) == 0 {
			continue // removed: its creation was never finished
		}
		b.lastSeq.Store(max(b.lastSeq.Load(), t.lastRecord().seq))
		if other := b.subjects[t.subject]; other != nil {
			if t.subject == bus.Ledger || t.records[0].seq == other.records[0].seq {
				return damagedError(name, 0, "there is another file of this subject, "+other.fileName())
			}
			// A power cut has undone the removal of the older one.
			old := other
			if t.records[0].seq < other.records[0].seq {
				old, t = t, other
			}
			if err := b.disk.Remove(old.fileName()); err != nil {
				return err
			}
		}
		b.subjects[t.subject] = t
	}
	return b.disk.Sync() // a process may have been killed before it synced a name
}

// recoverFile reads the records of one file.
func (b *Bus) recoverFile(ctx context.Context, t *track) (err error) {
	file, err := b.disk.Open(t.fileName())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	size, err := file.Size()
	if err != nil {
		return err
	}
	var last frame
	end, err := scanFrames(file, 0, size, func(offset int64, f frame) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if len(t.records) > 0 && f.seq <= t.lastRecord().seq {
			return damagedError(t.fileName(), offset, fmt.Sprintf("sequence %d comes after %d", f.seq, t.lastRecord().seq))
		}
		last = f
		t.add(f, offset, 0)
		return nil
	})
	if err != nil {
		return err
	}
	t.size = end
	if end < size {
		if err := b.cutTail(t, file, size); err != nil {
			return err
		}
	}
	if len(t.records) == 0 {
		return b.disk.Remove(t.fileName())
	}
	if last.end == t.mark {
		return nil
	}
	offset := t.lastRecord().offset
	if _, err := file.WriteAt(last.encodeFrame(offset), offset); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return t.writeMark(file)
}

// cutTail truncates the bytes after the last readable record. It returns ELedger if they were
// acknowledged.
func (b *Bus) cutTail(t *track, file diskFile, size int64) error {
	rest, err := io.ReadAll(io.NewSectionReader(file, t.size, size-t.size))
	if err != nil {
		return err
	}
	if at := bytes.LastIndex(rest, t.mark[:]); at >= 0 {
		return damagedError(t.fileName(), t.size,
			fmt.Sprintf("no readable record here, although all before byte %d was synced to disk", t.size+int64(at)))
	}
	b.logger.Warn("a file of the bus ended in what was never acknowledged, and was cut", "file", t.fileName(), "offset",
		t.size, "bytes", len(rest))
	return errors.Join(file.Truncate(t.size), file.Sync())
}

// writeMark writes the mark of the last record, which is synced. The mark itself is synced with the next
// record. Until then it survives a kill, but not a power cut.
func (t *track) writeMark(file diskFile) error {
	_, err := file.WriteAt(t.mark[:], t.size-markSize)
	return err
}
