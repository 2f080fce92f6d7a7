package localfiles

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"strings"
)

// packIndex maps blobs of a full pack to their offsets. It holds the first eight bytes of each name,
// sorted, and the offset: twelve bytes per blob. The head of the record holds the full name.
type packIndex struct {
	prefixes []uint64
	offsets  []uint32 // in units of headSize
}

// prefixOf returns the prefix of a name that the index stores.
func prefixOf(sum [sha256.Size]byte) uint64 { return binary.BigEndian.Uint64(sum[:8]) }

// lookUp calls fn with each offset of a blob whose name has the prefix, until fn returns true.
func (x packIndex) lookUp(prefix uint64, fn func(at int64) bool) {
	i, _ := slices.BinarySearch(x.prefixes, prefix)
	for ; i < len(x.prefixes) && x.prefixes[i] == prefix; i++ {
		if fn(int64(x.offsets[i]) * headSize) {
			return
		}
	}
}

// newPackIndex builds the index of a pack from the offsets of its blobs.
func newPackIndex(records map[[sha256.Size]byte]int64) packIndex {
	sums := slices.SortedFunc(maps.Keys(records), func(a, b [sha256.Size]byte) int { return bytes.Compare(a[:], b[:]) })
	x := packIndex{make([]uint64, len(sums)), make([]uint32, len(sums))}
	for i, sum := range sums {
		x.prefixes[i], x.offsets[i] = prefixOf(sum), uint32(records[sum]/headSize)
	}
	return x
}

const (
	// indexMagic is the start of an index file.
	indexMagic = "company blob index 1\n"
	// maxIndex limits the size of an index file, in bytes. The index of a full pack has some ten
	// thousand.
	maxIndex = 4 << 20
)

// listOffsets returns the offsets of the blobs in ascending order.
func (x packIndex) listOffsets() []int64 {
	places := make([]int64, len(x.offsets))
	for i, o := range x.offsets {
		places[i] = int64(o) * headSize
	}
	slices.Sort(places)
	return places
}

// encodeIndex returns the content of an index file: the names, the offsets, and their CRC-32C.
func (x packIndex) encodeIndex() []byte {
	b := make([]byte, 0, len(indexMagic)+len(x.prefixes)*12+4)
	b = append(b, indexMagic...)
	for _, p := range x.prefixes {
		b = binary.LittleEndian.AppendUint64(b, p)
	}
	for _, o := range x.offsets {
		b = binary.LittleEndian.AppendUint32(b, o)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crcTable))
}

// decodePackIndex decodes an index file. ok is false if it is damaged.
func decodePackIndex(b []byte) (x packIndex, ok bool) {
	n := len(b) - len(indexMagic) - 4
	if n < 0 || n%12 != 0 || !strings.HasPrefix(string(b[:len(indexMagic)]), indexMagic) ||
		binary.LittleEndian.Uint32(b[len(b)-4:]) != crc32.Checksum(b[:len(b)-4], crcTable) {
		return x, false
	}
	names, offsets := b[len(indexMagic):][:n/12*8], b[len(indexMagic)+n/12*8:len(b)-4]
	x = packIndex{make([]uint64, n/12), make([]uint32, n/12)}
	for i := range x.prefixes {
		x.prefixes[i], x.offsets[i] = binary.LittleEndian.Uint64(names[8*i:]), binary.LittleEndian.Uint32(offsets[4*i:])
	}
	return x, true
}

// placedRecord is a record and its offset.
type placedRecord struct {
	recordHead
	at int64
}

// scannedPack is the result of scanning a pack.
type scannedPack struct {
	records []placedRecord // blobs that are not removed, in pack order
	gaps    []gap          // between the records and after the last one
	end     int64          // offset for the next record, after all records; a final mark may be overwritten
	synced  int64          // the pack is known to be synced up to this offset
}

// scanPack reads the record heads in the first size bytes of a pack. At an offset without a head it
// searches on, so blobs after damage are found. It does not read the bytes of blobs.
func scanPack(file packFile, pack uint32, size int64) (p scannedPack, err error) {
	var head [headSize]byte
	mark := int64(-1) // offset of a mark that has no records after it
	for at := int64(0); at+headSize <= size; {
		if _, err := file.ReadAt(head[:], at); err != nil && !errors.Is(err, io.EOF) {
			return p, fmt.Errorf("read %s: %w", packName(pack), err)
		}
		decode := decodeHead
		if at == p.end {
			decode = recoverHead
		}
		recordHead, ok := decode(head[:], pack, at)
		if !ok {
			at += headSize
			continue
		}
		if p.end < at {
			p.gaps = append(p.gaps, gap{p.end, at})
		}
		p.synced = max(p.synced, recordHead.synced)
		mark = -1
		if recordHead.magic == markMagic {
			mark = at
		}
		if recordHead.magic == blobMagic && recordHead.state != stateDead {
			p.records = append(p.records, placedRecord{recordHead, at})
		}
		at = recordHead.endOffset(at)
		p.end = at
	}
	if end := roundUp(size); p.end < end {
		p.gaps = append(p.gaps, gap{p.end, end})
		p.end = end
	} else if mark >= 0 {
		p.end = mark // the mark may not be on disk, and no later batch may claim that it is
	}
	return p, nil
}

// mapOffsets returns the offsets of the pack's blobs by name.
func (p scannedPack) mapOffsets() map[[sha256.Size]byte]int64 {
	places := make(map[[sha256.Size]byte]int64, len(p.records))
	for _, r := range p.records {
		places[r.sum] = r.at
	}
	return places
}

// readBlob reads the bytes of a record. whole is true if they match its name.
func readBlob(file io.ReaderAt, r placedRecord) (data []byte, whole bool, err error) {
	data = make([]byte, r.size)
	n, err := file.ReadAt(data, r.at+headSize)
	if errors.Is(err, io.EOF) {
		err = nil // an empty blob at the end, or a truncated one
	}
	data = data[:n]
	return data, int64(n) == r.size && sha256.Sum256(data) == r.sum, err
}
