package localfiles

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"company/internal/bus"
)

// gap is a range of a pack without record heads.
type gap struct{ from, to int64 }

// settleGaps splits the gaps of a pack at the synced offset. The part before it was on disk and is
// damage; which blobs it held is not known. The part after it belongs to a batch that was not
// acknowledged. settleGaps writes heads of removed blobs there, so that later starts do not treat it
// as damage.
func (p *scannedPack) settleGaps(file io.WriterAt, pack uint32) (covered bool, err error) {
	var damage []gap
	for _, g := range p.gaps {
		if g.from < p.synced {
			damage = append(damage, gap{g.from, min(g.to, p.synced)})
		}
		for at := max(g.from, p.synced); at < g.to; {
			h := recordHead{magic: blobMagic, state: stateDead, put: time.Unix(0, 0), size: min(g.to-at-headSize, maxPacked),
				synced: p.synced}
			head := encodeHead(h, pack, at)
			if _, err := file.WriteAt(head[:], at); err != nil {
				return covered, err
			}
			at, covered = h.endOffset(at), true
		}
	}
	p.gaps = damage
	return covered, nil
}

// unreadable is the location of a blob's head that cannot be read.
type unreadable struct {
	pack uint32
	at   int64
}

// describePlace describes a location in a pack for people.
func describePlace(pack uint32, at int64) string {
	return fmt.Sprintf("%s/%s at byte %d", packsName, packName(pack), at)
}

// missError explains why a blob is not found. It returns ErrNotFound if everything in the packs can be
// read. It adds ErrDamaged if the blob may be in an unreadable part, and returns only ErrDamaged if
// the blob's own head cannot be read. The caller holds mu.
func (p *packs) missError(heads []unreadable) error {
	if len(heads) > 0 {
		return fmt.Errorf("%s stood the head of this blob, and cannot be read: %w", describePlace(heads[0].pack, heads[0].at),
			bus.ErrDamaged)
	}
	lost := func(pack uint32, gaps []gap) error {
		return fmt.Errorf("it may be what cannot be read in %s: %w, %w", describePlace(pack, gaps[0].from), bus.ErrNotFound,
			bus.ErrDamaged)
	}
	for _, full := range p.full {
		if len(full.gaps) > 0 {
			return lost(full.number, full.gaps)
		}
	}
	if p.newest != nil && len(p.newest.gaps) > 0 {
		return lost(p.newest.number, p.newest.gaps)
	}
	return bus.ErrNotFound
}

// checkNext checks the heads of the first pack whose name sorts after the given one, and calls fn with
// each damage. It returns the name of the pack, or "" if there are no more packs.
func (p *packs) checkNext(ctx context.Context, after string, fn func(bus.BlobDamage) error) (name string, err error) {
	if err := p.ensureOpen(); err != nil {
		return "", err
	}
	var all []bus.BlobDamage
	p.mu.RLock()
	i := slices.IndexFunc(p.full, func(f *fullPack) bool { return packName(f.number) > after })
	switch {
	case p.closed:
		err = bus.ErrClosed
	case i >= 0:
		name = packName(p.full[i].number)
		all, err = p.checkFull(p.full[i])
	case p.newest != nil && packName(p.newest.number) > after:
		name = packName(p.newest.number)
		all, err = p.newest.checkHeads()
	}
	p.mu.RUnlock()
	for _, damage := range all {
		if err == nil {
			err = errors.Join(fn(damage), context.Cause(ctx))
		}
	}
	return name, err
}

// checkFull checks the heads of a full pack. The caller holds mu.
func (p *packs) checkFull(full *fullPack) (all []bus.BlobDamage, err error) {
	if full.lost {
		where := packsName + "/" + packName(full.number)
		return []bus.BlobDamage{{Where: where,
			Why: fmt.Sprintf("it is not there, and held %d blobs", len(full.index.offsets))}}, nil
	}
	all = describeGaps(full.number, full.gaps)
	err = p.withFile(full, false, func(file packFile) error {
		heads, err := readHeads(file, full.number, full.index.listOffsets(), func(r placedRecord) bool {
			if r.damaged {
				all = append(all, describeHead(full.number, r))
			}
			return true
		})
		for _, h := range heads {
			all = append(all, bus.BlobDamage{Where: describePlace(h.pack, h.at), Why: "the head of a blob cannot be read, so " +
				"that the blob is not found"})
		}
		return err
	})
	return all, err
}

// checkHeads reads the heads of the newest pack again, up to its end.
func (n *newestPack) checkHeads() (all []bus.BlobDamage, err error) {
	scanned, err := scanPack(n.file, n.number, n.end)
	if err != nil {
		return nil, err
	}
	all = describeGaps(n.number, scanned.gaps)
	for _, placedRecord := range scanned.records {
		if placedRecord.damaged {
			all = append(all, describeHead(n.number, placedRecord))
		}
	}
	return all, nil
}

func describeGaps(pack uint32, gaps []gap) (all []bus.BlobDamage) {
	for _, g := range gaps {
		all = append(
			all, bus.BlobDamage{Where: describePlace(pack, g.from),
				Why: fmt.Sprintf("%d bytes belong to no blob that can be told, so that those in them are not found", g.to-g.from)})
	}
	return all
}

func describeHead(pack uint32, r placedRecord) bus.BlobDamage {
	return bus.BlobDamage{Hash: hex.EncodeToString(r.sum[:]), Where: describePlace(pack, r.at),
		Why: "bits of its head are others than were written; its bytes are found nevertheless, and are not removed"}
}

// addLost adds full packs that are missing but still have an index. A pack is normally removed after
// its index, so these packs were lost.
func addLost(dir packFolder, full []*fullPack, names []string) []*fullPack {
	for _, name := range names {
		text, isIndex := strings.CutSuffix(name, indexSuffix)
		number, ok := parseNumber(text)
		if !isIndex || !ok || indexName(number) != name || slices.Contains(names, packName(number)) {
			continue
		}
		if text, err := dir.ReadFile(name, maxIndex); err == nil {
			if index, ok := decodePackIndex(text); ok {
				full = append(full, &fullPack{number: number, index: index, lost: true, damaged: true})
			}
		}
	}
	slices.SortFunc(full, func(a, b *fullPack) int { return int(a.number) - int(b.number) })
	return full
}
