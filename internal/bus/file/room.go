package file

import (
	"bytes"
	"cmp"
	"errors"
	"io"
)

const (
	// mostRoom is the maximum room that is added at a time, in bytes.
	mostRoom = 1 << 20
	// leastRoom is the minimum room that is added at a time, in bytes.
	leastRoom = 64 << 10
)

// room manages preallocated zeros after the data of a file that is written at its end. Syncing bytes
// within the file's size takes one write of the disk. Syncing a file that has grown also writes the
// new size and the journal of the file system (docs/decisions/bus.md). The zero room is that of an empty file.
// A room must not be used by several goroutines.
type room struct {
	bytes int64 // size of the file, including the zeros
	most  int64 // limit of the added room, at most mostRoom; 0 means mostRoom
}

// growingFile is the part of a file that room uses.
type growingFile interface {
	io.WriterAt
	Truncate(size int64) error
}

// zeros are the bytes that extend a file. They are never written to, so they take no memory.
var zeros [mostRoom]byte

// appendBytes writes raw at an offset, which must be the end of the used bytes. If the file is too short
// for raw, appendBytes adds as many zeros as there are used bytes, but not beyond limit. If the disk is too
// full for the zeros, it writes only raw. After an error the caller must call cutAt.
func (r *room) appendBytes(file growingFile, raw []byte, at, limit int64) error {
	end := at + int64(len(raw))
	if _, err := file.WriteAt(raw, at); err != nil || end <= r.bytes {
		return err
	}
	r.bytes = end
	more := min(max(end, leastRoom), cmp.Or(r.most, mostRoom), limit-end)
	if more <= 0 {
		return nil
	}
	if _, err := file.WriteAt(zeros[:more], end); err != nil {
		return r.cutAt(file, end)
	}
	r.bytes = end + more
	return nil
}

// cutAt truncates the file at an offset.
func (r *room) cutAt(file growingFile, at int64) error {
	r.bytes = at
	return file.Truncate(at)
}

// findZeros returns the offset from which a file of this size contains only zeros. The result is at
// least from.
func findZeros(file io.ReaderAt, from, size int64) (int64, error) {
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
