package file

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"time"

	"company/internal/bus"
)

const (
	// A frame's head is its length (4 bytes), checksum (4), sequence (8), time (8) and the length of its
	// id (2). The id, the data and room for the mark follow.
	frameHead = 26
	markSize  = 8
	mostID    = 1<<16 - 1
	mostFrame = frameHead + mostID + bus.MaxRecord + markSize
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// mark says at the end of a frame that the frame is on disk. Each file has its own.
type mark [markSize]byte

// frame is a stored record.
type frame struct {
	seq  uint64
	time time.Time
	id   string
	data []byte
	end  mark // zero, or the file's mark; a power cut may leave a part of it
}

func (f frame) toMessage(subject string) bus.Message {
	return bus.Message{Subject: subject, Seq: f.seq, ID: f.id, Time: f.time, Data: f.data}
}

// encodeFrame returns the bytes of a frame for an offset in a file.
func (f frame) encodeFrame(offset int64) []byte {
	size := frameHead + len(f.id) + len(f.data) + markSize
	raw := make([]byte, 0, size)
	raw = binary.LittleEndian.AppendUint32(raw, uint32(size))
	raw = binary.LittleEndian.AppendUint32(raw, 0)
	raw = binary.LittleEndian.AppendUint64(raw, f.seq)
	raw = binary.LittleEndian.AppendUint64(raw, uint64(f.time.UnixNano()))
	raw = binary.LittleEndian.AppendUint16(raw, uint16(len(f.id)))
	raw = append(raw, f.id...)
	raw = append(raw, f.data...)
	raw = append(raw, f.end[:]...)
	binary.LittleEndian.PutUint32(raw[4:], sumFrame(raw, offset))
	return raw
}

// sumFrame returns the checksum of a whole frame at an offset.
func sumFrame(raw []byte, offset int64) uint32 {
	sum := crc32.Update(0, castagnoli, binary.LittleEndian.AppendUint64(nil, uint64(offset)))
	sum = crc32.Update(sum, castagnoli, raw[:4])
	return crc32.Update(sum, castagnoli, raw[8:len(raw)-markSize])
}

// parseFrame parses a whole frame. ok is false if raw is not a frame, or belongs to another offset. The
// frame's data shares raw's memory.
func parseFrame(raw []byte, offset int64) (f frame, ok bool) {
	if len(raw) < frameHead+markSize || binary.LittleEndian.Uint32(raw[4:]) != sumFrame(raw, offset) {
		return frame{}, false
	}
	f = frame{seq: binary.LittleEndian.Uint64(raw[8:]),
		time: time.Unix(0, int64(binary.LittleEndian.Uint64(raw[16:]))).UTC(),
		end:  mark(raw[len(raw)-markSize:])}
	id, rest := int(binary.LittleEndian.Uint16(raw[24:])), raw[frameHead:len(raw)-markSize]
	if id > len(rest) {
		return frame{}, false
	}
	f.id, f.data = string(rest[:id]), rest[id:]
	return f, true
}

// scanFrames calls fn for the frames from one offset to another. from must be the start of a frame. It
// returns the end of the last valid frame, which is to, or the offset of the first frame that cannot be
// read. Errors come from fn or from the disk.
func scanFrames(file io.ReaderAt, from, to int64, fn func(offset int64, f frame) error) (end int64, err error) {
	reader := bufio.NewReaderSize(io.NewSectionReader(file, from, to-from), 64<<10)
	for end = from; end < to; {
		head, err := reader.Peek(4)
		if err != nil && !errors.Is(err, io.EOF) {
			return end, err
		}
		if len(head) < 4 {
			return end, nil
		}
		size := int64(binary.LittleEndian.Uint32(head))
		if size > mostFrame || end+size > to {
			return end, nil
		}
		raw := make([]byte, size)
		if _, err := io.ReadFull(reader, raw); err != nil {
			return end, err
		}
		f, ok := parseFrame(raw, end)
		if !ok {
			return end, nil
		}
		if err := fn(end, f); err != nil {
			return end, err
		}
		end += size
	}
	return end, nil
}
