package localfiles

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"time"
)

// A pack is a sequence of records. A record is a head of 64 bytes and the bytes of a blob,
// and starts at a multiple of 64:
//
//	0   "blob", or "mark": a record without bytes, which says how far the pack was synced
//	4   the state: 'L', or 'D' for a removed blob
//	5   24-bit checksum of the state and the time
//	8   the time of the last Put, in nanoseconds; it and the state change in place
//	16  the number of bytes
//	20  a CRC-32C of the rest of the head, of the pack's number and of the record's offset
//	24  how many bytes of the pack were on the disk when the record was written
//	32  the SHA-256 of the bytes
const (
	headSize  = 64
	stateAt   = 4
	stateSize = 12 // bytes of the state, its checksum and the time
	stateLive = 'L'
	stateDead = 'D'
)

var (
	blobMagic = [4]byte([]byte("blob"))
	markMagic = [4]byte([]byte("mark"))
	crcTable  = crc32.MakeTable(crc32.Castagnoli)
)

// recordHead is the head of a record.
type recordHead struct {
	magic  [4]byte
	state  byte
	put    time.Time
	size   int64
	synced int64
	sum    [sha256.Size]byte
	// damaged means that bits of the head have changed. Its blob can still be found, but is
	// neither removed nor moved.
	damaged bool
}

// roundUp returns the next offset at which a record may start.
func roundUp(n int64) int64 { return (n + headSize - 1) &^ (headSize - 1) }

// endOffset returns the end of the record at an offset.
func (h recordHead) endOffset(at int64) int64 { return roundUp(at + headSize + h.size) }

// encodeHead encodes the head of a record at an offset of a pack.
func encodeHead(h recordHead, pack uint32, at int64) (b [headSize]byte) {
	copy(b[:], h.magic[:])
	state := encodeState(h.state, h.put)
	copy(b[stateAt:], state[:])
	binary.LittleEndian.PutUint32(b[16:], uint32(h.size))
	binary.LittleEndian.PutUint64(b[24:], uint64(h.synced))
	copy(b[32:], h.sum[:])
	binary.LittleEndian.PutUint32(b[20:], headChecksum(b[:], pack, at))
	return b
}

// encodeState encodes the part of a head that changes in place. If any single byte of it changes, the
// result is not a valid state, so a live blob never turns into a removed one.
func encodeState(state byte, put time.Time) (b [stateSize]byte) {
	b[0] = state
	binary.LittleEndian.PutUint64(b[4:], uint64(put.UnixNano()))
	sum := crc32.Update(crc32.Checksum(b[:1], crcTable), crcTable, b[4:])
	b[1], b[2] = byte(sum), byte(sum>>8)
	b[3] = byte(sum>>16) | 0xc0 // two bits keep it from being zero
	return b
}

// decodeState decodes the result of encodeState. ok is false if the state is not valid.
func decodeState(b []byte) (state byte, put time.Time, ok bool) {
	state, put = b[0], time.Unix(0, int64(binary.LittleEndian.Uint64(b[4:])))
	if state != stateLive && state != stateDead {
		return state, put, false
	}
	return state, put, encodeState(state, put) == [stateSize]byte(b[:stateSize])
}

// decodeHead decodes the head of a record. ok is true if the checksum matches and the sizes are within
// their limits, since readers allocate memory for them. If the state is not valid, the blob counts as
// live and the head as damaged.
func decodeHead(b []byte, pack uint32, at int64) (h recordHead, ok bool) {
	h.magic = [4]byte(b[:4])
	if h.magic != blobMagic && h.magic != markMagic || binary.LittleEndian.Uint32(b[20:]) != headChecksum(b, pack, at) {
		return h, false
	}
	if h.state, h.put, ok = decodeState(b[stateAt:]); !ok {
		h.state, h.damaged = stateLive, true
	}
	h.size, h.synced = int64(binary.LittleEndian.Uint32(b[16:])), int64(binary.LittleEndian.Uint64(b[24:]))
	h.sum = [sha256.Size]byte(b[32:headSize])
	return h, h.size <= maxPacked && h.synced >= 0 && h.synced <= at
}

// recoverHead is decodeHead for an offset at which a head was written. It corrects a single flipped
// bit by means of the checksum. Such a head is damaged.
func recoverHead(b []byte, pack uint32, at int64) (h recordHead, ok bool) {
	if h, ok = decodeHead(b, pack, at); ok {
		return h, true
	}
	whole := [headSize]byte(b)
	for bit := range headSize * 8 {
		whole[bit/8] ^= 1 << (bit % 8)
		if h, ok = decodeHead(whole[:], pack, at); ok {
			h.damaged = true
			return h, true
		}
		whole[bit/8] ^= 1 << (bit % 8)
	}
	return recordHead{}, false
}

// headChecksum returns the checksum of a head without the part that changes in place. It covers the
// pack and the offset, so bytes that belong elsewhere, such as a pack inside a blob, are not valid
// heads.
func headChecksum(b []byte, pack uint32, at int64) uint32 {
	var place [12]byte
	binary.LittleEndian.PutUint32(place[:], pack)
	binary.LittleEndian.PutUint64(place[4:], uint64(at))
	sum := crc32.Checksum(b[:4], crcTable)
	sum = crc32.Update(sum, crcTable, b[16:20])
	sum = crc32.Update(sum, crcTable, b[24:headSize])
	return crc32.Update(sum, crcTable, place[:])
}
