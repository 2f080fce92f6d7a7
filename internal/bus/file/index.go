package file

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"company/internal/bus/casqueue"
)

// knownIDs is how many of the newest message ids are recognised wherever they are
// repeated; older ones are, where they are sent with what they expected first.
const knownIDs = 1 << 15

// entry is where a record lies.
type entry struct {
	seq     uint64
	segment *segment
	offset  uint32
	size    uint32
}

// track is the records of one subject: all of a journal, the newest of an item.
type track struct{ entries []entry }

// index finds records. It is in memory, and made anew from the segments at each
// start. Bus.mu guards it.
type index struct {
	tracks map[string]*track
	ids    map[uint64]uint64 // the sequence of a message id, by the hash of subject and id
	order  []uint64          // the keys of ids as a ring, the oldest at next once it is full
	next   int
	seed   maphash.Seed
	// done are items that are done, of which there are many: beside the others each
	// would have a track of its own, and its subject, among bytes that come and go.
	done   map[itemKey]doneItem
	other  maphash.Seed // of the second half of their keys
	fading []fadingItem // the same, in the order in which they are forgotten
}

// itemKey stands for the subject of an item that is done: two hashes of it.
type itemKey [2]uint64

// doneItem is the record of one, and when it is forgotten.
type doneItem struct {
	entry
	expires int64 // in nanoseconds since 1970
}

// fadingItem is a record that is forgotten at a time.
type fadingItem struct {
	key     itemKey
	seq     uint64
	expires int64
}

func newIndex() *index {
	return &index{tracks: map[string]*track{}, done: map[itemKey]doneItem{}, ids: map[uint64]uint64{}, seed: maphash.MakeSeed(), other: maphash.MakeSeed()}
}

func (x *index) keyOf(subject string) itemKey {
	return itemKey{maphash.String(x.seed, subject), maphash.String(x.other, subject)}
}

// findDone is the record of an item that is done and not forgotten yet.
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

// dropSubject takes out all that there is of a subject.
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

// addFrame takes a frame in that is on the disk.
func (x *index) addFrame(f frame, at entry) {
	if f.kind != purgeFrame && f.kind != recordFrame {
		return
	}
	// Of a purge the frame itself stays: it is needed as long as records may lie before it.
	at.segment.live += int64(at.size)
	if f.kind == purgeFrame || isItem(f.subject) {
		x.dropSubject(f.subject)
	}
	switch {
	case f.kind == purgeFrame:
		return
	case isItem(f.subject) && !f.expires.IsZero():
		key, expires := x.keyOf(f.subject), f.expires.UnixNano()
		x.done[key] = doneItem{at, expires}
		x.fading = append(x.fading, fadingItem{key, f.seq, expires})
	default:
		t := x.tracks[f.subject]
		if t == nil {
			t = &track{}
			x.tracks[f.subject] = t
		}
		t.entries = append(t.entries, at)
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

// findID is the record that may have an id of a subject: the hash of two ids may
// be one.
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

// lastEntry is the newest record of a subject that is not forgotten.
func (x *index) lastEntry(subject string, now time.Time) (entry, bool) {
	if t := x.tracks[subject]; t != nil {
		return t.entries[len(t.entries)-1], true
	}
	d, ok := x.findDone(subject)
	return d.entry, ok && d.expires > now.UnixNano()
}

// entriesFrom are the records of a subject from a sequence on.
func (x *index) entriesFrom(subject string, seq uint64) []entry {
	t := x.tracks[subject]
	if t == nil {
		if d, ok := x.findDone(subject); ok && d.seq >= seq {
			return []entry{d.entry}
		}
		return nil
	}
	at, _ := slices.BinarySearchFunc(t.entries, seq, func(e entry, seq uint64) int { return cmp.Compare(e.seq, seq) })
	return t.entries[at:]
}

// dropFaded forgets what has expired. Its frame stays, as that of a purge does.
func (x *index) dropFaded(now time.Time) {
	for len(x.fading) > 0 && x.fading[0].expires <= now.UnixNano() {
		it := x.fading[0]
		x.fading = x.fading[1:]
		if x.done[it.key].seq == it.seq {
			delete(x.done, it.key)
		}
	}
}

// replaceEntry moves a record that was written anew. It reports whether the record
// is still the one that was read.
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
