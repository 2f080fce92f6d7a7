package file

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"

	"company/internal/bus"
)

// patch is one byte of a file as it was before a bit of it changed.
type patch struct {
	offset int64
	value  byte
}

// patchedFile reads as the file did before bits of it changed. The file itself stays as it is.
type patchedFile struct {
	diskFile
	patches []patch
}

// ReadAt reads the bytes of the file with the patches applied.
func (f *patchedFile) ReadAt(buf []byte, offset int64) (int, error) {
	n, err := f.diskFile.ReadAt(buf, offset)
	for _, p := range f.patches {
		if at := p.offset - offset; at >= 0 && at < int64(n) {
			buf[at] = p.value
		}
	}
	return n, err
}

// isPlausible reports whether a frame is one that the bus writes, whatever its checksum says.
func (f frame) isPlausible() bool {
	switch f.kind {
	case markFrame, endFrame:
		return f.subject == "" && f.id == "" && len(f.data) == 0
	case purgeFrame, recordFrame:
		return isItem(f.subject) || bus.CheckSubject(f.subject) == nil
	}
	return false
}

// holdsRecord reports whether a frame has a sequence of its own.
func (f frame) holdsRecord() bool { return f.kind == recordFrame || f.kind == purgeFrame }

// readDamaged reads the frame that raw would be if its checksum were right. It reports false
// where the fields of the frame's head contradict each other.
func readDamaged(raw []byte, salt uint64, offset int64) (frame, bool) {
	if frameSize(raw) != len(raw) {
		return frame{}, false
	}
	raw = slices.Clone(raw)
	binary.LittleEndian.PutUint32(raw[4:], sumFrame(raw, salt, offset))
	f, ok := parseFrame(raw, salt, offset)
	return f, ok && f.isPlausible() && strings.ToValidUTF8(f.id, "") == f.id
}

// mendFrame looks for the one bit of a frame that has changed, and returns its byte in raw as it
// was. It reports false where more than one bit differs: the checksum tells single bits
// apart in frames of every length that is allowed.
func mendFrame(raw []byte, salt uint64, offset int64) (p patch, mended frame, ok bool) {
	at, bit, ok := findBit(raw, sumFrame(raw, salt, offset))
	if !ok {
		return patch{}, frame{}, false
	}
	raw = slices.Clone(raw)
	raw[at] ^= 1 << bit
	f, ok := parseFrame(raw, salt, offset)
	return patch{offset + int64(at), raw[at]}, f, ok && f.isPlausible()
}

// findBit finds the one bit of a frame whose change explains the difference between the checksum
// that the frame has and the one that it should have.
func findBit(raw []byte, sum uint32) (at, bit int, ok bool) {
	difference := sum ^ binary.LittleEndian.Uint32(raw[4:])
	if bits.OnesCount32(difference) == 1 { // the checksum itself
		n := bits.TrailingZeros32(difference)
		return 4 + n/8, n % 8, true
	}
	// A changed bit changes the checksum by a value that depends on its distance from the end
	// of the frame alone: by the polynomial for the last bit, and one step of the checksum's
	// register more for each bit before it.
	const polynomial = 0x82f63b78 // crc32.Castagnoli
	for step, register := 0, uint32(polynomial); step < 8*(len(raw)-4); step++ {
		if register == difference {
			at = len(raw) - 1 - step/8
			if at < 8 { // the checksum's own four bytes are left out of it
				at -= 4
			}
			return at, 7 - step%8, true
		}
		carry := register & 1
		register >>= 1
		if carry == 1 {
			register ^= polynomial
		}
	}
	return 0, 0, false
}

// mendHead looks for the one bit of a segment's head that has changed.
func mendHead(raw []byte) (p patch, h head, ok bool) {
	for at := range min(len(raw), segmentHead) {
		for bit := range 8 {
			raw[at] ^= 1 << bit
			h, ok = parseHead(raw)
			value := raw[at]
			raw[at] ^= 1 << bit
			if ok {
				return patch{int64(at), value}, h, true
			}
		}
	}
	return patch{}, head{}, false
}
