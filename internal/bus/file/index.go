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
type track struct {
	entries []entry
	expires time.Time // of the newest
}

// index finds records. It is in memory, and made anew from the segments at each
// start. Bus.mu guards it.
type index struct {
	tracks map[string]*track
	ids    map[uint64]uint64 // the sequence of a message id, by the hash of subject and id
	order  []uint64          // the keys of ids as a ring, the oldest at next once it is full
	next   int
	seed   maphash.Seed
	fading []fadingItem // items that are done, in the order in which they are forgotten
}

// fadingItem is a record that is forgotten at a time.
type fadingItem struct {
	subject string
	seq     uint64
	expires time.Time
}

func newIndex() *index {
	return &index{tracks: map[string]*track{}, ids: map[uint64]uint64{}, seed: maphash.MakeSeed()}
}

func isItem(subject string) bool { return strings.HasPrefix(subject, casqueue.SubjectPrefix) }

// addFrame takes a frame in that is on the disk.
func (x *index) addFrame(f frame, at entry) {
	t := x.tracks[f.subject]
	switch f.kind {
	case purgeFrame:
		// The frame itself stays: it is needed as long as records may lie before it.
		at.segment.live += int64(at.size)
		if t != nil {
			releaseEntries(t.entries)
			delete(x.tracks, f.subject)
		}
	case recordFrame:
		if t == nil {
			t = &track{}
			x.tracks[f.subject] = t
		}
		if isItem(f.subject) {
			releaseEntries(t.entries)
			t.entries = t.entries[:0:0]
		}
		at.segment.live += int64(at.size)
		t.entries, t.expires = append(t.entries, at), f.expires
		x.rememberID(f.subject, f.id, f.seq)
		if !f.expires.IsZero() {
			x.fading = append(x.fading, fadingItem{f.subject, f.seq, f.expires})
		}
	}
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
	t := x.tracks[subject]
	if t == nil || len(t.entries) == 0 || !t.expires.IsZero() && !t.expires.After(now) {
		return entry{}, false
	}
	return t.entries[len(t.entries)-1], true
}

// entriesFrom are the records of a subject from a sequence on.
func (x *index) entriesFrom(subject string, seq uint64) []entry {
	t := x.tracks[subject]
	if t == nil {
		return nil
	}
	at, _ := slices.BinarySearchFunc(t.entries, seq, func(e entry, seq uint64) int { return cmp.Compare(e.seq, seq) })
	return t.entries[at:]
}

// dropFaded forgets what has expired. Its frame stays, as that of a purge does.
func (x *index) dropFaded(now time.Time) {
	for len(x.fading) > 0 && !x.fading[0].expires.After(now) {
		it := x.fading[0]
		x.fading = x.fading[1:]
		if t := x.tracks[it.subject]; t != nil && t.entries[len(t.entries)-1].seq == it.seq {
			delete(x.tracks, it.subject)
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
	found[0] = is
	return true
}
