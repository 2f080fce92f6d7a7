package localfiles

import (
	"bytes"
	"cmp"
	"errors"
	"io"
)

const (
	// MostRoom is the maximum room that is added at a time, in bytes.
	MostRoom = 1 << 20
	// leastRoom is the minimum room that is added at a time, in bytes.
	leastRoom = 64 << 10
)

// Room manages preallocated zeros after the data of a file that is written at its end. Syncing bytes
// within the file's size takes one write of the disk. Syncing a file that has grown also writes the
// new size and the journal of the file system (decision 0197). The zero Room is that of an empty file.
// A Room must not be used by several goroutines.
type Room struct {
	Bytes int64 // size of the file, including the zeros
	Most  int64 // limit of the added room, at most MostRoom; 0 means MostRoom
}

// growingFile is the part of a file that Room uses.
type growingFile interface {
	io.WriterAt
	Truncate(size int64) error
}

// zeros are the bytes that extend a file. They are never written to, so they take no memory.
var zeros [MostRoom]byte

// Append writes raw at an offset, which must be the end of the used bytes. If the file is too short
// for raw, Append adds as many zeros as there are used bytes, but not beyond limit. If the disk is too
// full for the zeros, it writes only raw. After an error the caller must call Cut.
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

// Cut truncates the file at an offset.
func (r *Room) Cut(file growingFile, at int64) error {
	r.Bytes = at
	return file.Truncate(at)
}

// FindZeros returns the offset from which a file of this size contains only zeros. The result is at
// least from.
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
