package file

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"company/internal/bus"
	"company/internal/company"
)

// newRecord is a request for a record of so many bytes.
func newRecord(subject string, size int) *request {
	return &request{kind: recordFrame, subject: subject, data: make([]byte, size)}
}

// What a start shows after a kill in the middle of a roll is there after a power cut: the end of the full
// segment gets to the disk before the next one is written to.
func TestKillInARollThenPowerCut(t *testing.T) {
	for seed := range uint64(100) {
		for die := 1; die < 14; die++ {
			d := newCrashDisk(rand.New(rand.NewPCG(seed, 7)))
			b, err := openWithin(t, d, Options{rollAt: 2000})
			if err != nil {
				t.Fatal(err)
			}
			d.dieAt = d.ops + die
			_ = b.storeBatch(b.planBatch([]*request{newRecord("run.a", 2000)}))
			_ = b.closeSegments()
			killed := d.crash(false)
			again, err := openWithin(t, killed, Options{rollAt: 2000})
			if err != nil {
				t.Fatal(err)
			}
			shown := snapshotOf(again)
			_ = again.closeSegments()
			last, err := openWithin(t, killed.crash(true), Options{rollAt: 2000})
			if err != nil {
				t.Fatalf("seed %d, operation %d: %v", seed, die, err)
			}
			if got := snapshotOf(last); !got.equal(shown) {
				t.Fatalf("seed %d, operation %d: shown was %v, and after a power cut %v", seed, die, shown, got)
			}
			_ = last.closeSegments()
		}
	}
}

// Where a sync failed the kernel may show bytes that no later sync brings to the disk. A start
// writes them once more, so that what it shows is not lost, nor what comes behind them.
func TestStartAfterAFailedSync(t *testing.T) {
	for seed := range uint64(50) {
		d := newCrashDisk(rand.New(rand.NewPCG(seed, 7)))
		b, err := openWithin(t, d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		store := func(b *Bus, subject string) error {
			return b.storeBatch(b.planBatch([]*request{newRecord(subject, 9000)}))
		}
		if err := store(b, "run.a"); err != nil {
			t.Fatal(err)
		}
		d.failAt = d.ops + 1
		if err := store(b, "run.b"); err == nil {
			t.Fatal("a failed sync was acknowledged")
		}
		_ = b.closeSegments()
		again, err := openWithin(t, d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := store(again, "run.c"); err != nil {
			t.Fatal(err)
		}
		shown := snapshotOf(again)
		_ = again.closeSegments()
		last, err := openWithin(t, d.crash(true), Options{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if got := snapshotOf(last); !got.equal(shown) {
			t.Fatalf("seed %d: shown was %v, and after a power cut %v", seed, shown, got)
		}
		_ = last.closeSegments()
	}
}

// A batch that a full disk refused is not there after a power cut, also not its beginning.
func TestRefusedBatchThenPowerCut(t *testing.T) {
	for seed := range uint64(200) {
		d := newCrashDisk(rand.New(rand.NewPCG(seed, 7)))
		b, err := openWithin(t, d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		d.full, d.freeAt = d.ops+1, d.ops+2
		var batch []*request
		for i := range 3 {
			batch = append(batch, newRecord(fmt.Sprint("run.", i), 300))
		}
		if err = b.storeBatch(b.planBatch(batch)); company.CodeOf(err) != company.EBus || errors.Is(err, bus.ErrUnknown) {
			t.Fatal(err)
		}
		again, err := openWithin(t, d.crash(true), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := snapshotOf(again); len(got) > 0 {
			t.Fatalf("seed %d: refused, and there: %v", seed, got)
		}
	}
}

// A start behind a clean end writes little, also where the full segment before the newest was
// compacted.
func TestStartWritesLittle(t *testing.T) {
	d := newCrashDisk(rand.New(rand.NewPCG(1, 7)))
	b, err := openWithin(t, d, Options{rollAt: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 { // two of three of the first are dead at once
		batch := []*request{newRecord(fmt.Sprint("run.", i), 1000)}
		if err := b.storeBatch(b.planBatch(batch)); err != nil {
			t.Fatal(err)
		}
		if i%3 > 0 && i < 18 {
			if err := b.storeBatch(b.planBatch([]*request{{kind: purgeFrame, subject: fmt.Sprint("run.", i)}})); err != nil {
				t.Fatal(err)
			}
		}
	}
	from, to, ok := planCompaction(b.sealed, b.rollAt)
	if !ok || to != len(b.sealed) {
		t.Fatalf("segments %d to %d of %d are compacted", from, to, len(b.sealed))
	}
	if err := errors.Join(b.compactSegments(from, to), b.cutRoom(), b.closeSegments()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		was := d.written
		again, err := openWithin(t, d, Options{rollAt: 20_000})
		if err != nil {
			t.Fatal(err)
		}
		if wrote := d.written - was; wrote > 4*frameHead {
			t.Errorf("a start wrote %d bytes", wrote)
		}
		if err := errors.Join(again.cutRoom(), again.closeSegments()); err != nil {
			t.Fatal(err)
		}
	}
}

// A compaction that finds no room leaves nothing behind that takes it, wherever the disk becomes
// full, and is made once there is room.
func TestFullDiskAmidCompaction(t *testing.T) {
	for n := 1; ; n++ {
		d, state := makeLog(t)
		b, err := openWithin(t, d, Options{rollAt: 600})
		if err != nil {
			t.Fatal(err)
		}
		purged := "run.1"
		if err := b.storeBatch(b.planBatch([]*request{{kind: purgeFrame, subject: purged}})); err != nil {
			t.Fatal(err)
		}
		delete(state, purged)
		from, to, ok := planCompaction(b.sealed, b.rollAt)
		if !ok {
			t.Fatal("nothing is compacted")
		}
		files := len(d.names)
		d.full, d.freeAt = d.ops+n, d.ops+n+1
		err = b.compactSegments(from, to)
		if err != nil && (!errors.Is(err, syscall.ENOSPC) || d.names[compactName] != nil || len(d.names) > files) {
			t.Fatalf("full at call %d: %v, files %v", n, err, slices.Sorted(maps.Keys(d.names)))
		}
		if got := snapshotOf(b); !got.equal(state) {
			t.Fatalf("full at call %d: %v, want %v", n, got, state)
		}
		if err == nil && d.ops < d.full { // the disk became full behind it
			if n < 4 {
				t.Errorf("a compaction has %d calls", n-1)
			}
			return
		}
		if err != nil {
			if err := b.compactSegments(from, to); err != nil {
				t.Fatalf("full at call %d, and then room: %v", n, err)
			}
		}
		again, err := openWithin(t, d.crash(true), Options{rollAt: 600})
		if err != nil {
			t.Fatal(err)
		}
		if got := snapshotOf(again); !got.equal(state) {
			t.Fatalf("full at call %d: after a power cut %v, want %v", n, got, state)
		}
	}
}
