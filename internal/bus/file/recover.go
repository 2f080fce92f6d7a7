package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// found is a file of the log that was found at a start.
type found struct {
	name string
	file diskFile
	size int64
	head head
	ok   bool // the head can be read
}

// recoverSegments opens the segments, verifies each frame and builds the index. It truncates frames
// that were never acknowledged. All other faults are ELedger.
func (b *Bus) recoverSegments(ctx context.Context) (err error) {
	files, err := b.listSegments()
	defer func() {
		for _, f := range files { // files in use are not in the list any more
			err = errors.Join(err, f.file.Close())
		}
	}()
	if err != nil {
		return err
	}
	b.nextSeq = 1
	for len(files) > 0 {
		found := files[0]
		if !found.ok && len(files) == 1 && found.size <= segmentHead && len(b.sealed) == 0 {
			break // the first segment, whose creation was interrupted
		}
		if err := b.checkPlace(found); err != nil {
			return err
		}
		s := &segment{head: found.head, file: found.file, size: found.size}
		newest, unsure, err := b.scanSegment(ctx, s)
		if err != nil {
			return err
		}
		rest := files[1:]
		if newest == endFrame {
			if len(rest) == 0 {
				return damagedError(segmentName(s.last+1), 0, "the segment is missing")
			}
			if err := cutZeros(s, found.size); err != nil {
				return err
			}
			if len(rest) == 1 {
				if err := s.rewriteTail(unsure, s.size); err != nil {
					return err
				}
			}
			b.sealed, files = append(b.sealed, s), rest
			continue
		}
		// This is the newest segment, or the one before it if creating the newest was interrupted.
		switch {
		case len(rest) > 1 || len(rest) == 1 && rest[0].size > segmentHead:
			return damagedError(found.name, s.size, "no readable frame here, but later ones exist")
		case len(rest) == 1:
			if err := errors.Join(rest[0].file.Close(), b.disk.Remove(rest[0].name), b.disk.Sync()); err != nil {
				files = nil
				return errors.Join(err, found.file.Close())
			}
		}
		files = nil
		b.active = s
		return b.prepareTail(found.size, newest, unsure)
	}
	if len(files) > 0 {
		found := files[0]
		files = nil
		if err := errors.Join(found.file.Close(), b.disk.Remove(found.name)); err != nil {
			return err
		}
	}
	b.room.bytes = segmentHead
	b.active, err = createSegment(b.disk, segmentName(1), head{first: 1, last: 1})
	return err
}

// listSegments opens the files of the log, oldest first. It removes the files of a killed compaction.
func (b *Bus) listSegments() (files []found, err error) {
	names, err := b.disk.List()
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	if err := b.disk.Sync(); err != nil { // a process may have been killed before it synced a rename
		return nil, err
	}
	covered := ""
	for _, name := range names {
		if name == compactName {
			if err := b.disk.Remove(name); err != nil {
				return files, err
			}
			continue
		}
		if !strings.HasSuffix(name, suffix) {
			continue
		}
		if name <= covered { // merged into the previous segment
			if err := b.disk.Remove(name); err != nil {
				return files, err
			}
			continue
		}
		f := found{name: name}
		if f.file, err = b.disk.Open(name); err != nil {
			return files, err
		}
		files = append(files, f)
		now := &files[len(files)-1]
		if now.size, err = now.file.Size(); err != nil {
			return files, err
		}
		raw := make([]byte, segmentHead)
		if err := readAll(now.file, raw, 0); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return files, err
		}
		if now.head, now.ok = parseHead(raw); now.ok {
			covered = segmentName(now.head.last)
		}
	}
	return files, nil
}

// checkPlace checks that a segment follows those before it.
func (b *Bus) checkPlace(f found) error {
	want := uint32(1)
	if n := len(b.sealed); n > 0 {
		want = b.sealed[n-1].last + 1
	}
	switch {
	case !f.ok:
		return damagedError(f.name, 0, "the head of the segment is unreadable")
	case f.name != segmentName(f.head.first):
		return damagedError(f.name, 0, "the file has the head of segment "+segmentName(f.head.first))
	case f.head.first != want:
		return damagedError(segmentName(want), 0, "the segment is missing")
	}
	b.nextSeq = max(b.nextSeq, f.head.floor+1)
	return nil
}

// scanSegment adds the frames of a segment to the index and sets its size to the end of the last
// frame. newest is the kind of the last frame, or 0 if there are no frames. unsure is the offset of
// the last mark.
func (b *Bus) scanSegment(ctx context.Context, s *segment) (newest kind, unsure int64, err error) {
	size, err := scanFrames(s.file, s.head, segmentHead, s.size, func(offset int64, f frame) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if newest == endFrame {
			return damagedError(s.fileName(), offset, "unexpected data after the end")
		}
		if newest = f.kind; f.kind == markFrame {
			unsure = offset
		}
		if !f.holdsRecord() {
			return nil
		}
		if f.seq < b.nextSeq {
			return damagedError(s.fileName(), offset, fmt.Sprintf("sequence %d comes after %d", f.seq, b.nextSeq-1))
		}
		b.takeFrame(s, offset, f)
		return nil
	})
	s.size = size
	return newest, unsure, err
}

// takeFrame adds a frame of a segment to the index.
func (b *Bus) takeFrame(s *segment, offset int64, f frame) {
	if !f.holdsRecord() {
		return
	}
	b.nextSeq = f.seq + 1
	b.index.addFrame(f, entry{seq: f.seq, segment: s, offset: uint32(offset), size: uint32(f.encodedSize())})
}

// cutZeros truncates the zeros that a kill left after the end of a full segment. Other bytes there are
// damage.
func cutZeros(s *segment, size int64) error {
	if s.size == size {
		return nil
	}
	used, err := findZeros(s.file, s.size, size)
	if err != nil {
		return err
	}
	if used > s.size {
		return damagedError(s.fileName(), s.size, "unexpected data after the end")
	}
	return errors.Join(s.file.Truncate(s.size), s.file.Sync())
}

// prepareTail prepares the newest segment for appends. It truncates bytes after the last good frame if
// they were never acknowledged, and keeps zeros as room. It rewrites and syncs the readable frames,
// because the process may have been killed before their sync.
func (b *Bus) prepareTail(size int64, newest kind, unsure int64) error {
	segment := b.active
	used, err := findZeros(segment.file, segment.size, size)
	if err != nil {
		return err
	}
	b.room.bytes = size
	if used > segment.size {
		if err := b.cutTail(segment, used, size); err != nil {
			return err
		}
	}
	if err := segment.rewriteTail(unsure, min(segment.size, size)); err != nil {
		return err
	}
	if newest != markFrame {
		b.writeMark()
	}
	return nil
}

// cutTail truncates the bytes after the last good frame of the newest segment. It returns ELedger if
// they were acknowledged.
func (b *Bus) cutTail(s *segment, used, size int64) error {
	mark, found, err := findMark(s.file, s.head, s.size+1, size)
	if err != nil {
		return err
	}
	if found {
		return damagedError(s.fileName(), s.size,
			fmt.Sprintf("no readable frame here, although all before byte %d was synced to disk", mark))
	}
	b.logger.Warn("the log of the bus ended in what was never acknowledged, and was cut", "file", s.fileName(), "offset",
		s.size, "bytes", used-s.size)
	return b.cutRoom()
}

// findMark searches byte by byte for a mark from an offset on.
func findMark(file io.ReaderAt, h head, from, size int64) (at int64, found bool, err error) {
	const window = 1 << 20
	buf := make([]byte, window+frameHead-1)
	for ; from+frameHead <= size; from += window {
		chunk := buf[:min(int64(len(buf)), size-from)]
		if err := readAll(file, chunk, from); err != nil {
			return 0, false, err
		}
		for i := 0; i+frameHead <= len(chunk); i++ {
			raw := chunk[i : i+frameHead]
			if kind(raw[8]) != markFrame {
				continue // saves the checksum
			}
			if _, ok := parseFrame(raw, h.salt, from+int64(i)); ok {
				return from + int64(i), true, nil
			}
		}
	}
	return 0, false, nil
}

// rewriteTail writes and syncs the bytes after the last known sync again. After a failed sync the
// kernel may show bytes that will never reach the disk.
func (s *segment) rewriteTail(from, end int64) error {
	buf := make([]byte, 1<<20)
	for from < end {
		chunk := buf[:min(int64(len(buf)), end-from)]
		if err := readAll(s.file, chunk, from); err != nil {
			return err
		}
		if _, err := s.file.WriteAt(chunk, from); err != nil {
			return err
		}
		from += int64(len(chunk))
	}
	return s.file.Sync()
}
