package localfiles

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"company/internal/bus"
)

// openAgain opens what a process left behind that ended, with packs of a size.
func (s flipStore) openAgain(when string, size int64) flipStore {
	s.t.Helper()
	return openFlipped(s.t, when, filesOf(s.disk).onDisk(), size)
}

// editPack changes the bytes of a pack.
func (s flipStore) editPack(number uint32, edit func([]byte) []byte) {
	inode := s.disk.names[packName(number)]
	inode.now = edit(inode.now)
}

// placeOf is where a blob stands in the newest pack.
func (s flipStore) placeOf(text string) int64 {
	s.t.Helper()
	at, ok := s.packs.newest.records[sumOf(nameOf(text))]
	if !ok {
		s.t.Fatalf("%s: %.20q is not in the newest pack", s.when, text)
	}
	return at
}

// cutMark takes the mark away that ends a pack, as an end of the process between sync and mark.
func cutMark(t *testing.T) func([]byte) []byte {
	return func(text []byte) []byte {
		used, err := FindZeros(bytes.NewReader(text), 0, int64(len(text)))
		at := roundUp(used) - headSize
		if err != nil || [4]byte(text[at:]) != markMagic {
			t.Fatal("the pack does not end with a mark")
		}
		return text[:at]
	}
}

// An index that a process wrote of a pack that grew on afterwards hides neither blobs nor
// damage: no index takes its place where the pack has a gap.
func TestIndexOfAPackThatGrewOn(t *testing.T) {
	s := openFlipped(t, "filled", packFiles{}.onDisk(), packSize)
	large := strings.Repeat("large", leastDead)
	for _, text := range []string{"kept", "hurt", large} {
		s.put(text)
	}
	hurt := s.placeOf("hurt") + headSize
	s.editPack(1, func(text []byte) []byte { text[hurt] ^= 1; return text })
	s.remove(large) // the pack gets an index, and stays for the damage in it
	if s.disk.names[indexName(1)] == nil {
		t.Fatal("the pack has no index")
	}
	s = s.openAgain("grown on", packSize)
	s.put("lost")
	s.put("later")
	lost := s.placeOf("lost")
	s.editPack(1, func(text []byte) []byte { clear(text[lost : lost+headSize]); return text })
	s = s.openAgain("filled with a gap", 1)
	s.put("next")
	for range 2 {
		s = s.openAgain("opened as a full pack", 1)
		if err := errors.Join(s.read("kept"), s.read("later"), s.read("next")); err != nil {
			t.Errorf("a whole blob: %v", err)
		}
		if err := s.read("lost"); !errors.Is(err, bus.ErrDamaged) {
			t.Errorf("the blob without a head: %v", err)
		}
		if all := s.listDamage(); !slices.ContainsFunc(all, func(d string) bool { return strings.Contains(d, packName(1)) }) {
			t.Errorf("the gap is not told of: %q", all)
		}
	}
}

// A batch that was synced and has no mark behind it gets one by the next start, and after a write
// that found no room: a bit of it that flips later is damage and no write that was cut off.
func TestNewestBatchIsMarkedAgain(t *testing.T) {
	fill := func() flipStore {
		s := openFlipped(t, "filled", packFiles{}.onDisk(), packSize)
		for _, text := range []string{"first", "second", "newest"} {
			s.put(text)
		}
		return s
	}
	for kind, settle := range map[string]func() (s flipStore, size int64){
		"a start": func() (flipStore, int64) {
			s := fill()
			s.editPack(1, cutMark(t))
			return s.openAgain("settled", packSize), packSize
		},
		"a start with another pack": func() (flipStore, int64) {
			s := fill()
			at := s.placeOf("first")
			full := s.openAgain("full", 1)
			full.put("next")
			full.editPack(1, cutMark(t))
			full.editPack(1, func(text []byte) []byte { clear(text[at : at+headSize]); return text })
			delete(full.disk.names, indexName(1))
			return full.openAgain("settled", 1), 1
		},
		"a full disk": func() (flipStore, int64) {
			s := fill()
			s.disk.fullAt = s.disk.ops + 1
			s.put(strings.Repeat("no room", 1000))
			if s.owed[strings.Repeat("no room", 1000)] {
				t.Fatal("the disk has room")
			}
			return s, packSize
		},
	} {
		t.Run(kind, func(t *testing.T) {
			s, size := settle()
			again := s.openAgain("opened again", size)
			if was, is := len(s.disk.names[packName(1)].now), len(again.disk.names[packName(1)].now); was != is {
				t.Errorf("another start makes %d bytes of %d", is, was)
			}
			s.editPack(1, func(text []byte) []byte {
				at := strings.Index(string(text), "newest")
				text[at] ^= 1
				return text
			})
			s = s.openAgain("flipped", size)
			if err := s.read("newest"); !errors.Is(err, bus.ErrDamaged) || errors.Is(err, bus.ErrNotFound) {
				t.Errorf("the flipped blob: %v", err)
			}
			list, err := s.packs.listByte(sumOf(nameOf("newest"))[0])
			if err != nil || !slices.ContainsFunc(list, func(b bus.BlobInfo) bool { return b.Hash == nameOf("newest") }) {
				t.Errorf("a verification reads %v: %v", list, err)
			}
		})
	}
}
