package localfiles

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"company/internal/bus"
	"company/internal/folder"
)

const (
	packsName  = blobsName + "/packs"
	packSuffix = ".pack"
	// maxPacked is how many bytes a blob in a pack may have; a larger one is a file.
	maxPacked = 128 << 10
	// packSize is how large a pack grows before the next one begins, in bytes. A start
	// reads the heads of the newest pack.
	packSize = 8 << 20
)

// packs keeps small blobs in files of many. A blob costs a write and a sync that it shares
// with those that come at the same time; a file for each costs two syncs and some sixty
// calls of the kernel.
type packs struct {
	own      *folder.Folder // of the bus
	packSize int64

	queue queuedBlobs

	writing sync.Mutex   // held by who writes to packs or removes them; taken before mu
	mu      sync.RWMutex // guards all below
	dir     packFolder
	full    []*fullPack // the oldest first
	newest  *newestPack // nil: the next blob begins one
	last    uint32      // the highest number of a pack
	closed  bool
}

// fullPack is a pack that does not grow.
type fullPack struct {
	number  uint32
	index   packIndex
	live    int64 // bytes of the records that are not removed, and one more; 0: not counted yet
	size    int64
	damaged bool // it is not shrunk
}

// newestPack is the pack that grows.
type newestPack struct {
	number  uint32
	file    packFile
	end     int64                       // the next record stands here
	dead    int64                       // bytes of its records that were removed
	broken  bool                        // a sync failed: it grows no more
	grown   bool                        // by this process
	records map[[sha256.Size]byte]int64 // where they stand
}

func packName(number uint32) string  { return fmt.Sprintf("%08d%s", number, packSuffix) }
func indexName(number uint32) string { return fmt.Sprintf("%08d.index", number) }

// checkOpen says whether the packs were found.
func (p *packs) checkOpen() (isOpen bool, err error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return false, bus.ErrClosed
	}
	return p.dir != nil, nil
}

// openPacks finds the packs, once: the first call that needs a blob does. toWrite makes
// their folder. The caller holds writing.
func (p *packs) openPacks(toWrite bool) error {
	if isOpen, err := p.checkOpen(); isOpen || err != nil {
		return err
	}
	_, err := p.own.Lstat(packsName)
	if errors.Is(err, fs.ErrNotExist) {
		if !toWrite {
			return nil
		}
		err = p.own.Mkdir(packsName)
	}
	if err == nil {
		err = p.own.Sync(blobsName) // also when it was there: its maker may have been killed before
	}
	if err != nil {
		return err
	}
	dir, err := p.own.Sub(packsName)
	if err != nil {
		return err
	}
	if err := p.findPacks(plainFolder{dir}); err != nil {
		return errors.Join(err, dir.Close())
	}
	return nil
}

// findPacks reads the indexes of the packs, and the heads of the newest.
func (p *packs) findPacks(dir packFolder) error {
	// A pack without blobs may be there whose maker was killed before it synced the name.
	if err := dir.Sync(); err != nil {
		return err
	}
	names, err := dir.List()
	if err != nil {
		return err
	}
	var numbers []uint32
	for _, name := range names {
		if base, _, isIndex := strings.Cut(strings.TrimPrefix(name, "."), ".index."); isIndex && folder.IsUnfinished(name, base+".index") {
			if err := dir.Remove(name); err != nil { // of a process that died
				return err
			}
		}
		text, isPack := strings.CutSuffix(name, packSuffix)
		if n, err := strconv.ParseUint(text, 10, 32); isPack && err == nil && packName(uint32(n)) == name {
			numbers = append(numbers, uint32(n))
		}
	}
	slices.Sort(numbers)
	var full []*fullPack
	var newest *newestPack
	for i, number := range numbers {
		if i == len(numbers)-1 {
			if newest, err = openNewest(dir, number); err != nil {
				return err
			}
			continue
		}
		pack, err := openFull(dir, number)
		if err != nil {
			return err
		}
		full = append(full, pack)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dir, p.full, p.newest = dir, full, newest
	if len(numbers) > 0 {
		p.last = numbers[len(numbers)-1]
	}
	return nil
}

// openFull reads the index of a full pack, and makes it where it is missing or damaged.
func openFull(dir packFolder, number uint32) (*fullPack, error) {
	pack := &fullPack{number: number}
	if text, err := dir.ReadFile(indexName(number), maxIndex); err == nil {
		if index, ok := decodePackIndex(text); ok {
			pack.index = index
			return pack, nil
		}
	}
	file, err := dir.Open(packName(number), true)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	scanned, err := scanPack(file, number)
	if err != nil {
		return nil, err
	}
	if err := scanned.settleTail(file); err != nil {
		return nil, err
	}
	pack.index = newPackIndex(scanned.mapOffsets())
	// Without a file the next start makes the index again; a full disk keeps no blob from
	// being read.
	_ = dir.WriteFile(indexName(number), pack.index.encodeIndex())
	return pack, nil
}

// openNewest reads the heads of the newest pack.
func openNewest(dir packFolder, number uint32) (_ *newestPack, err error) {
	file, err := dir.Open(packName(number), true)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	scanned, err := scanPack(file, number)
	if err != nil {
		return nil, err
	}
	if err := scanned.settleTail(file); err != nil {
		return nil, err
	}
	pack := &newestPack{number: number, file: file, end: scanned.end, dead: scanned.end, records: scanned.mapOffsets()}
	for _, r := range scanned.records {
		pack.dead -= r.endOffset(r.at) - r.at
	}
	return pack, nil
}

// settleTail looks at the records that no sync is known of. One that a kill cut off was not
// acknowledged: it is dead. The others are written once more and synced: where a sync
// failed, the kernel may show bytes that are not on the disk and will not be. A record that
// was on the disk once stays, and is damaged when it has changed.
func (p *scannedPack) settleTail(file packFile) error {
	unsure, kept := false, p.records[:0]
	for _, r := range p.records {
		if r.at >= p.synced {
			unsure = true
			data, whole, err := readBlob(file, r)
			if err == nil && !whole {
				err = markDead(file, r.at)
			}
			if err == nil && whole {
				err = rewriteRecord(file, r, data)
			}
			if err != nil {
				return err
			}
			if !whole {
				continue
			}
		}
		kept = append(kept, r)
	}
	p.records = kept
	if unsure {
		return file.Sync()
	}
	return nil
}

// rewriteRecord writes a record that stands in a file once more.
func rewriteRecord(file packFile, r placedRecord, data []byte) error {
	raw := make([]byte, headSize, headSize+len(data))
	if _, err := file.ReadAt(raw, r.at); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	_, err := file.WriteAt(append(raw, data...), r.at)
	return err
}

func markDead(file io.WriterAt, at int64) error {
	_, err := file.WriteAt([]byte{stateDead}, at+stateAt)
	return err
}

// foundRecord is a blob in a pack.
type foundRecord struct {
	placedRecord
	full *fullPack // nil: in the newest
}

// withFile calls fn with the file of a pack; toWrite opens it to write. The caller holds mu.
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

// readHeads calls fn with each record of a full pack that stands at the given offsets and
// is not removed, until fn gives false.
func readHeads(file io.ReaderAt, number uint32, offsets []int64, fn func(placedRecord) bool) error {
	var head [headSize]byte
	for _, at := range offsets {
		if _, err := file.ReadAt(head[:], at); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if h, ok := decodeHead(head[:], number, at); ok && h.state != stateDead && !fn(placedRecord{h, at}) {
			return nil
		}
	}
	return nil
}

// findCopies gives the copies of a blob, the newest first, at most limit of them. The
// caller holds mu.
func (p *packs) findCopies(sum [sha256.Size]byte, limit int) (found []foundRecord, err error) {
	if p.closed {
		return nil, bus.ErrClosed
	}
	if p.newest != nil {
		if at, ok := p.newest.records[sum]; ok {
			err := readHeads(p.newest.file, p.newest.number, []int64{at}, func(r placedRecord) bool {
				found = append(found, foundRecord{r, nil})
				return true
			})
			if err != nil {
				return nil, err
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
		err := p.withFile(full, false, func(file packFile) error {
			return readHeads(file, full.number, offsets, func(r placedRecord) bool {
				if r.sum == sum {
					found = append(found, foundRecord{r, full})
				}
				return true
			})
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// getPacked opens a blob; ErrNotFound: no pack has it.
func (p *packs) getPacked(ctx context.Context, sum [sha256.Size]byte) (io.ReadCloser, error) {
	if err := p.ensureOpen(); err != nil {
		return nil, err
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	found, err := p.findCopies(sum, 1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, bus.ErrNotFound
	}
	r := &packedReader{ctx: ctx, path: p.own.Join(packsName), name: hex.EncodeToString(sum[:])}
	err = p.readCopy(found[0], r)
	if err == nil && r.whole {
		return r, nil
	}
	// A copy may be whole.
	all, findErr := p.findCopies(sum, len(p.full)+1)
	for _, f := range all[min(1, len(all)):] {
		copied := *r
		if p.readCopy(f, &copied) == nil && copied.whole {
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

// ensureOpen finds the packs where that has not been done.
func (p *packs) ensureOpen() error {
	if isOpen, err := p.checkOpen(); isOpen || err != nil {
		return err
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	return p.openPacks(false)
}

// packedReader is the bytes of a blob, with ErrDamaged in place of io.EOF when they are not
// those that the name promises.
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

// listByte lists the blobs whose names begin with a byte, by name.
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
		if len(offsets) == 0 {
			continue
		}
		slices.Sort(offsets)
		err := p.withFile(full, false, func(file packFile) error { return readHeads(file, full.number, offsets, note) })
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
		if err := readHeads(p.newest.file, p.newest.number, offsets, note); err != nil {
			return nil, err
		}
	}
	for sum, h := range newest {
		list = append(list, bus.BlobInfo{Hash: hex.EncodeToString(sum[:]), Size: h.size, Time: h.put})
	}
	slices.SortFunc(list, func(a, b bus.BlobInfo) int { return strings.Compare(a.Hash, b.Hash) })
	return list, nil
}
