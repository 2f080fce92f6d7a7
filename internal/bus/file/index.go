package file

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"company/internal/bus/casqueue"
)

// knownIDs is the number of the newest message ids that are always recognized as repeats. An older id
// is recognized only if it is sent with its first expected sequence.
const knownIDs = 1 << 15

// entry is the location of a record.
type entry struct {
	seq     uint64
	segment *segment
	offset  uint32
	size    uint32
}

// track holds the records of one subject: all records of a journal, or the newest record of an item.
type track struct{ entries []entry }

// index finds records. It is kept in memory and rebuilt from the segments at each start. Bus.mu guards
// it.
type index struct {
	tracks map[string]*track
	ids    map[uint64]uint64 // the sequence of a message, by the hash of its subject and id
	order  []uint64          // keys of ids as a ring buffer; once full, next is the oldest
	next   int
	seed   maphash.Seed
	// done holds the finished items. There are many of them, so it is kept compact: a track and a
	// subject for each would take more memory.
	done   map[itemKey]doneItem
	other  maphash.Seed // seed of the second half of their keys
	fading []fadingItem // the finished items in the order of their expiry
}

// itemKey identifies the subject of a finished item by two hashes.
type itemKey [2]uint64

// doneItem is the record of a finished item and its expiry.
type doneItem struct {
	entry
	expires int64 // in nanoseconds since 1970
}

// fadingItem is a record that expires.
type fadingItem struct {
	key     itemKey
	seq     uint64
	expires int64
}

func newIndex() *index {
	return &index{tracks: map[string]*track{}, done: map[itemKey]doneItem{}, ids: map[uint64]uint64{},
		seed: maphash.MakeSeed(), other: maphash.MakeSeed()}
}

func (x *index) keyOf(subject string) itemKey {
	return itemKey{maphash.String(x.seed, subject), maphash.String(x.other, subject)}
}

// findDone returns the record of a finished item that has not been dropped yet.
func (x *index) findDone(subject string) (d doneItem, ok bool) {
	if isItem(subject) {
		d, ok = x.done[x.keyOf(subject)]
	}
	return d, ok
}

// hasSubject reports whether there is a record of a subject.
func (x *index) hasSubject(subject string) bool {
	_, ok := x.findDone(subject)
	return ok || x.tracks[subject] != nil
}

// dropSubject removes all records of a subject from the index.
func (x *index) dropSubject(subject string) {
	if t := x.tracks[subject]; t != nil {
		releaseEntries(t.entries)
		delete(x.tracks, subject)
	}
	if d, ok := x.findDone(subject); ok {
		releaseEntries([]entry{d.entry})
		delete(x.done, x.keyOf(subject))
	}
}

func isItem(subject string) bool { return strings.HasPrefix(subject, casqueue.SubjectPrefix) }

// addFrame adds a frame that is on disk to the index.
func (x *index) addFrame(f frame, item entry) {
	if f.kind != purgeFrame && f.kind != recordFrame {
		return
	}
	// A purge frame itself stays live: it is needed while there may be records before it.
	item.segment.live += int64(item.size)
	if f.kind == purgeFrame || isItem(f.subject) {
		x.dropSubject(f.subject)
	}
	switch {
	case f.kind == purgeFrame:
		return
	case isItem(f.subject) && !f.expires.IsZero():
		key, expires := x.keyOf(f.subject), f.expires.UnixNano()
		x.done[key] = doneItem{item, expires}
		x.fading = append(x.fading, fadingItem{key, f.seq, expires})
	default:
		t := x.tracks[f.subject]
		if t == nil {
			t = &track{}
			x.tracks[f.subject] = t
		}
		t.entries = append(t.entries, item)
	}
	x.rememberID(f.subject, f.id, f.seq)
}

func releaseEntries(entries []entry) {
	for _, e := range entries {
		e.segment.live -= int64(e.size)
	}
}

func (x *index) rememberID(subject, id string, seq uint64) {
	if id == "" {
		return
	}
	key := x.hashID(subject, id)
	if _, ok := x.ids[key]; !ok {
		if len(x.order) < knownIDs {
			x.order = append(x.order, key)
		} else {
			delete(x.ids, x.order[x.next])
			x.order[x.next] = key
			x.next = (x.next + 1) % knownIDs
		}
	}
	x.ids[key] = seq
}

func (x *index) hashID(subject, id string) uint64 {
	var h maphash.Hash
	h.SetSeed(x.seed)
	_, _ = h.WriteString(subject)
	_ = h.WriteByte(0)
	_, _ = h.WriteString(id)
	return h.Sum64()
}

// findID returns the record that may have this id. The caller must compare the id, because two ids can
// have the same hash.
func (x *index) findID(subject, id string) (entry, bool) {
	seq, ok := x.ids[x.hashID(subject, id)]
	if !ok || id == "" {
		return entry{}, false
	}
	found := x.entriesFrom(subject, seq)
	if len(found) == 0 || found[0].seq != seq {
		return entry{}, false
	}
	return found[0], true
}

// lastEntry returns the newest record of a subject that has not expired.
func (x *index) lastEntry(subject string, now time.Time) (entry, bool) {
	if t := x.tracks[subject]; t != nil {
		return t.entries[len(t.entries)-1], true
	}
	d, ok := x.findDone(subject)
	return d.entry, ok && d.expires > now.UnixNano()
}

// entriesFrom returns the records of a subject from a sequence on.
func (x *index) entriesFrom(subject string, seq uint64) []entry {
	track := x.tracks[subject]
	if track == nil {
		if d, ok := x.findDone(subject); ok && d.seq >= seq {
			return []entry{d.entry}
		}
		return nil
	}
	at, _ := slices.BinarySearchFunc(track.entries, seq, func(e entry, seq uint64) int { return cmp.Compare(e.seq, seq) })
	return track.entries[at:]
}

// dropFaded removes expired items from the index. Their frames stay live, like purge frames.
func (x *index) dropFaded(now time.Time) {
	for len(x.fading) > 0 && x.fading[0].expires <= now.UnixNano() {
		fadingItem := x.fading[0]
		x.fading = x.fading[1:]
		if x.done[fadingItem.key].seq == fadingItem.seq {
			delete(x.done, fadingItem.key)
		}
	}
}

// replaceEntry updates the location of a record that was rewritten. It returns false if the record was
// replaced since it was read.
func (x *index) replaceEntry(subject string, was, is entry) bool {
	found := x.entriesFrom(subject, was.seq)
	if len(found) == 0 || found[0] != was {
		return false
	}
	if d, ok := x.findDone(subject); ok {
		x.done[x.keyOf(subject)] = doneItem{is, d.expires}
	} else {
		found[0] = is
	}
	return true
}
