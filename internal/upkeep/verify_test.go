package upkeep

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"company/internal/bus/bustest"
	"company/internal/company"
	"company/internal/present/feed"
	"company/internal/present/view"
)

// A byte that is flipped in a record of before the snapshot is found by a start with nats, which
// reads its files. A start with the file driver does not read it: the round finds it and tells of
// it once; so does a person's look at all of it.
func TestDamageBeforeTheSnapshotIsFound(t *testing.T) {
	for _, driver := range []string{"nats", "file"} {
		t.Run(driver, func(t *testing.T) {
			s := newStore(t, driver)
			s.Submit("flip me", "/p")
			for range 300 { // a start reads some events of before the snapshot
				s.Submit("more", "/p")
			}
			s.saveSnapshot()
			if driver == "nats" { // what is open is in the server's memory
				s.close()
				s.flipByte("flip me", 0)
				if err := s.open(); company.CodeOf(err) != company.ELedger {
					t.Fatalf("a start with damaged records: %v", err)
				}
				return
			}
			s.flipByte("flip me", 0)
			if n := len(s.orch.View().Tasks); n != 301 {
				t.Fatalf("the office opens with %d tasks", n)
			}
			v := s.verifier()
			all, err := v.Run(t.Context())
			must(t, err)
			requireDamage(t, all.Damage, "ledger", "event 2,")
			for range 2 { // what is known is not told again
				p := v.load()
				p.Ended = time.Time{}
				must(t, v.saveProgress(verification{Damage: p.Damage}))
				must(t, v.runRound(t.Context(), 0))
			}
			told := s.takeTold()
			if len(told) != 1 || told[0].Mark != feed.Needs || !strings.HasPrefix(told[0].Text, "E_LEDGER: ") ||
				len(told[0].Lines) != 1 {
				t.Fatalf("told: %+v", told)
			}
			requireDamage(t, s.verifier().Damage(), "ledger", "event 2,") // of the next process

			s.close()
			if err := s.open(); company.CodeOf(err) != company.ELedger {
				t.Fatalf("a start that reads every record: %v", err)
			}
		})
	}
}

func requireDamage(t *testing.T, all []view.Damage, what, where string) {
	t.Helper()
	if len(all) != 1 || all[0].What != what || !strings.Contains(all[0].Where, where) || all[0].Why == "" ||
		all[0].Fix == "" || all[0].Code != company.ELedger {
		t.Fatalf("damage: %+v", all)
	}
}

// A length that is not what was written hides a whole file of records from the server.
// A start that misses them says so, and does not wait for them.
func TestDamagedLengthIsFound(t *testing.T) {
	s := newStore(t, "nats")
	for range 40 { // more than the server's first file holds
		s.Submit(strings.Repeat("much ", 50_000), "/p")
	}
	s.close()
	s.flipByte("\x06\x00ledger", 18) // the third byte of the first record's length
	if err := s.open(); company.CodeOf(err) != company.ELedger {
		t.Fatalf("the ledger opens: %v", err)
	}
}

// A blob whose bytes are not those of its name, and one that is gone though the state
// names it, are found and named; one that nothing names is read as well. A blob
// that is put back counts as whole, and has no second line in the feed.
func TestDamagedBlobsAreFound(t *testing.T) {
	for _, driver := range []string{"nats", "file"} {
		t.Run(driver, func(t *testing.T) {
			s := newStore(t, driver)
			run, journal := s.endRun("a")
			gone, goneJournal := s.endRun("b")
			loose := s.putBlob("nothing names it")
			v := s.verifier()
			all, err := v.Run(t.Context())
			must(t, err)
			if len(all.Damage) != 0 || all.Blobs < 5 || all.Events != s.ledger.Head().Seq {
				t.Fatalf("a store in order: %+v", all)
			}

			for _, h := range []company.Hash{journal, loose} {
				must(t, bustest.CorruptBlob(s.office.Bus, string(h)))
			}
			restore, err := bustest.LoseBlob(s.office.Bus, string(goneJournal))
			must(t, err)
			all, err = v.Run(t.Context())
			must(t, err)
			var where []string
			for _, d := range all.Damage {
				where = append(where, d.Where)
			}
			text := strings.Join(where, "\n")
			for _, want := range []string{string(journal) + " (the journal of run " + string(run) + ")",
				string(goneJournal) + " (the journal of run " + string(gone) + ")", string(loose)} {
				if !strings.Contains(text, want) || len(where) != 3 {
					t.Fatalf("damaged: %s\nwant %s", text, want)
				}
			}

			must(t, v.runRound(t.Context(), 0))
			if told := s.takeTold(); len(told) != 3 {
				t.Fatalf("told: %+v", told)
			}
			must(t, restore())
			must(t, v.saveProgress(verification{Damage: v.load().Damage}))
			must(t, v.runRound(t.Context(), 0))
			if told := s.takeTold(); len(told) != 1 || told[0].Mark != feed.Done || len(v.Damage()) != 2 {
				t.Fatalf("told: %+v, damaged %+v", told, v.Damage())
			}
		})
	}
}

// A round that ends with its process goes on where it stood, comes to its end, and is
// not begun again before a day has passed.
func TestRoundGoesOn(t *testing.T) {
	s := newStore(t, "file")
	for range recordsPerStep + 100 {
		s.Submit("x", "/p")
	}
	head := s.ledger.Head()
	ctx, cancel := context.WithCancelCause(t.Context())
	v := s.verifier()
	v.State = endsAfter{s.orch, 3, cancel}.asState()
	must(t, v.runRound(ctx, time.Hour)) // rests until the end
	stood := v.load()
	if stood.Ledger.Seq == 0 || stood.Ledger.Seq >= head.Seq || stood.LedgerDone || !stood.Ended.IsZero() {
		t.Fatalf("it stands at %+v of %d", stood, head.Seq)
	}
	next := s.verifier()
	must(t, next.runRound(t.Context(), 0))
	if end := next.load(); end.Ledger != head || end.Ended.IsZero() || !end.Begun.Equal(stood.Begun) {
		t.Fatalf("it ends at %+v, want %+v", end, head)
	}
	s.Submit("after the round", "/p")
	must(t, next.runRound(t.Context(), 0))
	if end := next.load(); end.Ledger != head {
		t.Fatalf("a second round on the same day: %+v", end)
	}
	// A point that the ledger does not hold is of another one: the round begins anew.
	stood.Ledger.Hash = head.Hash
	must(t, next.saveProgress(stood))
	must(t, next.runRound(t.Context(), 0))
	if end := next.load(); end.Ledger != s.ledger.Head() || len(end.Damage) > 0 {
		t.Fatalf("from a point of another ledger: %+v", end)
	}
}

// A round of which each process does one step reads every blob and looks for every name once:
// it is cut among the events, among the blobs and among the tasks.
func TestRoundGoesOnFromAnyStep(t *testing.T) {
	s := newStore(t, "file")
	for n := range 12 {
		run, _ := s.endRun(fmt.Sprint(n))
		must(t, s.orch.ArchiveTask(t.Context(), run.Task()))
	}
	for n := range 4 {
		s.putBlob(strings.Repeat(fmt.Sprint(n), bytesPerStep/2))
	}
	whole, err := s.verifier().Run(t.Context())
	must(t, err)
	var among struct{ blobs, tasks int }
	var p verification
	for processes := 0; p.Ended.IsZero(); processes++ {
		if processes > 100 {
			t.Fatalf("the round does not end: %+v", p)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		v := s.verifier()
		v.State = endsAfter{s.orch, map[bool]int{true: 3, false: 2}[p.Begun.IsZero()], cancel}.asState()
		must(t, v.runRound(ctx, time.Hour))
		p = v.load()
		switch {
		case p.Blob != "" && !p.BlobsDone:
			among.blobs++
		case p.Task != "" && p.Ended.IsZero():
			among.tasks++
		}
	}
	if among.blobs < 2 || among.tasks < 1 {
		t.Errorf("it was cut %+v", among)
	}
	if p.Blobs != whole.Blobs || p.Bytes != whole.Bytes || len(p.Damage) > 0 {
		t.Errorf("%d blobs and %d bytes, want %d and %d; damage %+v", p.Blobs, p.Bytes, whole.Blobs, whole.Bytes, p.Damage)
	}
}

// A damaged blob may be put back alone.
func TestBlobsMayBePutBackAlone(t *testing.T) {
	s := newStore(t, "file")
	h := s.putBlob("small")
	must(t, bustest.CorruptBlob(s.office.Bus, string(h)))
	all, err := s.verifier().Run(t.Context())
	must(t, err)
	requireDamage(t, all.Damage, "blob", string(h))
	for _, want := range []string{"a copy of " + s.office.State + " back",
		"of " + s.office.Bus + "/blobs/" + string(h[:2]) + "/" + string(h[2:]) + " alone"} {
		if !strings.Contains(all.Damage[0].Fix, want) {
			t.Errorf("%+v", all.Damage[0])
		}
	}
}

// A blob that a journal or a result alone names is missed as well.
func TestMissingBlobsOfJournalsAreFound(t *testing.T) {
	for _, driver := range []string{"nats", "file"} {
		t.Run(driver, func(t *testing.T) {
			s := newStore(t, driver)
			run, _ := s.endRun("a")
			s.requireWhole()
			for h, what := range map[company.Hash]string{payloadOf("a"): "a record in the journal of run ",
				hashOfText("transcript of a"): "the transcript of run "} {
				restore, err := bustest.LoseBlob(s.office.Bus, string(h))
				must(t, err)
				all, err := s.verifier().Run(t.Context())
				must(t, err)
				requireDamage(t, all.Damage, "blob", string(h)+" ("+what+string(run)+")")
				must(t, restore())
			}
		})
	}
}

// endsAfter is a state whose process ends when its time was asked for so many times.
type endsAfter struct {
	State
	left int
	end  context.CancelCauseFunc
}

func (e endsAfter) asState() State { return &e }

func (e *endsAfter) Now() time.Time {
	if e.left--; e.left == 0 {
		e.end(errors.New("the process ends"))
	}
	return e.State.Now()
}
