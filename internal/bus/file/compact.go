package file

import (
	"errors"
	"os"
	"slices"
	"time"
)

func (b *Bus) wakeCompactor() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// runCompactor rewrites segments until the bus closes.
func (b *Bus) runCompactor() {
	for {
		select {
		case <-b.wake:
		case <-b.closing.Done():
			return
		}
		for b.closing.Err() == nil {
			b.mu.RLock()
			from, to, ok := planCompaction(b.sealed, b.rollAt)
			b.mu.RUnlock()
			if !ok {
				break
			}
			if err := b.compactSegments(from, to); err != nil {
				if b.closing.Err() == nil {
					b.logger.Warn("the log of the bus was not compacted", "err", err)
				}
				break // the log is unchanged; the next full segment triggers another attempt
			}
		}
	}
}

// planCompaction chooses adjacent full segments in which half of the bytes are dead, and small
// segments before them.
func planCompaction(sealed []*segment, rollAt int64) (from, to int, ok bool) {
	isHalfDead := func(s *segment) bool { return (s.size-segmentHead-frameHead-s.live)*2 >= s.size }
	from = slices.IndexFunc(sealed, isHalfDead)
	if from < 0 {
		return 0, 0, false
	}
	live := sealed[from].live
	for to = from + 1; to < len(sealed) && isHalfDead(sealed[to]) && live+sealed[to].live <= rollAt; to++ {
		live += sealed[to].live
	}
	for from > 0 && sealed[from-1].size <= rollAt/4 && live+sealed[from-1].live <= rollAt {
		from--
		live += sealed[from].live
	}
	return from, to, true
}

// moved is a record that was rewritten.
type moved struct {
	subject string
	was, is entry
}

// compactSegments rewrites sealed[from:to] as one segment without dead frames. Only this goroutine
// removes segments from sealed. The writer appends to it.
func (b *Bus) compactSegments(from, to int) error {
	b.mu.RLock()
	old := slices.Clone(b.sealed[from:to])
	b.mu.RUnlock()
	if err := b.disk.Remove(compactName); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	next, err := createSegment(b.disk, compactName,
		head{first: old[0].first, last: old[len(old)-1].last, floor: old[0].floor})
	if err != nil {
		return err
	}
	records, err := b.copyLive(next, old, from == 0)
	if err == nil {
		err = next.file.Sync()
	}
	if err == nil {
		err = b.disk.Rename(compactName, next.fileName())
	}
	if err != nil { // on a full disk the partial segment would take the last space
		return errors.Join(err, next.file.Close(), b.disk.Remove(compactName))
	}
	// Until the new name is on disk, a power cut may restore the old file,
	// which needs the other segments.
	syncErr := b.disk.Sync()
	b.mu.Lock()
	for _, moved := range records {
		if b.index.replaceEntry(moved.subject, moved.was, moved.is) {
			continue
		}
		next.live -= int64(moved.is.size) // the record died meanwhile
	}
	b.sealed = slices.Replace(b.sealed, from, to, next)
	b.mu.Unlock()
	var errs []error
	for i, segment := range old {
		errs = append(errs, segment.file.Close())
		if i > 0 && syncErr == nil {
			errs = append(errs, b.disk.Remove(segment.fileName()))
		}
	}
	return errors.Join(append(errs, syncErr)...)
}

// copyLive writes the live frames of segments to a new one, followed by an end frame. It also keeps
// frames that hold others dead, unless first says that there are no earlier segments.
func (b *Bus) copyLive(next *segment, old []*segment, first bool) (records []moved, err error) {
	var raw []byte
	add := func(f frame) error {
		raw = appendFrame(raw, f, next.salt, next.size+int64(len(raw)))
		if len(raw) < 1<<20 && f.kind != endFrame {
			return nil
		}
		_, err := next.file.WriteAt(raw, next.size)
		next.size += int64(len(raw))
		raw = raw[:0]
		return err
	}
	var seq uint64
	for _, s := range old {
		end, err := scanFrames(s.file, s.head, segmentHead, s.size, func(offset int64, f frame) error {
			if b.closing.Err() != nil {
				return b.closing.Err()
			}
			seq = f.seq
			was := entry{seq: f.seq, segment: s, offset: uint32(offset), size: uint32(f.encodedSize())}
			is := entry{seq: f.seq, segment: next, offset: uint32(next.size + int64(len(raw))), size: was.size}
			switch {
			case b.isLive(f, was):
				records = append(records, moved{f.subject, was, is})
			case first || !b.keepsDead(f):
				return nil
			}
			next.live += int64(f.encodedSize())
			return add(f)
		})
		if err != nil {
			return nil, err
		}
		if end < s.size {
			return nil, damagedError(s.fileName(), end, "no readable frame here")
		}
	}
	// The mark is true when the segment gets its name, because the segment is synced before.
	if err := add(frame{kind: markFrame, seq: seq, time: time.Now()}); err != nil {
		return nil, err
	}
	return records, add(frame{kind: endFrame, seq: seq, time: time.Now()})
}

// isLive reports whether a frame is a record in the index.
func (b *Bus) isLive(f frame, item entry) bool {
	if f.kind != recordFrame {
		return false
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	there := b.index.entriesFrom(f.subject, f.seq)
	return len(there) > 0 && there[0] == item
}

// keepsDead reports whether earlier records would become live again without this frame: it is a purge,
// or the record of a finished item that has expired.
func (b *Bus) keepsDead(f frame) bool {
	if f.kind != recordFrame {
		return f.kind == purgeFrame
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	return !f.expires.IsZero() && !b.index.hasSubject(f.subject)
}
