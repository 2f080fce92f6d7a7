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

// leastDead is how many bytes of the newest pack must be removed before the rest is moved.
const leastDead = 16 << 10

// removePacked removes all copies of a blob that was last put before a time. Disk space is freed once
// half of a pack is removed. It is not an error if a full disk has no space for moving the rest of a
// pack: the blob is removed anyway, and empty packs can still be deleted.
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

// shrinkPacks frees the disk space of removed blobs. The caller holds writing.
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
	// Remove empty packs first, to make space for moving the rest of others.
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

// exceptNoRoom returns err, or nil if err means that the disk is full.
func exceptNoRoom(err error) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return nil
	}
	return err
}

// markRemoved marks the copies of a blob as removed. spared means that a copy is recent or has a
// damaged head; then no copy is marked. The caller holds writing.
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
		if size, err = FindZeros(file, 0, size); err != nil { // a pack whose sync failed may end in zeros
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

// shrinkPack copies the rest of a pack to the newest one, and removes the pack. In between, and after
// a kill at that point, both copies exist. A damaged pack is kept for inspection, and shrinkPack
// returns errKeepDamaged. The caller holds writing.
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
	// Remove the index first: without its pack it would look like that of a later pack.
	err = p.dir.Remove(indexName(full.number))
	if err == nil {
		err = p.dir.Sync() // if a power cut restored the index without its pack, the pack would count as lost
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

// renewMoved updates the times of moved blobs that were put again while they were copied. The caller
// holds writing and mu.
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

// errKeepDamaged means that a pack is damaged and is kept for inspection.
var errKeepDamaged = errors.New("a damaged blob")
