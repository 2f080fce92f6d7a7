package localfiles

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
)

// The newest pack grows seldom, and a start after a kill takes the zeros behind its mark for what they are.
func TestPackGrowsByRoom(t *testing.T) {
	s := openFlipped(t, "new", packFiles{}.onDisk(), packSize)
	grew, size := 0, 0
	for i := range 1000 {
		s.put(fmt.Sprint(i, string(bytes.Repeat([]byte("x"), 1000))))
		if now := len(s.disk.names[packName(1)].now); now != size {
			grew, size = grew+1, now
		}
	}
	if grew > 8 {
		t.Errorf("1,000 blobs made the file longer %d times", grew)
	}
	before := bytes.Clone(s.disk.names[packName(1)].now)
	end := s.packs.newest.end
	again := s.openAgain("killed", packSize)
	if again.packs.ensureOpen() != nil || again.packs.newest.end != end || again.packs.newest.room.Bytes != int64(size) {
		t.Errorf("the pack ended at %d in %d bytes, and now at %d in %d", end, size, again.packs.newest.end,
			again.packs.newest.room.Bytes)
	}
	if !bytes.Equal(again.disk.names[packName(1)].now, before) || len(again.listDamage()) > 0 {
		t.Errorf("a start changed the pack, or found damage: %v", again.listDamage())
	}
	if err := again.packs.close(); err != nil {
		t.Fatal(err)
	}
	if now := len(again.disk.names[packName(1)].now); int64(now) != end+headSize {
		t.Errorf("a closed pack has %d bytes, its mark ends at %d", now, end+headSize)
	}
}

// fullDisk is a file on a disk that takes so many bytes.
type fullDisk struct {
	data []byte
	has  int
}

func (f *fullDisk) WriteAt(b []byte, at int64) (int, error) {
	n := max(0, min(len(b), f.has-int(at)))
	f.data = putBytes(f.data, at, b[:n])
	if n < len(b) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func (f *fullDisk) Truncate(size int64) error {
	f.data = f.data[:min(size, int64(len(f.data)))]
	return nil
}

// A disk without room for zeros takes as many bytes as one of which none are asked.
func TestRoomOnAFullDisk(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 197))
	for range 300 {
		disk := &fullDisk{has: rng.IntN(5000)}
		room, used := Room{Most: int64(1 + rng.IntN(2000))}, []byte{}
		for {
			raw := bytes.Repeat([]byte{byte(1 + rng.IntN(255))}, 1+rng.IntN(400))
			err := room.Append(disk, raw, int64(len(used)), int64(rng.IntN(6000)))
			if fits := len(used)+len(raw) <= disk.has; fits != (err == nil) || err != nil && !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("%d bytes behind %d of %d: %v", len(raw), len(used), disk.has, err)
			}
			if err != nil {
				break
			}
			used = append(used, raw...)
			at, err := FindZeros(bytes.NewReader(disk.data), 0, int64(len(disk.data)))
			if err != nil || at != int64(len(used)) || !bytes.HasPrefix(disk.data, used) || room.Bytes != int64(len(disk.data)) {
				t.Fatalf("%d bytes are used, the zeros begin at %d (%v), the file has %d, the room says %d", len(used), at, err,
					len(disk.data), room.Bytes)
			}
		}
	}
}

// Zeros of a blob at the end of a pack are data, whatever stands behind them.
func TestZerosAtTheEndOfAPack(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 448, 5000, 70000, maxPacked} {
		for _, isCut := range []bool{false, true} {
			zero := strings.Repeat("\x00", n)
			s := openFlipped(t, fmt.Sprint(n, " zeros, without a mark: ", isCut), packFiles{}.onDisk(), packSize)
			s.put("first")
			s.put(zero)
			if isCut {
				s.editPack(1, func(text []byte) []byte { clear(text[s.packs.newest.end:]); return text })
			}
			for i := range 3 {
				s = s.openAgain(s.when, packSize)
				err := s.read(zero)
				s.put(fmt.Sprint("more", i))
				if err = errors.Join(err, s.read(zero)); err != nil || len(s.listDamage()) > 0 {
					t.Fatalf("%s: %v, damage: %q", s.when, err, s.listDamage())
				}
			}
		}
	}
}

// A full pack whose newest sync failed keeps its zeros: they are not counted as removed blobs, for
// which the pack would be written anew.
func TestZerosOfABrokenPack(t *testing.T) {
	s := openFlipped(t, "broken", packFiles{}.onDisk(), packSize)
	grew, size := 0, 0
	for i := 0; grew < 2; i++ { // until half of it are zeros
		s.put(fmt.Sprint(i, strings.Repeat("x", 990)))
		if now := len(s.disk.names[packName(1)].now); now != size {
			grew, size = grew+1, now
		}
	}
	used := s.packs.newest.end
	s.disk.failAt = s.disk.ops + 2
	s.put(strings.Repeat("fails", 200))
	s.disk.failAt = 0
	s.put("next") // begins another pack
	if s.disk.names[packName(2)] == nil {
		t.Fatal("the sync did not fail")
	}
	s = s.openAgain("opened again", packSize)
	s.remove("0" + strings.Repeat("x", 990))
	if s.disk.names[packName(1)] == nil {
		t.Errorf("a pack of %d bytes in a file of %d was written anew for one blob that was removed", used, size)
	}
}
