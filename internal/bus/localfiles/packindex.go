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

// packIndex tells where the blobs of a full pack are. It holds the first eight bytes of
// each name, sorted: twelve bytes for a blob, with its offset. The head of the record has
// the rest.
type packIndex struct {
	prefixes []uint64
	offsets  []uint32 // in units of headSize
}

// prefixOf is the part of a name by which an index finds it.
func prefixOf(sum [sha256.Size]byte) uint64 { return binary.BigEndian.Uint64(sum[:8]) }

// lookUp calls fn with each offset at which a name may stand, until fn gives true.
func (x packIndex) lookUp(prefix uint64, fn func(at int64) bool) {
	i, _ := slices.BinarySearch(x.prefixes, prefix)
	for ; i < len(x.prefixes) && x.prefixes[i] == prefix; i++ {
		if fn(int64(x.offsets[i]) * headSize) {
			return
		}
	}
}

// newPackIndex makes the index of a pack from where its blobs stand.
func newPackIndex(records map[[sha256.Size]byte]int64) packIndex {
	sums := slices.SortedFunc(maps.Keys(records), func(a, b [sha256.Size]byte) int { return bytes.Compare(a[:], b[:]) })
	x := packIndex{make([]uint64, len(sums)), make([]uint32, len(sums))}
	for i, sum := range sums {
		x.prefixes[i], x.offsets[i] = prefixOf(sum), uint32(records[sum]/headSize)
	}
	return x
}

const (
	// indexMagic begins the file of an index.
	indexMagic = "company blob index 1\n"
	// maxIndex is how many bytes an index may have; that of a full pack has some ten thousand.
	maxIndex = 4 << 20
)

// listOffsets are the offsets of the blobs, in order.
func (x packIndex) listOffsets() []int64 {
	places := make([]int64, len(x.offsets))
	for i, o := range x.offsets {
		places[i] = int64(o) * headSize
	}
	slices.Sort(places)
	return places
}

// encodeIndex is the file of an index: the names, the offsets, and a CRC-32C behind them.
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

// decodePackIndex reads the file of an index; ok says that it is whole.
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

// placedRecord is a record and where it stands.
type placedRecord struct {
	recordHead
	at int64
}

// scannedPack is what a pack holds.
type scannedPack struct {
	records []placedRecord // blobs that are not removed, in the order of the pack
	gaps    []gap          // between the records, and behind the last one
	end     int64          // behind all that any head claims, but a mark at the end: the next record may stand there
	synced  int64          // so far the pack is known to have been synced
}

// scanPack reads the heads of the first bytes of a pack. Where none stands it looks on: blobs
// behind damage are found. The bytes of blobs are not read.
func scanPack(file packFile, pack uint32, size int64) (p scannedPack, err error) {
	var head [headSize]byte
	mark := int64(-1) // where one stands behind which nothing was found
	for at := int64(0); at+headSize <= size; {
		if _, err := file.ReadAt(head[:], at); err != nil && !errors.Is(err, io.EOF) {
			return p, fmt.Errorf("read %s: %w", packName(pack), err)
		}
		decode := decodeHead
		if at == p.end {
			decode = recoverHead
		}
		h, ok := decode(head[:], pack, at)
		if !ok {
			at += headSize
			continue
		}
		if p.end < at {
			p.gaps = append(p.gaps, gap{p.end, at})
		}
		p.synced = max(p.synced, h.synced)
		mark = -1
		if h.magic == markMagic {
			mark = at
		}
		if h.magic == blobMagic && h.state != stateDead {
			p.records = append(p.records, placedRecord{h, at})
		}
		at = h.endOffset(at)
		p.end = at
	}
	if end := roundUp(size); p.end < end {
		p.gaps = append(p.gaps, gap{p.end, end})
		p.end = end
	} else if mark >= 0 {
		p.end = mark // it may not be on the disk: no batch behind it is to claim so
	}
	return p, nil
}

// mapOffsets is where the blobs of a pack stand.
func (p scannedPack) mapOffsets() map[[sha256.Size]byte]int64 {
	places := make(map[[sha256.Size]byte]int64, len(p.records))
	for _, r := range p.records {
		places[r.sum] = r.at
	}
	return places
}

// readBlob reads the bytes of a record; whole says that they are those of its name.
func readBlob(file io.ReaderAt, r placedRecord) (data []byte, whole bool, err error) {
	data = make([]byte, r.size)
	n, err := file.ReadAt(data, r.at+headSize)
	if errors.Is(err, io.EOF) {
		err = nil // an empty blob at the end, or one that was cut off
	}
	data = data[:n]
	return data, int64(n) == r.size && sha256.Sum256(data) == r.sum, err
}
