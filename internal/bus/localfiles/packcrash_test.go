package localfiles

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/lib/hosttest"
)

var errOff = errors.New("the machine is off")

// crashDisk is a disk in memory that knows what was synced. Its faults come at the
// operations whose numbers are set.
type crashDisk struct {
	mu     sync.Mutex
	rng    *rand.Rand
	names  map[string]*crashInode // as processes see them
	synced map[string]*crashInode // as a power cut leaves them
	ops    int
	dieAt  int // nothing is answered from here on
	fullAt int // the write that finds no room; from it on no file grows
	freeAt int // and from here on there is room again
	failAt int // the sync that fails, and loses what it was to sync
	noRoom bool
}

// crashInode is a file: the bytes that processes see, those on the disk, and the writes between.
type crashInode struct {
	now, disk []byte
	pending   []crashWrite
}

// crashWrite is a write, or a cut where data is nil.
type crashWrite struct {
	at   int64
	data []byte
}

// step counts an operation that changes the disk.
func (d *crashDisk) step() (last bool, err error) {
	d.ops++
	if d.dieAt > 0 && d.ops > d.dieAt {
		return false, errOff
	}
	return d.ops == d.dieAt, nil
}

func (d *crashDisk) isOff() bool { return d.dieAt > 0 && d.ops >= d.dieAt }

// afterKill lets another process at the disk; the kernel still has all that was written.
func (d *crashDisk) afterKill() { d.ops, d.dieAt, d.fullAt, d.failAt = 0, 0, 0, 0 }

// afterPowerCut leaves what was synced, and by chance some of the rest.
func (d *crashDisk) afterPowerCut() {
	d.afterKill()
	names := maps.Clone(d.synced)
	for _, name := range slices.Sorted(maps.Keys(d.names)) {
		if d.rng.IntN(2) == 0 {
			names[name] = d.names[name]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.synced)) {
		if d.names[name] == nil && d.rng.IntN(2) == 0 {
			delete(names, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		f := names[name]
		f.flushSome(d.rng)
		f.now, f.pending = bytes.Clone(f.disk), nil
	}
	d.names, d.synced = names, maps.Clone(names)
}

// flushSome brings of each write all, nothing, or some sectors to the disk.
func (f *crashInode) flushSome(rng *rand.Rand) {
	for _, w := range f.pending {
		switch how := rng.IntN(4); {
		case how == 0:
		case w.data == nil:
			f.disk = f.disk[:min(w.at, int64(len(f.disk)))]
		case how == 1:
			f.disk = putBytes(f.disk, w.at, w.data)
		case how == 2:
			f.disk = putBytes(f.disk, w.at, w.data[:tearWrite(rng, w.at, len(w.data))])
		default:
			for at := 0; at < len(w.data); at += sector {
				if rng.IntN(2) == 0 {
					f.disk = putBytes(f.disk, w.at+int64(at), w.data[at:min(at+sector, len(w.data))])
				}
			}
		}
	}
}

// sector is what a disk writes whole or not at all.
const sector = 512

// tearWrite says how much of a write comes to the disk: all, or some of its first sectors.
func tearWrite(rng *rand.Rand, at int64, size int) int {
	n := rng.IntN(size + 1)
	if n < size {
		n = max(0, int((at+int64(n))/sector*sector-at))
	}
	return n
}

func putBytes(text []byte, at int64, data []byte) []byte {
	if need := int(at) + len(data); len(data) > 0 && need > len(text) {
		text = append(text, make([]byte, need-len(text))...)
	}
	copy(text[min(int(at), len(text)):], data)
	return text
}

func (d *crashDisk) List() ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.names)), nil
}

func (d *crashDisk) Open(name string, _ bool) (packFile, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.names[name]
	if f == nil {
		return nil, fs.ErrNotExist
	}
	return &crashFile{d, f}, nil
}

func (d *crashDisk) Create(name string) (packFile, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	last, err := d.step()
	if err != nil {
		return nil, err
	}
	if d.names[name] != nil {
		return nil, fs.ErrExist
	}
	d.names[name] = &crashInode{}
	if last {
		return nil, errOff
	}
	return &crashFile{d, d.names[name]}, nil
}

func (d *crashDisk) ReadFile(name string, _ int64) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.names[name]
	if f == nil {
		return nil, fs.ErrNotExist
	}
	return bytes.Clone(f.now), nil
}

func (d *crashDisk) WriteFile(name string, data []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	last, err := d.step()
	if err != nil {
		return err
	}
	if d.ops == d.fullAt || d.noRoom {
		return syscall.ENOSPC
	}
	if last && d.rng.IntN(2) == 0 {
		return errOff
	}
	d.names[name] = &crashInode{now: bytes.Clone(data), disk: bytes.Clone(data)}
	if last {
		return errOff
	}
	return nil
}

func (d *crashDisk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	last, err := d.step()
	if err != nil {
		return err
	}
	if d.names[name] == nil {
		return fs.ErrNotExist
	}
	delete(d.names, name)
	if last {
		return errOff
	}
	return nil
}

func (d *crashDisk) Sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	last, err := d.step()
	if err != nil {
		return err
	}
	if d.ops == d.failAt {
		return syscall.EIO
	}
	if last {
		return errOff
	}
	d.synced = maps.Clone(d.names)
	return nil
}

func (d *crashDisk) Close() error { return nil }

// crashFile is an open file of a crashDisk.
type crashFile struct {
	disk *crashDisk
	f    *crashInode
}

func (c *crashFile) ReadAt(b []byte, at int64) (int, error) {
	c.disk.mu.Lock()
	defer c.disk.mu.Unlock()
	return bytes.NewReader(c.f.now).ReadAt(b, at)
}

func (c *crashFile) WriteAt(b []byte, at int64) (n int, err error) {
	c.disk.mu.Lock()
	defer c.disk.mu.Unlock()
	last, err := c.disk.step()
	if err != nil {
		return 0, err
	}
	n = len(b)
	if d := c.disk; d.ops == d.fullAt ||
		(d.noRoom || d.fullAt > 0 && d.ops >= d.fullAt && d.ops < d.freeAt) && at+int64(len(b)) > int64(len(c.f.now)) {
		n, err = c.disk.rng.IntN(n), syscall.ENOSPC
	}
	if last {
		n, err = tearWrite(c.disk.rng, at, len(b)), errOff
	}
	data := bytes.Clone(b[:n])
	c.f.now = putBytes(c.f.now, at, data)
	if n > 0 {
		c.f.pending = append(c.f.pending, crashWrite{at, data})
	}
	return n, err
}

func (c *crashFile) Size() (int64, error) {
	c.disk.mu.Lock()
	defer c.disk.mu.Unlock()
	return int64(len(c.f.now)), nil
}

func (c *crashFile) Truncate(size int64) error {
	c.disk.mu.Lock()
	defer c.disk.mu.Unlock()
	last, err := c.disk.step()
	if err != nil {
		return err
	}
	c.f.now = c.f.now[:min(size, int64(len(c.f.now)))]
	c.f.pending = append(c.f.pending, crashWrite{at: size})
	if last {
		return errOff
	}
	return nil
}

// Sync fails as a kernel does: what was to be synced is dropped, shows nevertheless, and
// the next sync succeeds.
func (c *crashFile) Sync() error {
	c.disk.mu.Lock()
	defer c.disk.mu.Unlock()
	last, err := c.disk.step()
	if err != nil {
		return err
	}
	if c.disk.ops == c.disk.failAt {
		c.f.flushSome(c.disk.rng)
		c.f.pending = nil
		return syscall.EIO
	}
	if last {
		return errOff
	}
	for _, w := range c.f.pending { // and not what an earlier sync dropped
		if w.data == nil {
			c.f.disk = c.f.disk[:min(w.at, int64(len(c.f.disk)))]
			continue
		}
		c.f.disk = putBytes(c.f.disk, w.at, w.data)
	}
	c.f.pending = nil
	return nil
}

func (c *crashFile) Close() error { return nil }

// crashStore is packs on a disk that crashes, and what they owe.
type crashStore struct {
	t     *testing.T
	disk  *crashDisk
	packs *packs
	size  int64
	owed  map[string]bool // acknowledged, and not removed
	when  string
}

// open finds the packs. It reports false where the machine went off meanwhile.
func (s *crashStore) open() bool {
	s.packs = &packs{packSize: s.size}
	err := s.packs.findPacks(s.disk)
	if err != nil && !s.disk.isOff() && s.disk.failAt == 0 && s.disk.fullAt == 0 {
		s.t.Fatalf("%s: open: %v", s.when, err)
	}
	return err == nil
}

func (s *crashStore) put(text string) {
	err := s.packs.putPacked(context.Background(), sha256.Sum256([]byte(text)), []byte(text))
	if err == nil {
		s.owed[text] = true
	} else if !s.disk.isOff() && s.disk.failAt == 0 && s.disk.fullAt == 0 {
		s.t.Fatalf("%s: put: %v", s.when, err)
	}
}

func (s *crashStore) remove(text string) {
	delete(s.owed, text)
	_, _, err := s.packs.removePacked(sha256.Sum256([]byte(text)), time.Now().Add(time.Hour))
	if err != nil && !s.disk.isOff() && s.disk.failAt == 0 && s.disk.fullAt == 0 {
		s.t.Fatalf("%s: remove: %v", s.when, err)
	}
}

// check reads all blobs that were ever put: each acknowledged one is there, and each one there is whole.
func (s *crashStore) check(texts []string) {
	s.t.Helper()
	listed := map[string]bool{}
	for first := range 256 {
		list, err := s.packs.listByte(byte(first))
		if err != nil {
			s.t.Fatalf("%s: list: %v", s.when, err)
		}
		for _, b := range list {
			listed[b.Hash] = true
		}
	}
	for _, text := range texts {
		r, err := s.packs.getPacked(context.Background(), sha256.Sum256([]byte(text)))
		var read []byte
		if err == nil {
			read, err = io.ReadAll(r)
		}
		isThere := err == nil && string(read) == text
		if !isThere && (s.owed[text] || !errors.Is(err, bus.ErrNotFound)) {
			s.t.Fatalf("%s: %.20q owed %v reads as %.20q: %v", s.when, text, s.owed[text], read, err)
		}
		if isThere != listed[nameOf(text)] {
			s.t.Fatalf("%s: %.20q is there: %v, is listed: %v", s.when, text, isThere, listed[nameOf(text)])
		}
	}
}

// Blobs that were acknowledged are there, whole, after kills, power cuts, full disks and
// failed syncs at any operation, in any order.
func TestPacksOutlastCrashes(t *testing.T) {
	hosttest.NotRaced(t, "one goroutine writes and reads packs")
	var texts []string
	for i := range 30 {
		texts = append(texts, strings.Repeat(fmt.Sprintf("text %d ", i), 1+i*i/2))
	}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 173))
		disk := &crashDisk{rng: rng, names: map[string]*crashInode{}, synced: map[string]*crashInode{}}
		s := &crashStore{t: t, disk: disk, size: []int64{512, 4 << 10, 64 << 10}[rng.IntN(3)], owed: map[string]bool{}}
		for round := range 8 {
			s.when = fmt.Sprintf("seed %d, round %d", seed, round)
			switch at := 1 + rng.IntN(60); rng.IntN(4) {
			case 0:
				disk.fullAt, disk.freeAt = at, at+rng.IntN(12)
				if rng.IntN(2) == 0 {
					disk.dieAt = at + rng.IntN(15)
				}
			case 1:
				disk.failAt = at
			default:
				disk.dieAt = at
			}
			if s.open() {
				for range rng.IntN(40) {
					if disk.isOff() {
						break
					}
					if text := texts[rng.IntN(len(texts))]; rng.IntN(5) < 3 {
						s.put(text)
					} else {
						s.remove(text)
					}
				}
				if !disk.isOff() {
					s.check(texts)
				}
				if rng.IntN(3) == 0 {
					_ = s.packs.close()
				}
			}
			if rng.IntN(2) == 0 {
				disk.afterKill()
			} else {
				disk.afterPowerCut()
			}
			if s.open() {
				s.check(texts)
			}
			if rng.IntN(2) == 0 {
				disk.afterPowerCut()
			} else {
				disk.afterKill()
			}
		}
	}
}

// A blob whose sync failed, and that is put again after a kill, is on the disk then.
func TestFailedSyncThenKill(t *testing.T) {
	for seed := range uint64(20) {
		disk := &crashDisk{rng: rand.New(rand.NewPCG(seed, 173)), names: map[string]*crashInode{},
			synced: map[string]*crashInode{}}
		s := &crashStore{t: t, disk: disk, size: packSize, owed: map[string]bool{}, when: "failed sync"}
		s.open()
		s.put("first")
		disk.failAt = disk.ops + 2
		s.put("second")
		disk.afterKill()
		s.open()
		s.put("second")
		disk.afterPowerCut()
		s.open()
		s.check([]string{"first", "second"})
	}
}

// A full disk keeps no blob from being removed, and gets room back as far as nothing needs
// to be moved for it; the rest comes with the next removal once there is room.
func TestRemovalsOnAFullDisk(t *testing.T) {
	disk := &crashDisk{rng: rand.New(rand.NewPCG(1, 173)), names: map[string]*crashInode{},
		synced: map[string]*crashInode{}}
	s := &crashStore{t: t, disk: disk, size: 4 << 10, owed: map[string]bool{}, when: "full"}
	s.open()
	var texts []string
	for i := range 200 {
		texts = append(texts, strings.Repeat(fmt.Sprintf("text %d ", i), 50))
		s.put(texts[i])
	}
	was := len(disk.names)
	disk.noRoom = true
	for i, text := range texts {
		if i >= 40 && i%9 > 0 || i < 20 {
			s.remove(text)
		}
	}
	s.check(texts)
	full := len(disk.names)
	if full >= was {
		t.Errorf("%d files, %d after the removals", was, full)
	}
	disk.noRoom = false
	s.remove(texts[99])
	s.check(texts)
	if left := len(disk.names); left > full/2 {
		t.Errorf("%d files, %d when there is room", full, left)
	}
	disk.afterPowerCut()
	s.open()
	s.check(texts)
}

// A head that claims more than a record may is no head: nothing makes room for that.
func TestHeadsThatClaimTooMuch(t *testing.T) {
	whole := recordHead{magic: blobMagic, state: stateLive, put: time.Unix(1, 0), size: maxPacked, synced: 128}
	tooLong, fromBehind := whole, whole
	tooLong.size = 1<<32 - 1
	fromBehind.synced = 192
	for _, c := range []struct {
		head recordHead
		want bool
	}{{whole, true}, {tooLong, false}, {fromBehind, false}} {
		text := encodeHead(c.head, 1, 128)
		if got, ok := decodeHead(text[:], 1, 128); ok != c.want || ok && got != c.head {
			t.Errorf("%+v is %+v, %v", c.head, got, ok)
		}
	}
}

// TestPutsWhilePacksShrink: a removal spares blobs that are put after its time, while packs shrink.
func TestPutsWhilePacksShrink(t *testing.T) {
	disk := &crashDisk{names: map[string]*crashInode{}, synced: map[string]*crashInode{}}
	p := &packs{packSize: 4 << 10}
	if err := p.findPacks(disk); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for i := range 60 {
		texts = append(texts, strings.Repeat(fmt.Sprintf("text %d ", i), 1+i))
	}
	for round := range 100 {
		before := time.Now()
		stays := func(i int) bool { return (i+round)%3 == 0 }
		var workers sync.WaitGroup
		for i, text := range texts {
			sum := sha256.Sum256([]byte(text))
			if stays(i) {
				workers.Go(func() {
					if err := p.putPacked(t.Context(), sum, []byte(text)); err != nil {
						t.Error(err)
					}
				})
			}
			workers.Go(func() {
				if _, _, err := p.removePacked(sum, before); err != nil {
					t.Error(err)
				}
			})
		}
		workers.Wait()
		for i, text := range texts {
			r, err := p.getPacked(t.Context(), sha256.Sum256([]byte(text)))
			if !stays(i) {
				if !errors.Is(err, bus.ErrNotFound) {
					t.Fatalf("round %d: text %d was removed: %v", round, i, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("round %d: text %d: %v", round, i, err)
			}
			if read, err := io.ReadAll(r); string(read) != text || err != nil {
				t.Fatalf("round %d: text %d reads as %q: %v", round, i, read, err)
			}
		}
	}
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
}
