package upkeep

import (
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/engine/orchestrator"
	"company/internal/gitops/gitopstest"
	"company/internal/ledger"
	"company/internal/lib/clock"
	"company/internal/lib/clock/clocktest"
	"company/internal/office/config"
	"company/internal/office/officetest"
)

// What earlier processes left is put away at the next start: the journal of a
// run that has ended and is sealed, and after the retention the repositories of
// its task. What is still needed stays.
func TestRemoveStale(t *testing.T) {
	dir := t.TempDir()
	bus, err := nats.Open(t.Context(), nats.Options{Dir: filepath.Join(dir, "bus")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := bus.Close(); err != nil {
			t.Error(err)
		}
	}()
	u := &Keeper{Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Office: officetest.Open(t),
		RetentionDays: config.Default().RetentionDays}
	if u.Ledger, err = ledger.Open(t.Context(), bus, ledger.Options{}); err != nil {
		t.Fatal(err)
	}
	machine := clocktest.Running(time.Now().Add(-30 * 24 * time.Hour))
	if u.State, err = orchestrator.Open(
		t.Context(), orchestrator.Config{Ledger: u.Ledger, Office: "k3fq", Clock: clock.New(machine.Sources())}); err != nil {
		t.Fatal(err)
	}
	do := func(c company.Command) {
		t.Helper()
		if _, err := u.State.Do(t.Context(), company.Company, c); err != nil {
			t.Fatal(err)
		}
	}
	p := gitopstest.New(t, map[string]string{"a.txt": "a\n"})
	do(company.StartOffice{Office: "k3fq"})

	// Of each task one run of the manager: of t1 and t2 it has ended, of t3 it
	// is under way. t1 was cancelled before the retention.
	for n := 1; n <= 3; n++ {
		id := company.NewTaskID(n)
		run := company.NewRunID(id, "", company.Manager, 1)
		if n == 2 {
			machine.Pass(30 * 24 * time.Hour)
		}
		do(company.Submit{Instruction: "x", Project: company.Project{ID: "p", Path: "/p"}})
		do(company.RecordPreparation{Task: id,
			TaskPrepared: company.TaskPrepared{Base: company.Base{OID: p.Base}, Image: "i", GateHash: "g",
				Integration: "develop-" + string(id) + "-k3fq", Gates: []company.GateCommand{{Name: "test", Command: "true"}}}})
		do(company.RecordBaseline{Task: id, Result: company.GateResult{Tree: p.Base, GateHash: "g", Image: "i", Passed: true,
			Checks: []company.GateCheck{{Name: "test", Command: "true", Passed: true}}}})
		fence := u.State.View().Seq + 1
		do(company.Claim{Run: run, Epoch: 1, Worker: "manager", From: p.Base})
		if _, err := u.Ledger.OpenJournal(t.Context(), run, fence); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Store.Quarantine(t.Context(), p.Mirror, run, p.Base, nil); err != nil {
			t.Fatal(err)
		}
		if n < 3 { // sealed and ended; the process died before the purge
			hash, _, err := u.Ledger.SealJournal(t.Context(), run)
			if err != nil {
				t.Fatal(err)
			}
			do(company.EndRun{Run: run, Fence: fence,
				Outcome: company.RunEnded{Status: company.RunError, Error: "x", Journal: hash}})
			do(company.Cancel{Task: id})
		}
	}
	for range 2 { // again changes nothing
		u.RemoveStale(t.Context(), p.Store)
		journals, err := u.Ledger.Journals(t.Context())
		if err != nil || !slices.Equal(journals, []company.RunID{"t3-plan.1"}) {
			t.Fatalf("journals %v, %v", journals, err)
		}
		runs, err := p.Store.Quarantines()
		if err != nil || !slices.Equal(runs, []company.RunID{"t2-plan.1", "t3-plan.1"}) {
			t.Fatalf("repositories %v, %v", runs, err)
		}
		if seeds, err := filepath.Glob(filepath.Join(filepath.Dir(p.Mirror.Dir()), "seeds", "*.git")); err != nil ||
			len(seeds) != 1 {
			t.Fatalf("seeds %v, %v", seeds, err)
		}
	}
	// What the open tasks name of the mirror is held, and nothing of the others.
	if err := u.RepackJob(p.Store).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if needed, err := referencedObjects(u.State.View()); err != nil || !slices.Contains(needed["p"], p.Base) ||
		len(needed) != 1 {
		t.Errorf("named: %v, %v", needed, err)
	}
	do(company.Cancel{Task: "t3"})
	if needed, err := referencedObjects(u.State.View()); err != nil || len(needed) != 0 {
		t.Errorf("nothing is open: %v, %v", needed, err)
	}
	// Tasks that are over leave the state, the books of a run that was cut off closed first, and
	// what it left is put away as before.
	if err := u.ArchiveJob().Run(t.Context()); err != nil || u.State.View().Tasks["t3"] == nil {
		t.Fatalf("archived at once: %v, %v", err, u.State.View().Tasks)
	}
	machine.Pass(31 * 24 * time.Hour)
	do(company.StartOffice{Office: "k3fq"})
	for range 2 { // the end of the run is the last that is heard of t3
		if err := u.ArchiveJob().Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		machine.Pass(2 * time.Hour)
	}
	if s := u.State.View(); len(s.Tasks) != 0 || len(s.Past) != 3 || s.Past["t3"].Runs != "plan.1" ||
		s.Past["t3"].Booked.IsZero() {
		t.Fatalf("tasks %v, archived %+v", s.Tasks, s.Past["t3"])
	}
	u.RemoveStale(t.Context(), p.Store)
	if runs, err := p.Store.Quarantines(); err != nil || len(runs) != 0 {
		t.Errorf("repositories of archived tasks: %v, %v", runs, err)
	}
	if journals, err := u.Ledger.Journals(t.Context()); err != nil || len(journals) != 0 {
		t.Errorf("journals of archived tasks: %v, %v", journals, err)
	}
}
