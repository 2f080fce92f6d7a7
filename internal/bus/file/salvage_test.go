package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/internal/lib/safedir"
)

// Whichever bit of a closed log flips, a log that is not opened is read without the change, and
// nothing is lost.
func TestSalvageFlippedBit(t *testing.T) {
	hosttest.NotRaced(t, "one goroutine opens a store for each bit")
	d, state := makeLog(t)
	salvaged := 0
	for _, name := range slices.Sorted(maps.Keys(d.names)) {
		for at := range d.names[name].now {
			for _, bit := range bitsOf(at) {
				damaged := d.crash(false)
				damaged.names[name].now[at] ^= 1 << bit
				if b, err := openWithin(t, damaged, Options{}); err == nil {
					_ = b.closeSegments()
					continue
				}
				b, damage, err := salvageDisk(t.Context(), damaged, Options{})
				if err != nil {
					t.Fatal(err)
				}
				salvaged++
				if got := snapshotOf(b); !got.equal(state) || len(damage) != 1 || !damage[0].Mended && len(damage[0].Lost) > 0 ||
					!damage[0].Known {
					t.Fatalf("bit %d of byte %d of %s: %+v, found %v, want %v", bit, at, name, damage, got, state)
				}
				_ = b.closeSegments()
			}
		}
	}
	if salvaged < 125*len(bitsOf(0)) {
		t.Errorf("%d logs were salvaged", salvaged)
	}
}

// Larger damage costs the records in it alone: all others are read, and all that are lost are told,
// or that they are not known.
func TestSalvageLargerDamage(t *testing.T) {
	hosttest.NotRaced(t, "one goroutine opens a store for each damage")
	d, state := makeLog(t)
	names := slices.Sorted(maps.Keys(d.names))
	rng := rand.New(rand.NewPCG(7, 7))
	mended := 0
	tries := 3000
	if testing.Short() {
		tries = 500
	}
	for n := range tries {
		damaged := d.crash(false)
		file := damaged.names[names[rng.IntN(len(names))]]
		var how string
		at := rng.IntN(len(file.now))
		switch n % 4 {
		case 0:
			how = "bytes changed"
			for i := at; i < min(at+2+rng.IntN(40), len(file.now)); i++ {
				file.now[i] = byte(rng.Uint32())
			}
		case 1:
			how = "zeroed"
			clear(file.now[at:min(at+1+rng.IntN(300), len(file.now))])
		case 2:
			how = "cut"
			file.now = file.now[:at]
		case 3:
			how = "two bits"
			file.now[at] ^= 1 << rng.IntN(8)
			file.now[rng.IntN(len(file.now))] ^= 1 << rng.IntN(8)
		}
		if b, err := openWithin(t, damaged, Options{}); err == nil {
			_ = b.closeSegments()
			continue
		}
		b, damage, err := salvageDisk(t.Context(), damaged, Options{})
		if err != nil {
			t.Fatalf("%s at %d: %v", how, at, err)
		}
		gone, known := 0, true
		for _, e := range damage {
			known = known && e.Known
			gone += len(e.Lost)
			if e.Mended {
				mended++
			}
		}
		got := snapshotOf(b)
		records, written := 0, 0
		for subject, want := range state {
			has := got[subject]
			records += len(has)
			written += len(want)
			for _, r := range has {
				if !slices.Contains(want, r) {
					t.Fatalf("%d: %s at %d: %s has the record %v, which was never written", n, how, at, subject, r)
				}
			}
		}
		if known && records+gone != written {
			t.Fatalf("%d: %s at %d: %d of %d records, %+v", n, how, at, records, written, damage)
		}
		for subject := range got {
			if state[subject] == nil {
				t.Fatalf("%d: %s at %d: %s was never written", n, how, at, subject)
			}
		}
		_ = b.closeSegments()
	}
	if mended < tries/30 {
		t.Errorf("%d bits were mended", mended)
	}
}

// Bytes within a record that would be a frame at their place are never read as one: neither where
// the record around them is damaged, nor in a listing.
func TestSalvageTakesNoFrameWithinARecord(t *testing.T) {
	hosttest.NotRaced(t, "one goroutine opens a store for each bit")
	for bit := range 8 * 40 {
		d := newCrashDisk(rand.New(rand.NewPCG(1, 1)))
		b, err := openWithin(t, d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		storeRecords(t, b, "a", 2, 50)
		at := b.active.size
		outer := frame{kind: recordFrame, subject: "run.outer"}
		forged := frame{kind: recordFrame, seq: b.nextSeq, subject: "ledger", id: "forged", data: []byte("forged")}
		inner := at + int64(outer.encodedSize())
		r := &request{kind: recordFrame, subject: "run.outer", data: appendFrame(nil, forged, b.active.salt, inner)}
		if err := b.storeBatch(b.planBatch([]*request{r})); err != nil {
			t.Fatal(err)
		}
		storeRecords(t, b, "b", 2, 50)
		_ = b.closeSegments()
		d.names[segmentName(1)].now[int(at)+bit/8] ^= 1 << (bit % 8)
		got, _, err := salvageDisk(t.Context(), d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if found := snapshotOf(got); len(found["ledger"]) > 0 || len(found["run.outer"]) != 1 || len(found) != 5 {
			t.Fatalf("bit %d: found %v", bit, found)
		}
		_ = got.closeSegments()
	}
}

// A salvaged log is not written to, and its files stay as they are.
func TestSalvageWritesNothing(t *testing.T) {
	dir := t.TempDir()
	opened, err := Open(t.Context(), Options{Dir: dir, rollAt: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if err := appendTo(t, opened, fmt.Sprint("run.", i), 100); err != nil {
			t.Fatal(err)
		}
	}
	if err := opened.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, walName, segmentName(2))
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text[100] ^= 4
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Dir: dir}); company.CodeOf(err) != company.ELedger {
		t.Fatalf("a damaged log: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, walName, compactName), []byte("left"), 0o600); err != nil {
		t.Fatal(err)
	}
	b, damage, err := Salvage(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if len(damage) != 1 || damage[0].File != "wal/00000002.wal" || !damage[0].Mended || damage[0].Offset != 100 {
		t.Errorf("damage: %+v", damage)
	}
	if _, err := b.Log().Append(t.Context(), "ledger", []byte("x"), 0, "x"); !errors.Is(err, bus.ErrNotAllowed) {
		t.Errorf("an append: %v", err)
	}
	n := 0
	for i := range 20 {
		if err := b.Log().Read(t.Context(), fmt.Sprint("run.", i), 0,
			func(bus.Message) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if n != 20 {
		t.Errorf("%d of 20 records", n)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, text) {
		t.Errorf("the file has changed: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, walName, compactName)); err != nil {
		t.Error(err)
	}
}

// A listing of a damaged log goes on with the next whole frame.
func TestScanGoesOnBehindDamage(t *testing.T) {
	dir := t.TempDir()
	opened, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	var places []int64
	for i := range 50 {
		places = append(places, opened.(*Bus).active.size)
		data, err := json.Marshal(strings.Repeat("x", 100+i))
		if err == nil {
			_, err = opened.Log().Append(t.Context(), fmt.Sprint("run.", i), data, 0, "")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := opened.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, walName, segmentName(1))
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{7, 8, 30} {
		text[places[i]+2] ^= 1 // of the length
		text[places[i]+60] ^= 1
	}
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	own, err := safedir.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	records, skipped := 0, []int64{}
	err = Scan(own, func(e Entry) error {
		if e.Kind == "record" {
			records++
		}
		return nil
	}, func(_ string, offset, _ int64) error { skipped = append(skipped, offset); return nil })
	if err != nil || records != 47 || !slices.Contains(skipped, places[7]) || !slices.Contains(skipped, places[30]) {
		t.Errorf("%d of 47 records, skipped at %v: %v", records, skipped, err)
	}
}
