package orchestrator

import (
	"log/slog"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/folder/foldertest"
	"company/internal/ledger"
	"company/internal/marks"
)

// TestEventThatKills: a start refuses to read an event at which the company died twice, unless a snapshot stands behind it.
// A snapshot at which it died twice is left out.
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
	marks.Open(state, slog.New(slog.DiscardHandler)).Enter(marks.Place{Owner: marks.Ledger, Doing: marks.Event, N: 1}).Pass()
	o, err = open()
	if err != nil || o.snapSeq != 0 || int(o.View().Seq) != head {
		t.Fatalf("without the snapshot: %v", err)
	}
	_, err = open(marks.Place{Owner: marks.Ledger, Doing: marks.Event, N: head})
	if company.CodeOf(err) != company.ECrash {
		t.Errorf("the last event kills: %v", err)
	}
	marks.Open(state, slog.New(slog.DiscardHandler)).Enter(marks.Place{Owner: marks.Ledger, Doing: marks.Event, N: head}).Pass()
	if _, err = open(marks.Place{Owner: marks.Ledger, Doing: marks.Event, N: head + 1}); err != nil {
		t.Errorf("an event that a repair has cut off: %v", err)
	}
}
