package localfiles

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/lib/hosttest"
)

// packFiles is the files of packs, by name.
type packFiles map[string][]byte

// flipTexts are the blobs of the stores that are damaged.
var flipTexts = []string{"first", strings.Repeat("second", 20), "third", ""}

// onDisk is the files on a disk in memory.
func (f packFiles) onDisk() *crashDisk {
	disk := &crashDisk{rng: rand.New(rand.NewPCG(1, 187)), names: map[string]*crashInode{}}
	for name, text := range f {
		disk.names[name] = &crashInode{now: bytes.Clone(text), disk: bytes.Clone(text)}
	}
	disk.synced = maps.Clone(disk.names)
	return disk
}

// filesOf is what processes see of a disk.
func filesOf(disk *crashDisk) packFiles {
	f := packFiles{}
	for name, inode := range disk.names {
		f[name] = bytes.Clone(inode.now)
	}
	return f
}

// flipStore is packs whose files were changed.
type flipStore struct {
	*crashStore
}

func openFlipped(t *testing.T, when string, disk *crashDisk, size int64) flipStore {
	t.Helper()
	s := flipStore{&crashStore{t: t, disk: disk, size: size, owed: map[string]bool{}, when: when}}
	s.open()
	return s
}

// read reads a blob.
func (s flipStore) read(text string) error {
	r, err := s.packs.getPacked(context.Background(), sha256.Sum256([]byte(text)))
	if err != nil {
		return err
	}
	read, err := io.ReadAll(r)
	if err == nil && string(read) != text {
		s.t.Fatalf("%s: %.20q reads as %.20q", s.when, text, read)
	}
	return err
}

// listDamage is what a look at the whole store finds.
func (s flipStore) listDamage() (all []string) {
	s.t.Helper()
	for part := ""; ; {
		next, err := s.packs.checkNext(context.Background(), part, func(d bus.BlobDamage) error {
			all = append(all, d.Hash+" "+d.Where+": "+d.Why)
			return nil
		})
		if err != nil {
			s.t.Fatalf("%s: %v", s.when, err)
		}
		if part = next; part == "" {
			break
		}
	}
	for _, text := range flipTexts {
		sum := sha256.Sum256([]byte(text))
		list, err := s.packs.listByte(sum[0])
		if err != nil {
			s.t.Fatalf("%s: %v", s.when, err)
		}
		isListed := slices.ContainsFunc(list, func(b bus.BlobInfo) bool { return b.Hash == nameOf(text) })
		if err := s.read(text); isListed && errors.Is(err, bus.ErrDamaged) {
			all = append(all, nameOf(text)+" "+err.Error())
		} else if isListed && err != nil {
			s.t.Fatalf("%s: %.20q is listed: %v", s.when, text, err)
		}
	}
	return all
}

// requireToldDamage holds a changed store to its promise: a blob reads as before, or is
// damaged; where one is damaged, damage is named with the blob or its place; and neither a
// collection nor what it moves takes a blob, or the damage.
func (s flipStore) requireToldDamage() (damage []string) {
	s.t.Helper()
	damage = s.listDamage()
	all := strings.Join(damage, "\n")
	for _, text := range flipTexts {
		err := s.read(text)
		if err != nil && (!errors.Is(err, bus.ErrDamaged) ||
			!strings.Contains(all, nameOf(text)) && !strings.Contains(all, ".pack")) {
			s.t.Fatalf("%s: %.20q: %v\ndamage: %s", s.when, text, err, all)
		}
	}
	gone := []string{flipTexts[0], "removed", "newest"}
	for _, text := range gone {
		s.remove(text)
	}
	for _, c := range []flipStore{s, openFlipped(s.t, s.when+", opened again", filesOf(s.disk).onDisk(), s.size)} {
		for _, text := range flipTexts {
			if err := c.read(text); !slices.Contains(gone, text) && err != nil && !errors.Is(err, bus.ErrDamaged) {
				s.t.Fatalf("%s: after a collection %.20q: %v", c.when, text, err)
			}
		}
		if left := c.listDamage(); len(damage) > 0 && len(left) == 0 && !strings.Contains(all, nameOf(gone[0])) {
			s.t.Fatalf("%s: a collection took damage: %s", c.when, all)
		}
	}
	return damage
}

// flipKinds are stores of each kind, and the size of their packs.
func flipKinds(t *testing.T) map[string]func() (packFiles, int64) {
	fill := func(size int64, end func(flipStore)) packFiles {
		s := openFlipped(t, "filled", packFiles{}.onDisk(), size)
		for _, text := range append([]string{"removed"}, flipTexts...) {
			s.put(text)
		}
		s.remove("removed")
		end(s)
		return filesOf(s.disk)
	}
	closed := func(s flipStore) {
		if err := s.packs.close(); err != nil {
			t.Fatal(err)
		}
	}
	full := func() packFiles {
		return fill(600, func(s flipStore) { s.put("newest"); closed(s) })
	}
	return map[string]func() (packFiles, int64){
		"newest":         func() (packFiles, int64) { return fill(packSize, closed), packSize },
		"newest, killed": func() (packFiles, int64) { return fill(packSize, func(flipStore) {}), packSize },
		"full":           func() (packFiles, int64) { return full(), 600 },
		"full, without an index": func() (packFiles, int64) {
			f := full()
			maps.DeleteFunc(f, func(name string, _ []byte) bool { return strings.HasSuffix(name, indexSuffix) })
			return f, 600
		},
	}
}

// No bit of a file of packs, flipped alone, and no byte loses a blob in silence: none of a head, of the
// bytes or of an index, in a pack that grows or a full one. Every bit of the head of a blob is told of.
// The pack that grows has each of its bits flipped, the others one in eight.
func TestEveryBitOfAPack(t *testing.T) {
	hosttest.NotRaced(t, "one goroutine reads a pack for each bit")
	for kind, fill := range flipKinds(t) {
		t.Run(kind, func(t *testing.T) {
			files, size := fill()
			if damage := openFlipped(t, kind, files.onDisk(), size).requireToldDamage(); len(damage) > 0 {
				t.Fatalf("a store in order: %q", damage)
			}
			told := 0
			for name, text := range files {
				heads := map[int64]bool{} // of blobs that are there
				if number, ok := parseNumber(strings.TrimSuffix(name, packSuffix)); ok {
					scanned, err := scanPack(&crashFile{files.onDisk(), &crashInode{now: text}}, number, int64(len(text)))
					if err != nil {
						t.Fatal(err)
					}
					for _, r := range scanned.records {
						heads[r.at] = true
					}
				}
				used, err := FindZeros(bytes.NewReader(text), 0, int64(len(text)))
				if err != nil {
					t.Fatal(err)
				}
				for at := range text {
					if int64(at) > used+headSize && at%1009 > 0 {
						continue // room, in which all bytes are alike
					}
					flips := []byte{1, 2, 4, 8, 16, 32, 64, 128, 255}
					if kind != "newest" || testing.Short() { // the heads are the same there: one bit of each byte
						flips = flips[at%8 : at%8+1]
					}
					for _, flip := range flips {
						changed := maps.Clone(files)
						changed[name] = bytes.Clone(text)
						changed[name][at] ^= flip
						when := fmt.Sprintf("%s, %02x in byte %d of %s", kind, flip, at, name)
						damage := openFlipped(t, when, changed.onDisk(), size).requireToldDamage()
						if len(damage) > 0 {
							told++
						} else if heads[int64(at/headSize*headSize)] {
							t.Fatalf("%s: the store is called whole", when)
						}
					}
				}
			}
			if told < 300 || kind == "newest" && !testing.Short() && told < 2500 {
				t.Errorf("%d bits were told of", told)
			}
		})
	}
}

// No byte of a state turns it into another one, whatever it becomes, and whatever the time is.
func TestStatesAreFarApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 187))
	for range 200 {
		put := time.Unix(0, rng.Int64())
		for _, state := range []byte{stateLive, stateDead} {
			b := encodeState(state, put)
			if got, at, ok := decodeState(b[:]); !ok || got != state || !at.Equal(put) {
				t.Fatalf("%c at %v is %c at %v, %v", state, put, got, at, ok)
			}
			for i := range b {
				for flip := 1; flip < 256; flip++ {
					b[i] ^= byte(flip)
					if _, _, ok := decodeState(b[:]); ok {
						t.Fatalf("%c at %v with %02x in byte %d is a state", state, put, flip, i)
					}
					b[i] ^= byte(flip)
				}
			}
		}
	}
}

// A full pack that is gone is damage, which its index tells of, with its blobs.
func TestPackThatIsGone(t *testing.T) {
	s := openFlipped(t, "gone", packFiles{}.onDisk(), 1) // each blob fills a pack
	for _, text := range flipTexts {
		s.put(text)
	}
	for i, text := range flipTexts[:len(flipTexts)-1] {
		files := filesOf(s.disk)
		delete(files, packName(uint32(i+1)))
		c := openFlipped(t, text, files.onDisk(), 1)
		if damage := c.requireToldDamage(); len(damage) != 1 || !strings.Contains(damage[0], packName(uint32(i+1))) {
			t.Errorf("without the pack of %.20q: %q", text, damage)
		}
		if err := c.read(text); i > 0 && !errors.Is(err, bus.ErrDamaged) {
			t.Errorf("%.20q: %v", text, err)
		}
		c.put("later")
		c.put(text)
		if err := errors.Join(c.read("later"), c.read(text)); err != nil {
			t.Errorf("%.20q put again: %v", text, err)
		}
	}
}
