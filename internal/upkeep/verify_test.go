package upkeep

import (
	"strings"
	"testing"

	"company/internal/bus/bustest"
	"company/internal/company"
	"company/internal/present/view"
)

// A byte that is flipped in a record of before the snapshot is found by a start with nats, which
// reads its files. A start with the file driver does not read it, and a verification finds it.
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
			all, err := s.verifier().Run(t.Context())
			must(t, err)
			requireDamage(t, all.Damage, "ledger", "event 2,")

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
// that is put back counts as whole.
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

			must(t, restore())
			if all, err = v.Run(t.Context()); err != nil || len(all.Damage) != 2 {
				t.Fatalf("%v, damaged %+v", err, all.Damage)
			}
		})
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
