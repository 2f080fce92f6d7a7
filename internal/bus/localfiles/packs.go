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
	"company/internal/folder"
)

const (
	packsName   = blobsName + "/packs"
	packSuffix  = ".pack"
	indexSuffix = ".index"
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
	damaged bool  // it is not shrunk
	gaps    []gap // damage of which no index tells
	lost    bool  // its index is there, and it is not
}

// newestPack is the pack that grows.
type newestPack struct {
	number  uint32
	file    packFile
	gaps    []gap                       // damage
	end     int64                       // the next record stands here
	room    Room                        // of the file
	dead    int64                       // bytes of its records that were removed
	broken  bool                        // a sync failed: it grows no more
	records map[[sha256.Size]byte]int64 // where they stand
}

func packName(number uint32) string  { return fmt.Sprintf("%08d%s", number, packSuffix) }
func indexName(number uint32) string { return fmt.Sprintf("%08d%s", number, indexSuffix) }

// parseNumber reads the number of a pack.
func parseNumber(text string) (number uint32, ok bool) {
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err == nil
}

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
	scanned, err := scanWhole(file, number)
	if err != nil {
		return nil, err
	}
	pack.index = newPackIndex(scanned.mapOffsets())
	if pack.gaps = scanned.gaps; len(pack.gaps) > 0 {
		pack.damaged = true
		return pack, nil // an index would hide what the pack has lost
	}
	// Without a file the next start makes the index again; a full disk keeps no blob from
	// being read.
	_ = dir.WriteFile(indexName(number), pack.index.encodeIndex())
	return pack, nil
}

// removeStaleIndex removes the index of a pack that is going to grow: a process wrote it, and
// ended before it began another pack. Where the pack is filled with damage in it, no index takes
// the place of this one, which would hide what the pack got since.
func removeStaleIndex(dir packFolder, number uint32) error {
	if err := dir.Remove(indexName(number)); err != nil {
		return err
	}
	return dir.Sync() // a power cut does not bring it back
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
	pack := &newestPack{number: number, file: file, room: Room{Bytes: size}, gaps: scanned.gaps, end: scanned.end, dead: scanned.end, records: scanned.mapOffsets()}
	for _, r := range scanned.records {
		pack.dead -= r.endOffset(r.at) - r.at
	}
	return pack, nil
}

// scanWhole reads the heads of a pack, and settles what no sync is known of. Zeros at its end
// are room for more.
func scanWhole(file packFile, number uint32) (p scannedPack, err error) {
	size, err := file.Size()
	if err != nil {
		return p, err
	}
	used, err := FindZeros(file, 0, size)
	if err != nil {
		return p, err
	}
	if p, err = scanPack(file, number, min(roundUp(used), size)); err != nil { // a head may end in zeros
		return p, err
	}
	return p, p.settleTail(file, number)
}

// settleTail looks at the records that no sync is known of. One that a kill cut off was not
// acknowledged: it is dead. The others are written once more and synced: where a sync
// failed, the kernel may show bytes that are not on the disk and will not be. A record that
// was on the disk once stays, and is damaged when it has changed. A mark tells the next start
// that all of it is on the disk.
func (p *scannedPack) settleTail(file packFile, pack uint32) error {
	unsure, err := p.settleGaps(file, pack)
	if err != nil {
		return err
	}
	kept := p.records[:0]
	for _, r := range p.records {
		if r.at >= p.synced {
			unsure = true
			data, whole, err := readBlob(file, r)
			if err == nil && !whole {
				err = markDead(file, r)
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
	if !unsure {
		return nil
	}
	if err := file.Sync(); err != nil {
		return err
	}
	writeMark(file, pack, p.end)
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

// markDead marks a record as removed.
func markDead(file io.WriterAt, r placedRecord) error {
	return writeState(file, r.at, stateDead, r.put)
}

// writeState sets the state and the time of the record at an offset. Both are in one sector:
// a disk writes them together.
func writeState(file io.WriterAt, at int64, state byte, put time.Time) error {
	b := encodeState(state, put)
	_, err := file.WriteAt(b[:], at+stateAt)
	return err
}
