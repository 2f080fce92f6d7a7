package localfiles

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"time"
)

// A pack is records, one behind the other. A record is a head of 64 bytes and the bytes of
// a blob, and begins at a multiple of 64:
//
//	0   "blob", or "mark": a record without bytes, which tells how far the pack was synced
//	4   the state: 'L', or 'D' of a blob that was removed
//	5   24 bits that check the state and the time; zero in a head of a version before them
//	8   the time of the last Put, in nanoseconds; it and the state change in place
//	16  the number of bytes
//	20  a CRC-32C of the rest of the head, of the pack's number and of the record's offset
//	24  how many bytes of the pack were on the disk when the record was written
//	32  the SHA-256 of the bytes
const (
	headSize  = 64
	stateAt   = 4
	stateSize = 12 // of the state, its check and the time
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
	// damaged says that bits of the head are others than were written. Its blob is found by
	// it, and is neither removed nor moved.
	damaged bool
}

// roundUp is the next offset at which a record may begin.
func roundUp(n int64) int64 { return (n + headSize - 1) &^ (headSize - 1) }

// endOffset is where the record at an offset ends.
func (h recordHead) endOffset(at int64) int64 { return roundUp(at + headSize + h.size) }

// encodeHead is the bytes of the head of a record at an offset of a pack.
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

// encodeState is the part of a head that changes in place. Whatever byte of it turns into
// another one, it is no state any more: a live blob becomes no removed one.
func encodeState(state byte, put time.Time) (b [stateSize]byte) {
	b[0] = state
	binary.LittleEndian.PutUint64(b[4:], uint64(put.UnixNano()))
	sum := crc32.Update(crc32.Checksum(b[:1], crcTable), crcTable, b[4:])
	b[1], b[2] = byte(sum), byte(sum>>8)
	b[3] = byte(sum>>16) | 0xc0 // two bits keep it from being the zero of earlier versions
	return b
}

// decodeState reads what encodeState wrote, and the state of earlier versions, which had no
// check. ok says that it is a state.
func decodeState(b []byte) (state byte, put time.Time, ok bool) {
	state, put = b[0], time.Unix(0, int64(binary.LittleEndian.Uint64(b[4:])))
	if state != stateLive && state != stateDead {
		return state, put, false
	}
	return state, put, [3]byte(b[1:4]) == [3]byte{} || encodeState(state, put) == [stateSize]byte(b[:stateSize])
}

// decodeHead reads the head of a record; ok says that its checksum is right, and that it
// claims no more than a record may: a reader makes room for that. Where its state cannot be
// told the blob is live, and the head is damaged.
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

// recoverHead is decodeHead for a place at which a head was written: of one bit that was
// flipped the checksum tells which one it was. Such a head is damaged.
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

// headChecksum leaves out what changes in place. Bytes that belong elsewhere, such as a
// pack inside of a blob, are no head here.
func headChecksum(b []byte, pack uint32, at int64) uint32 {
	var place [12]byte
	binary.LittleEndian.PutUint32(place[:], pack)
	binary.LittleEndian.PutUint64(place[4:], uint64(at))
	sum := crc32.Checksum(b[:4], crcTable)
	sum = crc32.Update(sum, crcTable, b[16:20])
	sum = crc32.Update(sum, crcTable, b[24:headSize])
	return crc32.Update(sum, crcTable, place[:])
}
