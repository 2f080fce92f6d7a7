package localfiles

import (
	"bytes"
	"cmp"
	"errors"
	"io"
)

const (
	// MostRoom is how many bytes a file grows by at most.
	MostRoom = 1 << 20
	// leastRoom is how many a young file grows by.
	leastRoom = 64 << 10
)

// Room is how many bytes a file has that is written at its end, used and not used: behind what
// was written there are zeros. A sync of bytes that are there already is one write of the
// disk; one of a file that has grown writes the new size as well, and the journal of the file
// system (decision 0197). The zero Room is that of an empty file. It belongs to one goroutine.
type Room struct {
	Bytes int64 // of the file
	Most  int64 // that it grows by, MostRoom at most; 0: MostRoom
}

// growingFile is what Room needs of a file.
type growingFile interface {
	io.WriterAt
	Truncate(size int64) error
}

// zeros are what a file grows by. They are never written to, so that they take no memory.
var zeros [MostRoom]byte

// Append writes raw at an offset, behind the bytes that are used. A file that is too short for
// raw grows: zeros follow, as many as there are used bytes, and no further than to limit. A
// disk that is too full for the zeros gets raw alone. After an error the caller cuts the file.
func (r *Room) Append(file growingFile, raw []byte, at, limit int64) error {
	end := at + int64(len(raw))
	if _, err := file.WriteAt(raw, at); err != nil || end <= r.Bytes {
		return err
	}
	r.Bytes = end
	more := min(max(end, leastRoom), cmp.Or(r.Most, MostRoom), limit-end)
	if more <= 0 {
		return nil
	}
	if _, err := file.WriteAt(zeros[:more], end); err != nil {
		return r.Cut(file, end)
	}
	r.Bytes = end + more
	return nil
}

// Cut ends the file at an offset.
func (r *Room) Cut(file growingFile, at int64) error {
	r.Bytes = at
	return file.Truncate(at)
}

// FindZeros is the offset from which on a file of size bytes has zeros alone, from at the least.
func FindZeros(file io.ReaderAt, from, size int64) (int64, error) {
	buf := make([]byte, min(max(0, size-from), 256<<10))
	for size > from {
		chunk := buf[:min(int64(len(buf)), size-from)]
		if n, err := file.ReadAt(chunk, size-int64(len(chunk))); n < len(chunk) {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		if used := len(bytes.TrimRight(chunk, "\x00")); used > 0 {
			return size - int64(len(chunk)-used), nil
		}
		size -= int64(len(chunk))
	}
	return from, nil
}
