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
//	8   the time of the last Put, in nanoseconds; it and the state change in place
//	16  the number of bytes
//	20  a CRC-32C of the rest of the head, of the pack's number and of the record's offset
//	24  how many bytes of the pack were on the disk when the record was written
//	32  the SHA-256 of the bytes
const (
	headSize  = 64
	stateAt   = 4
	timeAt    = 8
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
}

// roundUp is the next offset at which a record may begin.
func roundUp(n int64) int64 { return (n + headSize - 1) &^ (headSize - 1) }

// endOffset is where the record at an offset ends.
func (h recordHead) endOffset(at int64) int64 { return roundUp(at + headSize + h.size) }

// encodeHead is the bytes of the head of a record at an offset of a pack.
func encodeHead(h recordHead, pack uint32, at int64) (b [headSize]byte) {
	copy(b[:], h.magic[:])
	b[stateAt] = h.state
	binary.LittleEndian.PutUint64(b[timeAt:], uint64(h.put.UnixNano()))
	binary.LittleEndian.PutUint32(b[16:], uint32(h.size))
	binary.LittleEndian.PutUint64(b[24:], uint64(h.synced))
	copy(b[32:], h.sum[:])
	binary.LittleEndian.PutUint32(b[20:], headChecksum(b[:], pack, at))
	return b
}

// decodeHead reads the head of a record; ok says that its checksum is right, and that it
// claims no more than a record may: a reader makes room for that.
func decodeHead(b []byte, pack uint32, at int64) (h recordHead, ok bool) {
	h.magic, h.state = [4]byte(b[:4]), b[stateAt]
	if h.magic != blobMagic && h.magic != markMagic || binary.LittleEndian.Uint32(b[20:]) != headChecksum(b, pack, at) {
		return h, false
	}
	h.put = time.Unix(0, int64(binary.LittleEndian.Uint64(b[timeAt:])))
	h.size, h.synced = int64(binary.LittleEndian.Uint32(b[16:])), int64(binary.LittleEndian.Uint64(b[24:]))
	h.sum = [sha256.Size]byte(b[32:headSize])
	return h, h.size <= maxPacked && h.synced >= 0 && h.synced <= at
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
