package file

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"time"

	"company/internal/company"
)

const (
	walName     = "wal" // the folder of the segments, in the folder of the bus
	compactName = "compact.tmp"
	suffix      = ".wal"
)

// segment is one open file of the log.
type segment struct {
	head
	file diskFile
	size int64 // bytes of the head and the frames
	live int64 // bytes of frames that a compaction would keep; guarded by Bus.mu
}

func segmentName(first uint32) string { return fmt.Sprintf("%08d%s", first, suffix) }

func (s *segment) fileName() string { return segmentName(s.first) }

// createSegment creates a segment and syncs the file and its name.
func createSegment(d disk, name string, h head) (_ *segment, err error) {
	h.salt, h.created = rand.Uint64(), time.Now()
	file, err := d.Create(name)
	if err != nil {
		return nil, err
	}
	_, err = file.WriteAt(appendHead(nil, h), 0)
	if err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = d.Sync()
	}
	if err != nil {
		return nil, errors.Join(err, file.Close(), d.Remove(name))
	}
	return &segment{head: h, file: file, size: segmentHead}, nil
}

// scanFrames calls fn for the frames of a segment. from must be the start of a frame. It returns the
// end of the last valid frame, which is size or the offset of the first bad frame. A frame's data is
// overwritten by the next frame. Errors come from fn or from the disk.
func scanFrames(
	file io.ReaderAt, h head, from, size int64, fn func(offset int64, f frame) error,
) (end int64, err error) {
	reader := bufio.NewReaderSize(io.NewSectionReader(file, from, size-from), 256<<10)
	var raw []byte
	for end = from; end < size; {
		start, err := reader.Peek(4)
		if err != nil && !errors.Is(err, io.EOF) {
			return end, err
		}
		n := frameSize(start)
		if n == 0 || end+int64(n) > size {
			return end, nil
		}
		if cap(raw) < n {
			raw = make([]byte, n, max(n, 64<<10))
		}
		raw = raw[:n]
		if _, err := io.ReadFull(reader, raw); err != nil {
			return end, err
		}
		f, ok := parseFrame(raw, h.salt, end)
		if !ok {
			return end, nil
		}
		if err := fn(end, f); err != nil {
			return end, err
		}
		end += int64(n)
	}
	return end, nil
}

// damagedError returns the error for a log whose bytes have changed. The caller knows the office's
// folders and adds the fix.
func damagedError(name string, offset int64, reason string) error {
	return company.E(company.ELedger, "the log of the bus is damaged").
		Because(fmt.Sprintf("%s, byte %d: %s", path.Join(walName, name), offset, reason)).NeedsPerson()
}
