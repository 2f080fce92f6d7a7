package file

import (
	"context"
	"errors"
	"path"
	"slices"

	"company/internal/bus"
	"company/internal/bus/localfiles"
	"company/internal/lib/safedir"
)

// Damage is a part of the log that differs from the written bytes.
type Damage struct {
	File   string // path in the folder of the bus
	Offset int64
	Bytes  int64
	Why    string
	// Mended means that a single bit had changed and that the log is read with the bit corrected.
	Mended bool
	// Lost lists the subjects of the records that cannot be read, according to the heads of the
	// frames, which are damaged themselves. The kind of a subject is certain, the number of a run is
	// not. Known means that the list is complete. Otherwise records of any subject may be lost.
	Lost  []string
	Known bool
	// After is the sequence of the newest record before the damage.
	After uint64
}

// errMisplaced means that the sequence of a frame does not fit its place.
var errMisplaced = errors.New("file: a frame out of order")

// Salvage opens a log read-only, skips unreadable parts, and returns the damage. It corrects single
// changed bits while reading, but does not change the files. Bytes that a normal start would truncate
// at the end of the log are not damage and are skipped silently.
func Salvage(ctx context.Context, opts Options) (bus.Bus, []Damage, error) {
	own, lock, err := localfiles.Claim(opts.Folder, opts.Dir)
	if err != nil {
		return nil, nil, err
	}
	b, damage, err := salvageLocked(ctx, own, opts)
	if err != nil {
		return nil, nil, errors.Join(localfiles.OpenError(own.Path(), err), lock.Release())
	}
	b.lock = lock
	return b, damage, nil
}

func salvageLocked(ctx context.Context, own *safedir.Folder, opts Options) (*Bus, []Damage, error) {
	wal, err := own.Sub(walName)
	if err != nil {
		return nil, nil, err
	}
	b, damage, err := salvageDisk(ctx, folderDisk{wal}, opts)
	if err != nil {
		return nil, nil, errors.Join(err, wal.Close())
	}
	b.own = wal
	if b.blobs, err = localfiles.OpenBlobs(own); err != nil {
		return nil, nil, errors.Join(err, b.Close())
	}
	return b, damage, nil
}

// salvageDisk reads the log on a disk.
func salvageDisk(ctx context.Context, d disk, opts Options) (*Bus, []Damage, error) {
	b := newBus(d, opts)
	b.salvaged, b.nextSeq = true, 1
	s := salvage{bus: b}
	if err := s.readSegments(ctx); err != nil {
		b.close(bus.ErrClosed)
		return nil, nil, errors.Join(err, b.closeSegments())
	}
	return b, s.damage, nil
}

// salvage reads a log as far as possible and collects the damage.
type salvage struct {
	bus    *Bus
	damage []Damage
}

func (s *salvage) add(damage Damage) {
	damage.File, damage.After = path.Join(walName, damage.File), s.bus.nextSeq-1
	s.damage = append(s.damage, damage)
}

// readSegments reads the files of the log, oldest first.
func (s *salvage) readSegments(ctx context.Context) (err error) {
	files, err := s.bus.listSegments(false)
	defer func() {
		for _, f := range files { // files in use are not in the list any more
			err = errors.Join(err, f.file.Close())
		}
	}()
	if err != nil {
		return err
	}
	next := uint32(1)
	ended := true
	for len(files) > 0 {
		found := files[0]
		if !found.ok && found.size <= segmentHead && len(files) == 1 && (!ended || next == 1) {
			return nil // the newest segment, whose creation was interrupted
		}
		ok, err := s.readHead(&found, next)
		if err != nil {
			return err
		}
		files = files[1:]
		if !ok {
			if err := found.file.Close(); err != nil {
				return err
			}
			continue
		}
		seg := &segment{head: found.head, file: found.file, size: found.size}
		s.bus.sealed = append(s.bus.sealed, seg)
		newest := len(files) == 0 || len(files) == 1 && !files[0].ok && files[0].size <= segmentHead
		if ended, err = s.readSegment(ctx, seg, newest); err != nil {
			return err
		}
		next = seg.last + 1
		if !ended && !newest {
			s.add(Damage{File: found.name, Offset: found.size, Why: "the end of the segment is missing",
				Known: s.isNextAt(files)})
		}
	}
	if ended && next > 1 {
		s.add(Damage{File: segmentName(next), Why: "the segment is missing"})
	}
	return nil
}

// isNextAt reports whether the next segment starts with the next sequence, which means that no records
// in between are lost.
func (s *salvage) isNextAt(files []found) bool {
	return len(files) > 0 && files[0].ok && files[0].head.floor == s.bus.nextSeq-1
}

// readHead checks that a segment follows those before it, and corrects a changed bit in its head. It
// reports whether the segment can be read.
func (s *salvage) readHead(f *found, next uint32) (ok bool, err error) {
	if !f.ok {
		raw := make([]byte, min(f.size, segmentHead))
		if err := readAll(f.file, raw, 0); err != nil {
			return false, err
		}
		p, h, ok := mendHead(raw)
		if !ok || segmentName(h.first) != f.name {
			s.add(Damage{File: f.name, Bytes: f.size, Why: "the head of the segment cannot be read"})
			return false, nil
		}
		f.head, f.ok, f.file = h, true, &patchedFile{f.file, []patch{p}}
		s.add(Damage{File: f.name, Offset: p.offset, Bytes: 1, Why: "one bit had changed", Mended: true, Known: true})
	}
	switch {
	case f.name != segmentName(f.head.first):
		s.add(Damage{File: f.name, Bytes: f.size, Why: "the file is segment " + segmentName(f.head.first)})
		return false, nil
	case f.head.first > next:
		s.add(Damage{File: segmentName(next), Why: "the segment is missing", Known: f.head.floor == s.bus.nextSeq-1})
	}
	s.bus.nextSeq = max(s.bus.nextSeq, f.head.floor+1)
	return true, nil
}

// readSegment adds the frames of a segment to the index. It reports whether the segment has an end
// frame.
func (s *salvage) readSegment(ctx context.Context, seg *segment, newest bool) (ended bool, err error) {
	size := seg.size
	for at := int64(segmentHead); at < size; {
		end, err := scanFrames(seg.file, seg.head, at, size, func(offset int64, f frame) error {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if ended || f.holdsRecord() && f.seq < s.bus.nextSeq {
				return errMisplaced
			}
			s.bus.takeFrame(seg, offset, f)
			ended = f.kind == endFrame
			return nil
		})
		if err != nil && !errors.Is(err, errMisplaced) {
			return false, err
		}
		seg.size = end
		used, err := findZeros(seg.file, end, size)
		if err != nil || used <= end {
			return ended, err
		}
		if ended {
			s.add(Damage{File: seg.fileName(), Offset: end, Bytes: used - end, Why: "bytes behind the end of the segment",
				Known: true})
			return ended, nil
		}
		if newest {
			_, _, marked, err := findFrame(seg.file, seg.head, end+1, size, markFrame)
			if err != nil || !marked {
				return false, err // these bytes were never acknowledged
			}
		}
		if at, err = s.passDamage(seg, end, used, size); err != nil {
			return false, err
		}
	}
	return ended, nil
}

// passDamage corrects the bad frame at an offset, or records the loss. It returns the offset at which
// to continue.
func (s *salvage) passDamage(seg *segment, bad, used, size int64) (int64, error) {
	if p, ok, err := s.mend(seg, bad, size); err != nil {
		return 0, err
	} else if ok {
		seg.file = &patchedFile{seg.file, []patch{p}}
		s.add(Damage{File: seg.fileName(), Offset: p.offset, Bytes: 1, Why: "one bit had changed", Mended: true, Known: true})
		return bad, nil
	}
	next, behind, found, err := findNext(seg.file, seg.head, bad, size)
	if err != nil {
		return 0, err
	}
	last := uint64(1<<64 - 1) // upper limit for the sequences of lost records
	if found {
		if last = behind.seq; behind.holdsRecord() {
			last--
		}
	} else {
		next = used
	}
	damage := Damage{File: seg.fileName(), Offset: bad, Bytes: next - bad, Why: "no frame can be read here"}
	if damage.Known = found && last == s.bus.nextSeq-1; !damage.Known {
		damage.Lost, damage.Known, err = s.identify(seg, bad, next, last)
	}
	s.add(damage)
	return next, err
}

// mend searches for a single changed bit in the bad frame at an offset.
func (s *salvage) mend(seg *segment, bad, size int64) (patch, bool, error) {
	fits := func(f frame) bool { return !f.holdsRecord() || f.seq >= s.bus.nextSeq }
	raw, err := readRawFrame(seg.file, bad, size)
	if err != nil {
		return patch{}, false, err
	}
	if raw != nil {
		if p, f, ok := mendFrame(raw, seg.salt, bad); ok && fits(f) {
			return p, true, nil
		}
	}
	if bad+frameHead > size {
		return patch{}, false, nil
	}
	said := make([]byte, 4)
	if err := readAll(seg.file, said, bad); err != nil {
		return patch{}, false, err
	}
	for bit := range 8 * len(said) {
		length := slices.Clone(said)
		length[bit/8] ^= 1 << (bit % 8)
		whole := &patchedFile{seg.file, []patch{{bad + int64(bit/8), length[bit/8]}}}
		f, ok, err := readFrameAt(whole, seg.head, bad, size)
		if err != nil {
			return patch{}, false, err
		}
		if ok && fits(f) {
			return whole.patches[0], true, nil
		}
	}
	return patch{}, false, nil
}

// identify determines the subjects of the records between a bad frame and the next good one. It reads
// them from the frames' heads, which may be intact although the data is not. It returns false if the
// heads do not form a complete sequence of frames.
func (s *salvage) identify(seg *segment, bad, next int64, last uint64) (lost []string, known bool, err error) {
	seq := s.bus.nextSeq - 1
	for at := bad; at < next; {
		raw, err := readRawFrame(seg.file, at, next)
		if err != nil || raw == nil {
			return lost, false, err
		}
		frame, ok := readDamaged(raw, seg.salt, at)
		if !ok {
			return lost, false, nil
		}
		if frame.holdsRecord() {
			if frame.seq <= seq || frame.seq > last {
				return lost, false, nil
			}
			seq = frame.seq
			lost = append(lost, frame.subject)
		}
		at += int64(len(raw))
	}
	return lost, true, nil
}
