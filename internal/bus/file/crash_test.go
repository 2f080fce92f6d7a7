package file

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"company/internal/bus"
	"company/internal/company"
)

// newRecord is a first record of a subject, with so many bytes.
func newRecord(subject string, size int) *stormWrite {
	return &stormWrite{subject: subject, record: stored{id: subject, data: strings.Repeat("x", size)}}
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
		first := newRecord("run.a", 9000)
		if err := store(b, first); err != nil {
			t.Fatal(err)
		}
		d.failAt = d.ops + 1
		failed := newRecord("run.a", 9000)
		failed.record.id, failed.expect = "again", first.record.seq
		if err := store(b, failed); err == nil {
			t.Fatal("a failed sync was acknowledged")
		}
		again, err := openWithin(t, d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := store(again, newRecord("run.c", 9000)); err != nil {
			t.Fatal(err)
		}
		shown := snapshotOf(again)
		last, err := openWithin(t, d.crash(true), Options{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if got := snapshotOf(last); !got.equal(shown) {
			t.Fatalf("seed %d: shown was %v, and after a power cut %v", seed, shown, got)
		}
	}
}

// A record that a full disk refused is not there after a power cut, whether it is the first of its file
// or not.
func TestRefusedRecordThenPowerCut(t *testing.T) {
	for seed := range uint64(200) {
		d := newCrashDisk(rand.New(rand.NewPCG(seed, 7)))
		b, err := openWithin(t, d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		refused := newRecord(fmt.Sprint("run.", seed%2), 900)
		if before := newRecord("run.0", 10); seed%2 == 0 {
			if err := store(b, before); err != nil {
				t.Fatal(err)
			}
			refused.expect, refused.record.id = before.record.seq, "again"
		}
		want := snapshotOf(b)
		d.full, d.freeAt = d.ops+1, d.ops+3
		if err = store(b, refused); company.CodeOf(err) != company.EBus || errors.Is(err, bus.ErrUnknown) {
			t.Fatal(err)
		}
		again, err := openWithin(t, d.crash(true), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := snapshotOf(again); !got.equal(want) {
			t.Fatalf("seed %d: refused, and there: %v", seed, got)
		}
	}
}
