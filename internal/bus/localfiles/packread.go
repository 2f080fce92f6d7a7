package localfiles

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"company/internal/bus"
)

// foundRecord is a blob in a pack.
type foundRecord struct {
	placedRecord
	full *fullPack // nil if the blob is in the newest pack
}

// withFile calls fn with the file of a pack. A nil full means the newest pack. With toWrite the file
// is opened for writing. The caller holds mu.
func (p *packs) withFile(full *fullPack, toWrite bool, fn func(packFile) error) error {
	if full == nil {
		return fn(p.newest.file)
	}
	file, err := p.dir.Open(packName(full.number), toWrite)
	if err != nil {
		return err
	}
	return errors.Join(fn(file), file.Close())
}

// readHeads calls fn with each record at the given offsets that is not removed, until fn returns
// false. It returns the locations of the heads that cannot be read.
func readHeads(
	file io.ReaderAt, number uint32, offsets []int64, fn func(placedRecord) bool,
) (bad []unreadable, err error) {
	var head [headSize]byte
	for _, at := range offsets {
		clear(head[:]) // a truncated head must not contain bytes of the previous one
		if _, err := file.ReadAt(head[:], at); err != nil && !errors.Is(err, io.EOF) {
			return bad, err
		}
		recordHead, ok := recoverHead(head[:], number, at)
		if !ok {
			bad = append(bad, unreadable{number, at})
			continue
		}
		if recordHead.state != stateDead && !fn(placedRecord{recordHead, at}) {
			break
		}
	}
	return bad, nil
}

// findCopies returns at most limit copies of a blob, newest pack first. It also returns the locations
// of unreadable heads that may belong to further copies. The caller holds mu.
func (p *packs) findCopies(sum [sha256.Size]byte, limit int) (found []foundRecord, bad []unreadable, err error) {
	if p.closed {
		return nil, nil, bus.ErrClosed
	}
	if p.newest != nil {
		if at, ok := p.newest.records[sum]; ok {
			bad, err = readHeads(p.newest.file, p.newest.number, []int64{at}, func(r placedRecord) bool {
				found = append(found, foundRecord{r, nil})
				return true
			})
			if err != nil {
				return nil, nil, err
			}
		}
	}
	for _, full := range slices.Backward(p.full) {
		if len(found) >= limit {
			break
		}
		var offsets []int64
		full.index.lookUp(prefixOf(sum), func(at int64) bool { offsets = append(offsets, at); return false })
		if len(offsets) == 0 {
			continue
		}
		if full.lost {
			bad = append(bad, unreadable{full.number, offsets[0]})
			continue
		}
		err := p.withFile(full, false, func(file packFile) error {
			more, err := readHeads(file, full.number, offsets, func(r placedRecord) bool {
				if r.sum == sum {
					found = append(found, foundRecord{r, full})
				}
				return true
			})
			bad = append(bad, more...)
			return err
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return found, bad, nil
}

// getPacked opens a blob. It returns ErrNotFound if no pack has it, and ErrDamaged if a pack had it.
// It returns both if a pack may have had it.
func (p *packs) getPacked(ctx context.Context, sum [sha256.Size]byte) (io.ReadCloser, error) {
	if err := p.ensureOpen(); err != nil {
		return nil, err
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	found, bad, err := p.findCopies(sum, 1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, p.missError(bad)
	}
	r := &packedReader{ctx: ctx, path: p.own.Join(packsName), name: hex.EncodeToString(sum[:])}
	err = p.readCopy(found[0], r)
	if err == nil && r.whole {
		return r, nil
	}
	// Another copy may be intact.
	all, _, findErr := p.findCopies(sum, len(p.full)+1)
	for _, foundRecord := range all[min(1, len(all)):] {
		copied := *r
		if p.readCopy(foundRecord, &copied) == nil && copied.whole {
			return &copied, nil
		}
	}
	if err = errors.Join(err, findErr); err != nil {
		return nil, err
	}
	return r, nil
}

// readCopy reads a record into a reader. The caller holds mu.
func (p *packs) readCopy(f foundRecord, r *packedReader) error {
	return p.withFile(f.full, false, func(file packFile) error {
		data, whole, err := readBlob(file, f.placedRecord)
		r.data, r.whole = bytes.NewReader(data), whole
		return err
	})
}

// ensureOpen opens the packs if they are not open.
func (p *packs) ensureOpen() error {
	if isOpen, err := p.checkOpen(); isOpen || err != nil {
		return err
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	return p.openPacks(false)
}

// packedReader reads the bytes of a blob. It returns ErrDamaged instead of io.EOF if the bytes do not
// match the name.
type packedReader struct {
	ctx   context.Context
	data  *bytes.Reader
	name  string
	path  string // for people
	whole bool
}

func (r *packedReader) Read(b []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	n, err := r.data.Read(b)
	if errors.Is(err, io.EOF) && !r.whole {
		err = fmt.Errorf("a pack of %s does not hold what the name %s says: %w", r.path, r.name, bus.ErrDamaged)
	}
	return n, err
}

func (r *packedReader) Close() error { return nil }

// listByte lists the blobs whose names start with a byte, in order.
func (p *packs) listByte(first byte) (list []bus.BlobInfo, err error) {
	if err := p.ensureOpen(); err != nil {
		return nil, err
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return nil, bus.ErrClosed
	}
	newest := map[[sha256.Size]byte]recordHead{}
	note := func(r placedRecord) bool {
		if known, ok := newest[r.sum]; !ok || known.put.Before(r.put) {
			newest[r.sum] = r.recordHead
		}
		return true
	}
	for _, full := range p.full {
		var offsets []int64
		i, _ := slices.BinarySearch(full.index.prefixes, uint64(first)<<56)
		for ; i < len(full.index.prefixes) && byte(full.index.prefixes[i]>>56) == first; i++ {
			offsets = append(offsets, int64(full.index.offsets[i])*headSize)
		}
		if len(offsets) == 0 || full.lost {
			continue
		}
		slices.Sort(offsets)
		err := p.withFile(full, false, func(file packFile) error {
			_, err := readHeads(file, full.number, offsets, note)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if p.newest != nil {
		var offsets []int64
		for sum, at := range p.newest.records {
			if sum[0] == first {
				offsets = append(offsets, at)
			}
		}
		if _, err := readHeads(p.newest.file, p.newest.number, offsets, note); err != nil {
			return nil, err
		}
	}
	for sum, h := range newest {
		list = append(list, bus.BlobInfo{Hash: hex.EncodeToString(sum[:]), Size: h.size, Time: h.put})
	}
	slices.SortFunc(list, func(a, b bus.BlobInfo) int { return strings.Compare(a.Hash, b.Hash) })
	return list, nil
}
