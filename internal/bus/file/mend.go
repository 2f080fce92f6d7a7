package file

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"

	"company/internal/bus"
)

// patch is the original value of one changed byte.
type patch struct {
	offset int64
	value  byte
}

// patchedFile is a view of a file with changed bits corrected. The file itself is not changed.
type patchedFile struct {
	diskFile
	patches []patch
}

// ReadAt reads the bytes of the file with the patches applied.
func (f *patchedFile) ReadAt(buf []byte, offset int64) (int, error) {
	n, err := f.diskFile.ReadAt(buf, offset)
	for _, patch := range f.patches {
		if at := patch.offset - offset; at >= 0 && at < int64(n) {
			buf[at] = patch.value
		}
	}
	return n, err
}

// isPlausible reports whether the bus could have written a frame with these fields. It does not check
// the checksum.
func (f frame) isPlausible() bool {
	switch f.kind {
	case markFrame, endFrame:
		return f.subject == "" && f.id == "" && len(f.data) == 0
	case purgeFrame, recordFrame:
		return isItem(f.subject) || bus.CheckSubject(f.subject) == nil
	}
	return false
}

// holdsRecord reports whether a frame has its own sequence.
func (f frame) holdsRecord() bool { return f.kind == recordFrame || f.kind == purgeFrame }

// readDamaged parses raw as a frame and ignores its checksum. It returns false if the fields of the
// head are inconsistent.
func readDamaged(raw []byte, salt uint64, offset int64) (frame, bool) {
	if frameSize(raw) != len(raw) {
		return frame{}, false
	}
	raw = slices.Clone(raw)
	binary.LittleEndian.PutUint32(raw[4:], sumFrame(raw, salt, offset))
	f, ok := parseFrame(raw, salt, offset)
	return f, ok && f.isPlausible() && strings.ToValidUTF8(f.id, "") == f.id
}

// mendFrame searches for a single changed bit in a frame, and returns the original byte. It returns
// false if more than one bit differs. The checksum identifies every single bit in frames of all
// allowed lengths.
func mendFrame(raw []byte, salt uint64, offset int64) (p patch, mended frame, ok bool) {
	index, bit, ok := findBit(raw, sumFrame(raw, salt, offset))
	if !ok {
		return patch{}, frame{}, false
	}
	raw = slices.Clone(raw)
	raw[index] ^= 1 << bit
	f, ok := parseFrame(raw, salt, offset)
	return patch{offset + int64(index), raw[index]}, f, ok && f.isPlausible()
}

// findBit finds the single bit whose change explains the difference between a frame's stored checksum
// and the expected one.
func findBit(raw []byte, sum uint32) (index, bit int, ok bool) {
	difference := sum ^ binary.LittleEndian.Uint32(raw[4:])
	if bits.OnesCount32(difference) == 1 { // the changed bit is in the checksum itself
		n := bits.TrailingZeros32(difference)
		return 4 + n/8, n % 8, true
	}
	// A changed bit changes the checksum by a value that depends only on its distance from the
	// end of the frame. For the last bit the value is the polynomial. For each bit before it,
	// the checksum's register takes one more step.
	const polynomial = 0x82f63b78 // crc32.Castagnoli
	for step, register := 0, uint32(polynomial); step < 8*(len(raw)-4); step++ {
		if register == difference {
			index = len(raw) - 1 - step/8
			if index < 8 { // the checksum does not cover its own four bytes
				index -= 4
			}
			return index, 7 - step%8, true
		}
		carry := register & 1
		register >>= 1
		if carry == 1 {
			register ^= polynomial
		}
	}
	return 0, 0, false
}

// mendHead searches for a single changed bit in a segment's head.
func mendHead(raw []byte) (p patch, h head, ok bool) {
	for index := range min(len(raw), segmentHead) {
		for bit := range 8 {
			raw[index] ^= 1 << bit
			h, ok = parseHead(raw)
			value := raw[index]
			raw[index] ^= 1 << bit
			if ok {
				return patch{int64(index), value}, h, true
			}
		}
	}
	return patch{}, head{}, false
}
