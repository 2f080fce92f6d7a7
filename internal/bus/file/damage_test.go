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

// TestFlippedBit: whichever bit of the files flips, they are refused by file and offset; or all records
// are there, where the bit was of a mark.
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
						!strings.Contains(err.Error(), logName+"/"+name+", byte ") {
						t.Fatalf("bit %d of byte %d of %s: %v", bit, at, name, err)
					}
					continue
				}
				if got := snapshotOf(b); !got.equal(state) {
					t.Fatalf("bit %d of byte %d of %s: found %v, want %v", bit, at, name, got, state)
				}
			}
		}
	}
	if harmless := flips - refused; harmless > 9*8*markSize {
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
	}
	if refused < tries/2 {
		t.Errorf("%d of %d were refused", refused, tries)
	}
}

// TestMovedFile: a file under the name of another, and a second file of a subject, are not read.
func TestMovedFile(t *testing.T) {
	d, _ := makeLog(t)
	for name, file := range d.names {
		damaged := d.crash(false)
		damaged.names[newTrack("run.1").fileName()] = file
		if strings.HasPrefix(name, "run.1") {
			if _, err := openWithin(t, damaged, Options{}); company.CodeOf(err) != company.ELedger {
				t.Errorf("two files of a subject: %v", err)
			}
		}
	}
}

// TestUnfinishedFileBesideAnother: the file of a first record that a full disk refused may still be there, beside the
// one that was made once there was room. It is removed.
func TestUnfinishedFileBesideAnother(t *testing.T) {
	for range 20 { // the names are random, and so is their order
		d, state := makeLog(t)
		d.names[newTrack("run.1").fileName()] = &inode{}
		b, err := openWithin(t, d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := snapshotOf(b); !got.equal(state) || len(d.names) != len(state) {
			t.Fatalf("found %v in %d files, want %v", got, len(d.names), state)
		}
	}
}

// TestTornTail: a file ends at any byte. All that is whole is there, and the rest is told.
func TestTornTail(t *testing.T) {
	d, state := makeLog(t)
	for _, name := range slices.Sorted(maps.Keys(d.names)) {
		whole, told := d.names[name].now, 0
		for size := range whole {
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
		}
		if told < len(whole)/2 {
			t.Errorf("%d of %d cuts were told", told, len(whole))
		}
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
	d.failAt = d.ops + 1
	if err := store(b, newRecord("run.z", 9)); err == nil {
		t.Fatal("a failed sync was acknowledged")
	}
	if _, err := b.Log().Append(t.Context(), "run.y", nil, 0, "b"); company.CodeOf(err) != company.EBus {
		t.Fatalf("after a failed sync: %v", err)
	}
	b, err = openWithin(t, d.crash(true), Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := snapshotOf(b)
	delete(got, "run.z") // its outcome was unknown
	if !got.equal(state) {
		t.Fatalf("found %v, want %v", got, state)
	}
}

// TestFullDisk: a record that has no room is refused with the reason, and the next
// one that has room is stored.
func TestFullDisk(t *testing.T) {
	for _, subject := range []string{"run.1", "run.z"} { // behind others, and the first one of a file
		d, state := makeLog(t)
		b, err := openWithin(t, d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		w := newRecord(subject, 9000)
		if all := state[subject]; len(all) > 0 {
			w.expect = all[len(all)-1].seq
		}
		d.full, d.freeAt = d.ops+1, d.ops+3
		err = store(b, w)
		if company.CodeOf(err) != company.EBus || !strings.Contains(err.Error(), syscall.ENOSPC.Error()) {
			t.Fatalf("without room: %v", err)
		}
		killed, err := openWithin(t, d.crash(false), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := snapshotOf(killed); !got.equal(state) {
			t.Fatalf("refused, and after a kill there are %v", got)
		}
		if err := store(b, w); err != nil {
			t.Fatal(err)
		}
		if got := snapshotOf(b); !got.equal(state.with(*w)) {
			t.Fatalf("stored are %v", got)
		}
	}
}

// FuzzFile: whatever bytes lie in a file, they are opened, cut, or refused.
func FuzzFile(f *testing.F) {
	d, _ := makeLog(f)
	for _, name := range slices.Sorted(maps.Keys(d.names)) {
		f.Add(d.names[name].now)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d := newCrashDisk(rand.New(rand.NewPCG(1, 1)))
		d.names[newTrack("run.fuzz").fileName()] = &inode{now: slices.Clone(raw)}
		b, err := openDisk(t.Context(), d, Options{})
		if err != nil {
			return
		}
		if err := store(b, newRecord("run.other", 9)); err != nil {
			t.Errorf("a log that was opened takes no record: %v", err)
		}
	})
}
