package localfiles

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"io/fs"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// leastDead is how many bytes of the newest pack are removed before the rest is moved.
const leastDead = 16 << 10

// removePacked forgets a blob that was last put before a time, in all its copies. The
// room of removed ones is given back when they are half of a pack. That a full disk has no
// room for the rest of a pack is no error: the blob is removed, and an empty pack may go.
func (p *packs) removePacked(sum [sha256.Size]byte, before time.Time) (spared, removed bool, err error) {
	if err := p.ensureOpen(); err != nil {
		return false, false, err
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	spared, removed, err = p.markRemoved(sum, before)
	if err == nil && removed {
		err = p.shrinkPacks()
	}
	return spared, removed, err
}

// shrinkPacks gives back the room of removed blobs. The caller holds writing.
func (p *packs) shrinkPacks() error {
	if pack := p.newest; pack != nil && pack.dead >= leastDead && 2*pack.dead > pack.end {
		if err := p.fillNewest(); err != nil {
			return exceptNoRoom(err)
		}
	}
	var shrink []*fullPack
	for _, full := range p.full {
		if full.live > 0 && 2*full.live < full.size && !full.damaged {
			shrink = append(shrink, full)
		}
	}
	// An empty pack makes room for the rest of others.
	slices.SortStableFunc(shrink, func(a, b *fullPack) int { return cmp.Compare(a.live, b.live) })
	for _, full := range shrink {
		err := p.shrinkPack(full)
		if full.damaged = errors.Is(err, errKeepDamaged); full.damaged {
			continue
		}
		if err != nil {
			return exceptNoRoom(err)
		}
	}
	return nil
}

// exceptNoRoom is an error that is not about a full disk.
func exceptNoRoom(err error) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return nil
	}
	return err
}

// markRemoved marks the copies of a blob. One with a damaged head spares it. The caller holds writing.
func (p *packs) markRemoved(sum [sha256.Size]byte, before time.Time) (spared, removed bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found, _, err := p.findCopies(sum, len(p.full)+1)
	if err != nil || len(found) == 0 {
		return false, false, err
	}
	if slices.ContainsFunc(found, func(r foundRecord) bool { return r.damaged || !r.put.Before(before) }) {
		return true, false, nil
	}
	for _, r := range found {
		if r.full != nil && r.full.live == 0 {
			if err := p.countLive(r.full); err != nil {
				return false, false, err
			}
		}
		if err := p.withFile(r.full, true, func(file packFile) error { return markDead(file, r.placedRecord) }); err != nil {
			return false, false, err
		}
		size := r.endOffset(r.at) - r.at
		if r.full == nil {
			delete(p.newest.records, sum)
			p.newest.dead += size
			continue
		}
		r.full.live -= size
	}
	return false, true, nil
}

// countLive counts the bytes of a full pack that are not removed. The caller holds mu.
func (p *packs) countLive(full *fullPack) error {
	return p.withFile(full, false, func(file packFile) error {
		size, err := file.Size()
		if err != nil {
			return err
		}
		if size, err = FindZeros(file, 0, size); err != nil { // of a pack whose sync failed
			return err
		}
		live := int64(1)
		_, err = readHeads(file, full.number, full.index.listOffsets(), func(r placedRecord) bool {
			live += r.endOffset(r.at) - r.at
			return true
		})
		if err == nil {
			full.live, full.size = live, size
		}
		return err
	})
}

// shrinkPack writes the rest of a pack to the newest, and removes it. Both copies are
// there for a moment, and after a kill between the two. A pack with damage stays, to be
// looked at: errKeepDamaged. The caller holds writing.
func (p *packs) shrinkPack(full *fullPack) error {
	left, err := p.readLeft(full)
	if err == nil && len(left) > 0 {
		err = p.writeBlobs(left)
	}
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.renewMoved(full, left); err != nil {
		return err
	}
	p.full = slices.DeleteFunc(p.full, func(f *fullPack) bool { return f == full })
	// An index without its pack would be taken for that of a later one.
	err = p.dir.Remove(indexName(full.number))
	if err == nil {
		err = p.dir.Sync() // an index that comes back without its pack would tell of a loss
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return p.dir.Remove(packName(full.number))
}

// readLeft reads the blobs of a full pack that are not removed.
func (p *packs) readLeft(full *fullPack) (left []*queuedBlob, err error) {
	err = p.withFile(full, false, func(file packFile) error {
		var records []placedRecord
		bad, err := readHeads(file, full.number, full.index.listOffsets(), func(r placedRecord) bool {
			records = append(records, r)
			return !r.damaged
		})
		if err != nil {
			return err
		}
		if len(bad) > 0 || len(records) > 0 && records[len(records)-1].damaged {
			return errKeepDamaged
		}
		for _, r := range records {
			data, whole, err := readBlob(file, r)
			if err != nil {
				return err
			}
			if !whole {
				return errKeepDamaged
			}
			left = append(left, &queuedBlob{sum: r.sum, data: data, put: r.put})
		}
		return nil
	})
	return left, err
}

// renewMoved gives the copies of blobs the times of Puts that came while they were
// written. The caller holds writing and mu.
func (p *packs) renewMoved(full *fullPack, moved []*queuedBlob) error {
	if len(moved) == 0 {
		return nil
	}
	put := make(map[[sha256.Size]byte]time.Time, len(moved))
	for _, b := range moved {
		put[b.sum] = b.put
	}
	var late []placedRecord
	err := p.withFile(full, false, func(file packFile) error {
		_, err := readHeads(file, full.number, full.index.listOffsets(), func(r placedRecord) bool {
			if was, isMoved := put[r.sum]; isMoved && r.put.After(was) {
				late = append(late, r)
			}
			return true
		})
		return err
	})
	for _, r := range late {
		if err == nil {
			_, err = p.renewLocked(r.sum, r.put)
		}
	}
	return err
}

// errKeepDamaged says that a pack holds damage, which stays where it can be looked at.
var errKeepDamaged = errors.New("a damaged blob")
