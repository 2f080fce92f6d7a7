package orchestrator

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/ledger"
	"company/internal/ledger/marks"
	"company/internal/lib/safedir/foldertest"
)

// TestEventThatKills: a start refuses to read an event at which the company died twice, unless a snapshot stands behind
// it. A snapshot at which it died twice is left out.
func TestEventThatKills(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.run()
	b.submit(1)
	if err := b.halt(); err != nil {
		t.Fatal(err)
	}
	head := int(b.orch.View().Seq)
	state := foldertest.Open(t, t.TempDir())
	open := func(places ...marks.Place) (*Orchestrator, error) {
		for _, p := range places {
			for range marks.Limit {
				marks.Open(state, slog.New(slog.DiscardHandler)).Enter(p)
			}
		}
		cfg := b.cfg
		cfg.Marks = marks.Open(state, slog.New(slog.DiscardHandler))
		var err error
		if cfg.Ledger, err = ledger.Open(b.ctx, b.bus, ledger.Options{Folder: foldertest.Open(t, b.dir)}); err != nil {
			t.Fatal(err)
		}
		o, err := Open(b.ctx, cfg)
		if cerr := cfg.Marks.Close(); cerr != nil {
			t.Error(cerr)
		}
		return o, err
	}
	o, err := open(marks.Place{Owner: marks.Ledger, Doing: marks.Event, N: 1})
	if err != nil || o.snapSeq == 0 {
		t.Fatalf("behind a snapshot: %v", err)
	}
	_, err = open(marks.Place{Owner: marks.Ledger, Doing: marks.Snapshot, N: int(o.snapSeq)})
	if company.CodeOf(err) != company.ECrash || !strings.Contains(err.Error(), "2 times in a row while reading event 1") {
		t.Fatalf("an event that kills: %v", err)
	}
	marks.Open(state, slog.New(slog.DiscardHandler)).Enter(
		marks.Place{Owner: marks.Ledger, Doing: marks.Event, N: 1}).Pass()
	o, err = open()
	if err != nil || o.snapSeq != 0 || int(o.View().Seq) != head {
		t.Fatalf("without the snapshot: %v", err)
	}
	_, err = open(marks.Place{Owner: marks.Ledger, Doing: marks.Event, N: head})
	if company.CodeOf(err) != company.ECrash {
		t.Errorf("the last event kills: %v", err)
	}
	marks.Open(state, slog.New(slog.DiscardHandler)).Enter(
		marks.Place{Owner: marks.Ledger, Doing: marks.Event, N: head}).Pass()
	if _, err = open(marks.Place{Owner: marks.Ledger, Doing: marks.Event, N: head + 1}); err != nil {
		t.Errorf("an event that a repair has cut off: %v", err)
	}
}

// TestSuspectsAreTriedOneAtATime: of three gates that were under way when a process died, each is tried alone, beside
// others that were not. So the next death sets aside the one that kills, and no innocent one.
func TestSuspectsAreTriedOneAtATime(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *Config) { c.Checks = 9 })
	var due []company.Effect
	for _, key := range []string{"gate 1", "gate 2", "gate 3", "gate 4"} {
		due = append(due, company.Effect{Key: key, Kind: company.EffectGate})
	}
	state := foldertest.Open(t, t.TempDir())
	die := func(effects []company.Effect) { // by a fatal error of Go
		t.Helper()
		book := marks.Open(state, slog.New(slog.DiscardHandler))
		for _, e := range effects {
			book.Enter(marks.Place{Owner: e.Key, Doing: marks.Effect})
		}
		if err := state.WriteFile("crash", []byte("fatal error: stack overflow\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	now := b.orch.Now()
	requireStart := func(want ...string) (effects []company.Effect) {
		t.Helper()
		l := b.orch.newLook(company.NewState(), now, due)
		effects = b.orch.startableEffects(l)
		var got []string
		for _, e := range effects {
			got = append(got, e.Key)
			b.orch.jobs[e.Key] = &job{effect: e, began: now, suspect: b.orch.cfg.Marks.IsSuspect(e.Key)}
		}
		if !slices.Equal(got, want) {
			t.Errorf("started: %q, want %q", got, want)
		}
		return effects
	}
	pass := func(key string) {
		b.orch.cfg.Marks.Enter(marks.Place{Owner: key, Doing: marks.Effect}).Pass()
		delete(b.orch.jobs, key)
		due = slices.DeleteFunc(due, func(e company.Effect) bool { return e.Key == key })
	}

	die(due[:3])
	b.orch.cfg.Marks = marks.Open(state, slog.New(slog.DiscardHandler))
	requireStart("gate 1", "gate 4")
	requireStart()
	pass("gate 1")
	guilty := requireStart("gate 2")
	now = now.Add(trialTime - time.Second)
	requireStart()
	if end := b.orch.trialEnd(); !end.Equal(now.Add(time.Second)) {
		t.Errorf("the trial ends at %s, now %s", end, now)
	}
	die(guilty)
	b.orch.cfg.Marks = marks.Open(state, slog.New(slog.DiscardHandler))
	if aside := b.orch.cfg.Marks.SetAside(""); len(aside) != 1 || aside[0].Owner != "gate 2" {
		t.Errorf("set aside: %v", aside)
	}
	now = now.Add(time.Second) // one that lasts does not hold up the others for good
	requireStart("gate 3")
	clear(b.orch.jobs)
	if err := b.orch.cfg.Marks.Close(); err != nil {
		t.Error(err)
	}
}
