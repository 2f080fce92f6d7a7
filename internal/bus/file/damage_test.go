package file

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"company/internal/company"
	"company/internal/lib/hosttest"
)

// bitsOf lists the bits that are flipped in the byte at an index: all, or with -short one, which differs from byte to
// byte.
func bitsOf(at int) []int {
	if testing.Short() {
		return []int{at % 8}
	}
	return []int{0, 1, 2, 3, 4, 5, 6, 7}
}

// TestFlippedBit: whichever bit of a closed log flips, it is refused by file and
// offset; or all records are there, where the bit was of the last mark.
func TestFlippedBit(t *testing.T) {
	hosttest.NotRaced(t, "one goroutine opens a store for each bit")
	d, state := makeLog(t)
	var flips, refused int
	for _, name := range slices.Sorted(maps.Keys(d.names)) {
		for at := range d.names[name].now {
			for _, bit := range bitsOf(at) {
				damaged := d.crash(false)
				damaged.names[name].now[at] ^= 1 << bit
				b, err := openWithin(t, damaged, Options{})
				flips++
				if err != nil {
					refused++
					if company.CodeOf(err) != company.ELedger || !company.NeedsPerson(err) ||
						!strings.Contains(err.Error(), walName+"/0") || !strings.Contains(err.Error(), "byte ") {
						t.Fatalf("bit %d of byte %d of %s: %v", bit, at, name, err)
					}
					continue
				}
				if got := snapshotOf(b); !got.equal(state) {
					t.Fatalf("bit %d of byte %d of %s: found %v, want %v", bit, at, name, got, state)
				}
				_ = b.closeSegments()
			}
		}
	}
	if harmless := flips - refused; harmless > 8*2*frameHead+8*segmentHead {
		t.Errorf("%d of %d flips were not seen", harmless, flips)
	}
}

// TestLargerDamage: a log of which more than a bit has changed is refused, or its newest records are missing as after
// a power cut. No record is read that was not written.
func TestLargerDamage(t *testing.T) {
	hosttest.NotRaced(t, "one goroutine opens a store for each damage")
	d, state := makeLog(t)
	names := slices.Sorted(maps.Keys(d.names))
	rng := rand.New(rand.NewPCG(7, 7))
	tries, refused := 3000, 0
	if testing.Short() {
		tries = 500
	}
	for n := range tries {
		damaged := d.crash(false)
		file := damaged.names[names[rng.IntN(len(names))]]
		at := rng.IntN(len(file.now))
		how := []string{"bytes changed", "zeroed", "cut", "two bits"}[n%4]
		switch how {
		case "bytes changed":
			for i := at; i < min(at+2+rng.IntN(40), len(file.now)); i++ {
				file.now[i] = byte(rng.Uint32())
			}
		case "zeroed":
			clear(file.now[at:min(at+1+rng.IntN(300), len(file.now))])
		case "cut":
			file.now = file.now[:at]
		case "two bits":
			file.now[at] ^= 1 << rng.IntN(8)
			file.now[rng.IntN(len(file.now))] ^= 1 << rng.IntN(8)
		}
		b, err := openWithin(t, damaged, Options{})
		if err != nil {
			if company.CodeOf(err) != company.ELedger {
				t.Fatalf("%d: %s at %d: %v", n, how, at, err)
			}
			refused++
			continue
		}
		for subject, all := range snapshotOf(b) {
			if len(all) > len(state[subject]) || !slices.Equal(all, state[subject][:len(all)]) {
				t.Fatalf("%d: %s at %d: %s has %v, want a beginning of %v", n, how, at, subject, all, state[subject])
			}
		}
		_ = b.closeSegments()
	}
	if refused < tries/2 {
		t.Errorf("%d of %d were refused", refused, tries)
	}
}

// TestMissingSegment: a log without one of its files is not opened as a shorter one.
func TestMissingSegment(t *testing.T) {
	d, _ := makeLog(t)
	for name := range d.names {
		damaged := d.crash(false)
		delete(damaged.names, name)
		if b, err := openWithin(t, damaged, Options{}); company.CodeOf(err) != company.ELedger {
			t.Errorf("without %s: %v, %v", name, b, err)
		}
	}
}

// TestTornTail: the newest segment ends at any byte. All that is whole is there,
// and the rest is told.
func TestTornTail(t *testing.T) {
	d, state := makeLog(t)
	names := slices.Sorted(maps.Keys(d.names))
	name := names[len(names)-1]
	whole := d.names[name].now
	told := 0
	for size := range whole {
		if size < segmentHead && len(names) > 1 {
			continue // the segment before says that this one is there: damage
		}
		torn := d.crash(false)
		torn.names[name].now = slices.Clone(whole[:size])
		var log bytes.Buffer
		b, err := openWithin(t, torn, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if strings.Contains(log.String(), "was cut") {
			told++
			if !strings.Contains(log.String(), fmt.Sprint("file=", name, " offset=")) {
				t.Fatalf("%d bytes: told was %s", size, log.String())
			}
		}
		for subject, all := range snapshotOf(b) {
			if len(all) > len(state[subject]) || !slices.Equal(all, state[subject][:len(all)]) {
				t.Fatalf("%d bytes: %s has %v, want a beginning of %v", size, subject, all, state[subject])
			}
		}
		_ = b.closeSegments()
	}
	if told < len(whole)/2 {
		t.Errorf("%d of %d cuts were told", told, len(whole))
	}
}

// TestFailedSync: what the kernel could not write is never tried again; nothing is
// acknowledged any more, and a start reads what there is.
func TestFailedSync(t *testing.T) {
	d, state := makeLog(t)
	b, err := openWithin(t, d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	append1 := func(id string) error {
		return b.storeBatch(b.planBatch([]*request{{kind: recordFrame, subject: "ledger", id: id}}))
	}
	d.failAt = d.ops + 1
	if err := append1("a"); err == nil {
		t.Fatal("a failed sync was acknowledged")
	}
	if err := append1("b"); company.CodeOf(err) != company.EBus {
		t.Fatalf("after a failed sync: %v", err)
	}
	_ = b.closeSegments()
	next := d.crash(true)
	b, err = openWithin(t, next, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := snapshotOf(b)
	delete(got, "ledger") // its outcome was unknown
	if !got.equal(state) {
		t.Fatalf("found %v, want %v", got, state)
	}
	_ = b.closeSegments()
}

// TestFullDisk: a record that has no room is refused with the reason, and the next
// one that has room is stored.
func TestFullDisk(t *testing.T) {
	d, _ := makeLog(t)
	b, err := openWithin(t, d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.closeSegments()
	d.full, d.freeAt = d.ops+1, d.ops+2
	err = b.storeBatch(
		b.planBatch(
			[]*request{{kind: recordFrame, subject: "ledger", id: "a"},
				{kind: recordFrame, subject: "run.z", id: "z", data: make([]byte, 1<<16)}}))
	if company.CodeOf(err) != company.EBus || !strings.Contains(err.Error(), syscall.ENOSPC.Error()) {
		t.Fatalf("without room: %v", err)
	}
	killed, err := openWithin(t, d.crash(false), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := snapshotOf(killed)["ledger"]; len(got) > 0 {
		t.Fatalf("refused, and there after a kill: %v", got)
	}
	_ = killed.closeSegments()
	if err := b.storeBatch(b.planBatch([]*request{{kind: recordFrame, subject: "ledger", id: "b"}})); err != nil {
		t.Fatal(err)
	}
	if got := snapshotOf(b)["ledger"]; len(got) != 1 || got[0].id != "b" {
		t.Fatalf("stored are %v", got)
	}
}

// FuzzSegment: whatever bytes lie in a segment, they are opened, cut, or refused.
func FuzzSegment(f *testing.F) {
	d, _ := makeLog(f)
	for _, name := range slices.Sorted(maps.Keys(d.names)) {
		f.Add(d.names[name].now)
	}
	f.Add([]byte(segmentMagic))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d := newCrashDisk(rand.New(rand.NewPCG(1, 1)))
		d.names[segmentName(1)] = &inode{now: slices.Clone(raw)}
		b, err := loadDisk(t.Context(), d, Options{})
		if err != nil {
			return
		}
		if err := b.storeBatch(b.planBatch([]*request{{kind: recordFrame, subject: "run.fuzz", id: "x"}})); err != nil {
			t.Errorf("a log that was opened takes no record: %v", err)
		}
		_ = b.closeSegments()
	})
}
