package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/lib/hosttest"

	"pgregory.net/rapid"
)

const run = company.RunID("t12-03.2")

func journalOf(t testing.TB, b *bench, l *ledger.Ledger, run company.RunID) []ledger.Record {
	t.Helper()
	var all []ledger.Record
	must(t, l.ReadJournal(b.ctx, run, func(r ledger.Record) error { all = append(all, r); return nil }))
	return all
}

func short(all []ledger.Record) (s []string) {
	for _, r := range all {
		s = append(s, fmt.Sprintf("%d:%s%s", r.Fence, r.Kind, r.Data))
	}
	return s
}

func requireJournal(t testing.TB, b *bench, l *ledger.Ledger, run company.RunID, want ...string) {
	t.Helper()
	all := journalOf(t, b, l, run)
	if got := short(all); !reflect.DeepEqual(got, want) && len(got)+len(want) > 0 {
		t.Fatalf("journal %v, want %v", got, want)
	}
	for i, r := range all {
		if r.N != i+1 || r.Time.IsZero() {
			t.Fatalf("record %d is %+v", i+1, r)
		}
	}
}

func mustOpen(t testing.TB, b *bench, l *ledger.Ledger, run company.RunID, fence uint64) *ledger.Journal {
	t.Helper()
	j, err := l.OpenJournal(b.ctx, run, fence)
	must(t, err)
	return j
}

func mustRecord(t testing.TB, b *bench, j *ledger.Journal, kind string, data any) int {
	t.Helper()
	n, err := j.Append(b.ctx, kind, data)
	must(t, err)
	return n
}

func TestJournal(t *testing.T) {
	b := setup(t)
	l := b.open(t)
	j := mustOpen(t, b, l, run, 3)
	if n := mustRecord(t, b, j, "turn", map[string]string{"text": "<é>"}); n != 2 {
		t.Fatalf("the record after opened has number %d", n)
	}
	mustRecord(t, b, j, "call", nil)
	want := []string{`3:opened`, `3:turn{"text":"\u003cé\u003e"}`, `3:call`}
	requireJournal(t, b, l, run, want...)

	// A restart goes on under a higher fence, in the same journal.
	j = mustOpen(t, b, b.open(t), run, 9)
	mustRecord(t, b, j, "turn", 2)
	want = append(want, `9:opened`, `9:turn2`)
	requireJournal(t, b, l, run, want...)
	if err := j.Read(b.ctx, func(ledger.Record) error { return errStop }); !errors.Is(err, errStop) {
		t.Fatalf("an error of fn came back as %v", err)
	}

	_, err := j.Append(b.ctx, "bad", func() {})
	requireCode(t, err, company.EInvalid)
	_, err = j.Append(b.ctx, "large", strings.Repeat("x", bus.MaxRecord))
	requireCode(t, err, company.EInvalid)
	requireJournal(t, b, l, run, want...)
	for _, bad := range []company.RunID{"", "t1", "run.>", "../x"} {
		_, err := l.OpenJournal(b.ctx, bad, 1)
		requireCode(t, err, company.EInvalid)
	}
	_, err = l.OpenJournal(b.ctx, "t1-01.1", 0)
	requireCode(t, err, company.EInvalid)
	runs, err := l.Journals(b.ctx)
	if err != nil || len(runs) != 1 || runs[0] != run {
		t.Fatalf("journals %v, %v", runs, err)
	}
}

// Feature: ledger, Property 5: Old Fences Are Refused
//
// TestOldFenceIsRefused plays histories of holders that come, write, and are
// pushed aside, against a model: a result with an old fence changes nothing (SUB-11).
func TestOldFenceIsRefused(t *testing.T) {
	hosttest.NotRaced(t, "one goroutine writes and reads a hundred histories")
	b := setup(t)
	l := b.open(t)
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		run := company.NewRunID("t1", "t1-01", company.Worker, runs)
		var model, waiting []string // in the journal, and with the owner
		var holders []*ledger.Journal
		var fences []uint64
		highest, owner := uint64(0), -1
		rt.Repeat(map[string]func(*rapid.T){
			"open": func(rt *rapid.T) {
				fence := rapid.Uint64Range(1, 12).Draw(rt, "fence")
				j, err := l.OpenJournal(b.ctx, run, fence)
				if fence < highest {
					requireCode(t, err, company.EStale)
					return
				}
				must(t, err)
				highest, owner = fence, len(holders)
				holders, fences = append(holders, j), append(fences, fence)
				// Some of what waited may be stored: it was too much to wait.
				stored := len(journalOf(t, b, l, run)) - 1 - len(model)
				model, waiting = append(append(model, waiting[:stored]...), fmt.Sprintf("%d:opened", fence)), nil
			},
			"append later": func(rt *rapid.T) {
				if len(holders) == 0 {
					return
				}
				h := rapid.IntRange(0, len(holders)-1).Draw(rt, "holder")
				text := strings.Repeat("x", rapid.SampledFrom([]int{1, 2, 70_000}).Draw(rt, "size"))
				err := holders[h].AppendLater(b.ctx, "later", text)
				if h != owner { // one that does not know yet that it is out has it wait in vain
					if err != nil {
						requireCode(t, err, company.EStale)
					}
					return
				}
				must(t, err)
				waiting = append(waiting, fmt.Sprintf("%d:later%q", fences[h], text))
			},
			"flush": func(rt *rapid.T) {
				if len(holders) == 0 {
					return
				}
				h := rapid.IntRange(0, len(holders)-1).Draw(rt, "holder")
				err := holders[h].Flush(b.ctx)
				if h != owner {
					if err != nil {
						requireCode(t, err, company.EStale)
					}
					return
				}
				must(t, err)
				model, waiting = append(model, waiting...), nil
			},
			"append": func(rt *rapid.T) {
				if len(holders) == 0 {
					return
				}
				h := rapid.IntRange(0, len(holders)-1).Draw(rt, "holder")
				n, err := holders[h].Append(b.ctx, "turn", h)
				if h != owner {
					requireCode(t, err, company.EStale)
					return
				}
				must(t, err)
				model, waiting = append(append(model, waiting...), fmt.Sprintf("%d:turn%d", fences[h], h)), nil
				if n != len(model) {
					rt.Fatalf("record %d has number %d", len(model), n)
				}
			},
			"lose an answer": func(rt *rapid.T) {
				if owner < 0 {
					return
				}
				b.onAppend = rapid.SampledFrom([]func(func() (uint64, error)) (uint64, error){lostAnswer, lostRequest}).Draw(
					rt, "which")
				_, err := holders[owner].Append(b.ctx, "turn", "again")
				if err != nil { // the same once more
					requireCode(t, err, company.EBus)
					mustRecord(t, b, holders[owner], "turn", "again")
				}
				model, waiting = append(append(model, waiting...), fmt.Sprintf("%d:turn%q", fences[owner], "again")), nil
			},
			"": func(rt *rapid.T) {
				if owner < 0 {
					return
				}
				all := journalOf(t, b, l, run)
				if got := short(all); !slices.Equal(got, model) &&
					!slices.Equal(got, append(slices.Clip(model), waiting[:max(0, len(got)-len(model))]...)) {
					rt.Fatalf("journal %v, want %v, and %v may be behind it", got, model, waiting)
				}
			},
		})
		// The end: what waits is sealed with the rest.
		if owner < 0 {
			return
		}
		if rapid.Bool().Draw(rt, "the answer to the seal is lost") {
			b.onAppend = lostAnswer
		}
		hash, err := holders[owner].Seal(b.ctx)
		must(t, err)
		model = append(model, waiting...)
		requireJournal(t, b, l, run, model...)
		var kept []ledger.Record
		must(t, l.ReadSealed(b.ctx, hash, func(r ledger.Record) error { kept = append(kept, r); return nil }))
		if got := short(kept); !slices.Equal(got, model) {
			rt.Fatalf("sealed %v, want %v", got, model)
		}
	})
}

// TestRecordsTogether: records that wait are stored with the next one, in one message of
// the bus; a holder that dies before loses them, and the next one does not see them.
func TestRecordsTogether(t *testing.T) {
	b := setup(t)
	l := b.open(t)
	j := mustOpen(t, b, l, run, 1)
	must(t, j.AppendLater(b.ctx, "prompt", 1))
	must(t, j.AppendLater(b.ctx, "note", 2))
	requireJournal(t, b, l, run, "1:opened")
	if n := mustRecord(t, b, j, "call", 3); n != 4 {
		t.Fatalf("the call has number %d", n)
	}
	messages := 0
	must(t, b.Bus.Log().Read(b.ctx, "run."+string(run), 0, func(bus.Message) error { messages++; return nil }))
	if messages != 2 {
		t.Errorf("%d messages", messages)
	}
	var seen []string
	ctx, stop := context.WithCancel(b.ctx)
	defer stop()
	err := l.FollowJournal(ctx, run, 2, func(r ledger.Record) error {
		if seen = append(seen, r.Kind); r.N == 4 {
			stop()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || !slices.Equal(seen, []string{"note", "call"}) {
		t.Errorf("after record 2: %v, %v", seen, err)
	}
	must(t, j.AppendLater(b.ctx, "lost", 4))
	next := mustOpen(t, b, b.open(t), run, 2)
	requireCode(t, j.Flush(b.ctx), company.EStale)
	must(t, next.AppendLater(b.ctx, "kept", 5))
	must(t, next.Read(b.ctx, func(ledger.Record) error { return nil }))
	requireJournal(t, b, l, run, "1:opened", "1:prompt1", "1:note2", "1:call3", "2:opened", "2:kept5")

	// Where another process has sealed the journal, the seal does not hide what waits.
	must(t, next.AppendLater(b.ctx, "late", 6))
	_, _, err = l.SealJournal(b.ctx, run)
	must(t, err)
	_, err = next.Seal(b.ctx)
	requireCode(t, err, company.EStale)
}

// TestJournalLateArrival: a record that was given up for lost arrives later.
func TestJournalLateArrival(t *testing.T) {
	b := setup(t)
	l := b.open(t)
	j := mustOpen(t, b, l, run, 1)
	giveUp := func(data any) (late func() (uint64, error)) {
		t.Helper()
		b.onAppend = func(next func() (uint64, error)) (uint64, error) { late = next; return 0, bus.ErrUnknown }
		_, err := j.Append(b.ctx, "turn", data)
		requireCode(t, err, company.EBus)
		return late
	}
	arrive := func(late func() (uint64, error)) {
		t.Helper()
		_, err := late()
		must(t, err)
	}
	arrive(giveUp(1))
	if n := mustRecord(t, b, j, "turn", 1); n != 2 { // the same: stored once
		t.Fatalf("record %d", n)
	}
	if n := mustRecord(t, b, j, "turn", 1); n != 3 { // not a repeat any more
		t.Fatalf("record %d", n)
	}
	arrive(giveUp(2))
	if n := mustRecord(t, b, j, "turn", 3); n != 5 { // another: behind it
		t.Fatalf("record %d", n)
	}
	late := giveUp(4)
	mustRecord(t, b, j, "turn", 5)
	if _, err := late(); !errors.Is(err, bus.ErrConflict) {
		t.Fatalf("late append: %v", err)
	}
	late = giveUp(6)
	mustOpen(t, b, l, run, 2)
	if _, err := late(); !errors.Is(err, bus.ErrConflict) {
		t.Fatalf("append of an old holder: %v", err)
	}
	_, err := j.Append(b.ctx, "turn", 6)
	requireCode(t, err, company.EStale)
	requireJournal(t, b, l, run, "1:opened", "1:turn1", "1:turn1", "1:turn2", "1:turn3", "1:turn5", "2:opened")
}

// TestSealAndPurge: the content stays, the holder is out, and nothing is
// purged that is not kept.
func TestSealAndPurge(t *testing.T) {
	b := setup(t)
	l := b.open(t)
	for n, size := range []int{0, 1, 300} { // records besides opened; 0: never opened
		run := company.NewRunID("t1", "t1-01", company.Worker, n+1)
		var j *ledger.Journal
		if size > 0 {
			j = mustOpen(t, b, l, run, 5)
			for k := range size {
				mustRecord(t, b, j, "turn", strings.Repeat("<&>é\n", k))
			}
			requireCode(t, l.PurgeJournal(b.ctx, run), company.EInvalid)
		}
		before := journalOf(t, b, l, run)

		hash, count, err := l.SealJournal(b.ctx, run)
		if err != nil || count != len(before) {
			t.Fatalf("sealed %d records of %d: %v", count, len(before), err)
		}
		for range 2 { // may be repeated, also by a second process
			again, count2, err := b.open(t).SealJournal(b.ctx, run)
			if err != nil || again != hash || count2 != count {
				t.Fatalf("sealed again: %s, %d, %v; want %s, %d", again, count2, err, hash, count)
			}
		}
		if j != nil {
			_, err = j.Append(b.ctx, "turn", "late")
			requireCode(t, err, company.EStale)
		}
		if j != nil {
			for _, fence := range []uint64{1, 4, 5} { // who was out stays out
				_, err = l.OpenJournal(b.ctx, run, fence)
				requireCode(t, err, company.EStale)
			}
		}
		if after := journalOf(t, b, l, run); !reflect.DeepEqual(after, before) {
			t.Fatalf("sealing changed %v to %v", short(before), short(after))
		}

		must(t, l.PurgeJournal(b.ctx, run))
		must(t, l.PurgeJournal(b.ctx, run))
		if left := journalOf(t, b, l, run); len(left) != 0 {
			t.Fatalf("%d records are left", len(left))
		}
		var kept []ledger.Record
		must(t, l.ReadSealed(b.ctx, hash, func(r ledger.Record) error { kept = append(kept, r); return nil }))
		if !reflect.DeepEqual(kept, before) {
			t.Fatalf("kept %v, want %v", short(kept), short(before))
		}
		if j != nil {
			_, err = j.Append(b.ctx, "turn", "later still")
			requireCode(t, err, company.EStale)
		}
	}
	if runs, err := l.Journals(b.ctx); err != nil || len(runs) != 0 {
		t.Fatalf("journals %v, %v", runs, err)
	}
	requireCode(t, l.ReadSealed(b.ctx, "absent", nil), company.ENotFound)
	_, _, err := l.SealJournal(b.ctx, "nonsense")
	requireCode(t, err, company.EInvalid)
}

// TestOpenAfterASeal: a process dies between the seal of a journal and the
// event that ends its run. The next holder of the run goes on where the records
// end, the old one stays out, and the next seal holds all of it.
func TestOpenAfterASeal(t *testing.T) {
	b := setup(t)
	l := b.open(t)
	old := mustOpen(t, b, l, run, 5)
	mustRecord(t, b, old, "turn", 1)
	first, _, err := l.SealJournal(b.ctx, run)
	must(t, err)

	l = b.open(t) // another process
	j := mustOpen(t, b, l, run, 6)
	_, err = old.Append(b.ctx, "turn", "late")
	requireCode(t, err, company.EStale)
	mustRecord(t, b, j, "turn", 2)
	requireCode(t, l.PurgeJournal(b.ctx, run), company.EInvalid) // it is open
	var shown []string
	for _, rec := range journalOf(t, b, l, run) {
		shown = append(shown, fmt.Sprintf("%d:%s%s", rec.Fence, rec.Kind, rec.Data))
	}
	if got := strings.Join(shown, " "); got != "5:opened 5:turn1 6:opened 6:turn2" {
		t.Fatalf("the journal is %s", got)
	}

	second, n, err := l.SealJournal(b.ctx, run)
	if err != nil || n != 4 || second == first {
		t.Fatalf("sealed %d records as %s, %v; before as %s", n, second, err, first)
	}
	must(t, l.PurgeJournal(b.ctx, run))
	kept := 0
	must(t, l.ReadSealed(b.ctx, second, func(ledger.Record) error { kept++; return nil }))
	if kept != 4 {
		t.Fatalf("%d records are kept", kept)
	}
}

// TestSealWhileWriting: each record that its holder saw stored is in the blob.
func TestSealWhileWriting(t *testing.T) {
	b := setup(t)
	l := b.open(t)
	j := mustOpen(t, b, l, run, 1)
	stored := 1
	ended := make(chan error, 1)
	started := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			if _, err := j.Append(b.ctx, "turn", n); err != nil {
				ended <- err
				return
			}
			if stored++; n == 20 {
				close(started)
			}
		}
	}()
	<-started
	_, count, err := l.SealJournal(b.ctx, run)
	must(t, err)
	requireCode(t, <-ended, company.EStale)
	if count != stored {
		t.Fatalf("sealed %d records, the holder stored %d", count, stored)
	}
}

func TestBlobs(t *testing.T) {
	b := setup(t)
	l := b.open(t)
	hash, size, err := l.PutBlob(b.ctx, strings.NewReader("hello"))
	if err != nil || size != 5 {
		t.Fatalf("put: %d, %v", size, err)
	}
	for limit, want := range map[int64]company.Code{5: "", 1 << 40: "", 1<<63 - 1: "", 4: company.EInvalid,
		0: company.EInvalid} {
		data, err := l.GetBlob(b.ctx, hash, limit)
		requireCode(t, err, want)
		if err == nil && string(data) != "hello" {
			t.Fatalf("got %q", data)
		}
	}
	_, err = l.GetBlob(b.ctx, company.Hash(strings.Repeat("0", 64)), 5)
	requireCode(t, err, company.ENotFound)
	_, _, err = l.PutBlob(b.ctx, iotest.ErrReader(syscall.ENOSPC)) // as of a full disk
	if own := new(company.Error); !errors.As(err, &own) || own.Code != company.EBus ||
		!strings.Contains(own.Hint, "free space") {
		t.Errorf("put on a full disk: %v", err)
	}
	ctx, cancel := context.WithCancel(b.ctx)
	cancel()
	_, err = l.GetBlob(ctx, hash, 5)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled: %v", err)
	}
}
