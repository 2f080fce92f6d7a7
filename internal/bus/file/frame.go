package file

import (
	"encoding/binary"
	"hash/crc32"
	"time"

	"company/internal/bus"
)

// kind of a frame.
type kind uint8

const (
	recordFrame kind = 1 + iota // a record of a subject
	purgeFrame                  // removes the subject's earlier records
	markFrame                   // all bytes before it are on disk
	endFrame                    // the segment is full and the next one exists
)

const (
	// A frame's head is its length (4 bytes), checksum (4), kind (1), lengths
	// of subject (1) and id (2), sequence (8), time (8) and expiry (8).
	frameHead = 36
	// mostFrame limits the size of a frame, in bytes. It is generous because the
	// body of a queue item is stored in base64.
	mostFrame = 4 * bus.MaxRecord
	mostID    = 1<<16 - 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frame is a stored request, or a marker between requests.
type frame struct {
	kind    kind
	seq     uint64
	time    time.Time
	expires time.Time // zero means never
	subject string
	id      string
	data    []byte
}

// holdsRecord reports whether a frame has its own sequence.
func (f frame) holdsRecord() bool { return f.kind == recordFrame || f.kind == purgeFrame }

func (f frame) encodedSize() int { return frameHead + len(f.subject) + len(f.id) + len(f.data) }

// toMessage returns a record as readers of the bus get it.
func (f frame) toMessage() bus.Message {
	return bus.Message{Subject: f.subject, Seq: f.seq, ID: f.id, Time: f.time, Data: f.data}
}

// appendFrame appends the encoding of a frame for an offset in a segment.
func appendFrame(buf []byte, f frame, salt uint64, offset int64) []byte {
	start := len(buf)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(f.encodedSize()))
	buf = binary.LittleEndian.AppendUint32(buf, 0)
	buf = append(buf, byte(f.kind), byte(len(f.subject)))
	buf = binary.LittleEndian.AppendUint16(buf, uint16(len(f.id)))
	buf = binary.LittleEndian.AppendUint64(buf, f.seq)
	buf = binary.LittleEndian.AppendUint64(buf, packTime(f.time))
	buf = binary.LittleEndian.AppendUint64(buf, packTime(f.expires))
	buf = append(buf, f.subject...)
	buf = append(buf, f.id...)
	buf = append(buf, f.data...)
	binary.LittleEndian.PutUint32(buf[start+4:], sumFrame(buf[start:], salt, offset))
	return buf
}

// sumFrame returns the checksum of a whole frame at an offset.
func sumFrame(raw []byte, salt uint64, offset int64) uint32 {
	var place [16]byte
	binary.LittleEndian.PutUint64(place[:], salt)
	binary.LittleEndian.PutUint64(place[8:], uint64(offset))
	sum := crc32.Update(0, castagnoli, place[:])
	sum = crc32.Update(sum, castagnoli, raw[:4])
	return crc32.Update(sum, castagnoli, raw[8:])
}

// frameSize reads the length in a frame's head. It returns 0 for an invalid length.
func frameSize(head []byte) int {
	if len(head) < 4 {
		return 0
	}
	n := binary.LittleEndian.Uint32(head)
	if n < frameHead || n > mostFrame {
		return 0
	}
	return int(n)
}

// parseFrame parses a whole frame. ok is false if raw is not a frame, or belongs to another place. The
// frame's data shares raw's memory.
func parseFrame(raw []byte, salt uint64, offset int64) (f frame, ok bool) {
	if frameSize(raw) != len(raw) || binary.LittleEndian.Uint32(raw[4:]) != sumFrame(raw, salt, offset) {
		return frame{}, false
	}
	subject, id := int(raw[9]), int(binary.LittleEndian.Uint16(raw[10:]))
	if frameHead+subject+id > len(raw) {
		return frame{}, false
	}
	rest := raw[frameHead:]
	return frame{
		kind: kind(raw[8]), seq: binary.LittleEndian.Uint64(raw[12:]),
		time: unpackTime(raw[20:]), expires: unpackTime(raw[28:]),
		subject: string(rest[:subject]), id: string(rest[subject : subject+id]), data: rest[subject+id:],
	}, true
}

func packTime(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(t.UnixNano())
}

func unpackTime(raw []byte) time.Time {
	n := binary.LittleEndian.Uint64(raw)
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(n)).UTC()
}

const (
	segmentMagic = "COMPWAL1"
	segmentHead  = 48 // bytes
)

// head is the start of a segment.
type head struct {
	first, last uint32    // numbers of the segments in it: one, or several that were merged
	floor       uint64    // all sequences of its frames are higher
	salt        uint64    // part of each checksum
	created     time.Time // for people
}

// appendHead encodes a head.
func appendHead(buf []byte, h head) []byte {
	start := len(buf)
	buf = append(buf, segmentMagic...)
	buf = binary.LittleEndian.AppendUint32(buf, h.first)
	buf = binary.LittleEndian.AppendUint32(buf, h.last)
	buf = binary.LittleEndian.AppendUint64(buf, h.floor)
	buf = binary.LittleEndian.AppendUint64(buf, h.salt)
	buf = binary.LittleEndian.AppendUint64(buf, packTime(h.created))
	buf = binary.LittleEndian.AppendUint64(buf, uint64(crc32.Checksum(buf[start:], castagnoli)))
	return buf
}

// parseHead decodes a head. ok is false if raw is not a valid head.
func parseHead(raw []byte) (h head, ok bool) {
	if len(raw) < segmentHead || string(raw[:8]) != segmentMagic ||
		binary.LittleEndian.Uint64(raw[40:]) != uint64(crc32.Checksum(raw[:40], castagnoli)) {
		return head{}, false
	}
	h = head{
		first: binary.LittleEndian.Uint32(raw[8:]), last: binary.LittleEndian.Uint32(raw[12:]),
		floor: binary.LittleEndian.Uint64(raw[16:]), salt: binary.LittleEndian.Uint64(raw[24:]),
		created: unpackTime(raw[32:]),
	}
	return h, h.first > 0 && h.first <= h.last
}
