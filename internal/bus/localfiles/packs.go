package localfiles

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"company/internal/bus"
	"company/internal/lib/safedir"
)

const (
	packsName   = blobsName + "/packs"
	packSuffix  = ".pack"
	indexSuffix = ".index"
	// maxPacked limits the size of a blob in a pack, in bytes. A larger blob is a file.
	maxPacked = 128 << 10
	// packSize is the size at which a pack is full, in bytes. A start reads the heads of
	// the newest pack.
	packSize = 8 << 20
)

// packs stores small blobs in files that hold many of them. A blob costs one write and shares its sync
// with blobs that arrive at the same time. A file per blob would cost two syncs and about sixty system
// calls.
type packs struct {
	own      *safedir.Folder // folder of the bus
	packSize int64

	queue queuedBlobs

	writing sync.Mutex   // held while writing or removing packs; locked before mu
	mu      sync.RWMutex // guards the fields below
	dir     packFolder
	full    []*fullPack // oldest first
	newest  *newestPack // if nil, the next blob starts a pack
	last    uint32      // highest pack number
	closed  bool
}

// fullPack is a pack that does not grow any more.
type fullPack struct {
	number  uint32
	index   packIndex
	live    int64 // 1 + bytes of the records that are not removed; 0 means not counted yet
	size    int64
	damaged bool  // if true, the pack is not compacted
	gaps    []gap // damage that is in no index
	lost    bool  // the index exists, but the pack does not
}

// newestPack is the pack that grows.
type newestPack struct {
	number  uint32
	file    packFile
	gaps    []gap                       // damage
	end     int64                       // offset of the next record
	room    Room                        // room in the file
	dead    int64                       // bytes of its removed records
	broken  bool                        // a sync failed, so the pack must not grow
	records map[[sha256.Size]byte]int64 // offsets by blob name
}

func packName(number uint32) string  { return fmt.Sprintf("%08d%s", number, packSuffix) }
func indexName(number uint32) string { return fmt.Sprintf("%08d%s", number, indexSuffix) }

// parseNumber parses the number of a pack.
func parseNumber(text string) (number uint32, ok bool) {
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err == nil
}

// checkOpen reports whether the packs are open. It returns ErrClosed after close.
func (p *packs) checkOpen() (isOpen bool, err error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return false, bus.ErrClosed
	}
	return p.dir != nil, nil
}

// openPacks opens the packs if they are not open. The first operation on a blob calls it. With toWrite
// it creates their folder. The caller holds writing.
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
		err = p.own.Sync(blobsName) // even if it existed: a killed process may have created it without a sync
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

// findPacks reads the indexes of the packs, and the heads of the newest pack.
func (p *packs) findPacks(dir packFolder) error {
	// A killed process may have created a pack without syncing its name.
	if err := dir.Sync(); err != nil {
		return err
	}
	names, err := dir.List()
	if err != nil {
		return err
	}
	var numbers []uint32
	for _, name := range names {
		if base, _, isIndex := strings.Cut(strings.TrimPrefix(name, "."), ".index."); isIndex &&
			safedir.IsUnfinished(name, base+".index") {
			if err := dir.Remove(name); err != nil { // left by a process that died
				return err
			}
		}
		text, isPack := strings.CutSuffix(name, packSuffix)
		if n, ok := parseNumber(text); isPack && ok && packName(n) == name {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	var full []*fullPack
	var newest *newestPack
	for i, number := range numbers {
		if i == len(numbers)-1 {
			if slices.Contains(names, indexName(number)) {
				if err := removeStaleIndex(dir, number); err != nil {
					return err
				}
			}
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
	full = addLost(dir, full, names)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dir, p.full, p.newest = dir, full, newest
	if len(full) > 0 {
		p.last = full[len(full)-1].number
	}
	if newest != nil {
		p.last = max(p.last, newest.number)
	}
	return nil
}

// openFull reads the index of a full pack. It rebuilds the index if it is missing or damaged.
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
	scanned, err := scanWhole(file, number)
	if err != nil {
		return nil, err
	}
	pack.index = newPackIndex(scanned.mapOffsets())
	if pack.gaps = scanned.gaps; len(pack.gaps) > 0 {
		pack.damaged = true
		return pack, nil // an index would hide the lost blobs
	}
	// Ignore the error, so that blobs can be read on a full disk. Without the file, the next
	// start builds the index again.
	_ = dir.WriteFile(indexName(number), pack.index.encodeIndex())
	return pack, nil
}

// removeStaleIndex removes the index of the newest pack, which will grow. A process wrote the index
// and ended before it started another pack. If the pack is filled while it has damage, no new index is
// written, and the stale one would hide the later records.
func removeStaleIndex(dir packFolder, number uint32) error {
	if err := dir.Remove(indexName(number)); err != nil {
		return err
	}
	return dir.Sync() // so that a power cut does not restore it
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
	scanned, err := scanWhole(file, number)
	if err != nil {
		return nil, err
	}
	size, err := file.Size()
	if err != nil {
		return nil, err
	}
	pack := &newestPack{number: number, file: file, room: Room{Bytes: size}, gaps: scanned.gaps, end: scanned.end,
		dead: scanned.end, records: scanned.mapOffsets()}
	for _, r := range scanned.records {
		pack.dead -= r.endOffset(r.at) - r.at
	}
	return pack, nil
}

// scanWhole reads the heads of a pack and settles the records that may not have been synced. Zeros at
// the end are room for more records.
func scanWhole(file packFile, number uint32) (p scannedPack, err error) {
	size, err := file.Size()
	if err != nil {
		return p, err
	}
	used, err := FindZeros(file, 0, size)
	if err != nil {
		return p, err
	}
	if p, err = scanPack(file, number, min(roundUp(used), size)); err != nil { // a head may end in zeros, so round up
		return p, err
	}
	return p, p.settleTail(file, number)
}

// settleTail handles the records that may not have been synced. A record that a kill truncated was not
// acknowledged and is marked dead. The others are written again and synced, because after a failed
// sync the kernel may show bytes that will never reach the disk. A record that was synced once is
// kept; if it has changed, it is damaged. A mark tells the next start that all records are on disk.
func (p *scannedPack) settleTail(file packFile, pack uint32) error {
	unsure, err := p.settleGaps(file, pack)
	if err != nil {
		return err
	}
	kept := p.records[:0]
	for _, placedRecord := range p.records {
		if placedRecord.at >= p.synced {
			unsure = true
			data, whole, err := readBlob(file, placedRecord)
			if err == nil && !whole {
				err = markDead(file, placedRecord)
			}
			if err == nil && whole {
				err = rewriteRecord(file, placedRecord, data)
			}
			if err != nil {
				return err
			}
			if !whole {
				continue
			}
		}
		kept = append(kept, placedRecord)
	}
	p.records = kept
	if !unsure {
		return nil
	}
	if err := file.Sync(); err != nil {
		return err
	}
	writeMark(file, pack, p.end)
	return nil
}

// rewriteRecord writes an existing record again.
func rewriteRecord(file packFile, r placedRecord, data []byte) error {
	raw := make([]byte, headSize, headSize+len(data))
	if _, err := file.ReadAt(raw, r.at); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	_, err := file.WriteAt(append(raw, data...), r.at)
	return err
}

// markDead marks a record as removed.
func markDead(file io.WriterAt, r placedRecord) error {
	return writeState(file, r.at, stateDead, r.put)
}

// writeState writes the state and the time of the record at an offset. Both are in one sector, so a
// disk writes them together.
func writeState(file io.WriterAt, at int64, state byte, put time.Time) error {
	b := encodeState(state, put)
	_, err := file.WriteAt(b[:], at+stateAt)
	return err
}
