package orchestrator

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ledger"
	"company/internal/ledger/crashes"
	"company/internal/lib/safedir"
	"company/internal/lib/safedir/foldertest"
)

// crashDuring has Go end processes of an office while work is under way, and returns the tally of the next one.
func crashDuring(t *testing.T, state *safedir.Folder, key string, task company.TaskID) *crashes.Tally {
	t.Helper()
	open := func() *crashes.Tally { return crashes.Open(state, slog.New(slog.DiscardHandler)) }
	for range crashes.Limit {
		if _, err := open().Enter(key, task); err != nil {
			t.Fatal(err)
		}
		if err := state.WriteFile("crash", []byte("fatal error: stack overflow\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	next := open()
	t.Cleanup(func() {
		if err := next.Close(); err != nil {
			t.Error(err)
		}
	})
	return next
}

// TestLedgerThatKills: a start says that the company died twice while it read the ledger. The next start tries again.
func TestLedgerThatKills(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.run()
	b.submit(1)
	if err := b.halt(); err != nil {
		t.Fatal(err)
	}
	cfg := b.cfg
	cfg.Crashes = crashDuring(t, foldertest.Open(t, t.TempDir()), "reading the ledger", "")
	for _, want := range []company.Code{company.ECrash, ""} {
		var err error
		if cfg.Ledger, err = ledger.Open(b.ctx, b.bus, ledger.Options{Folder: foldertest.Open(t, b.dir)}); err != nil {
			t.Fatal(err)
		}
		if _, err = Open(b.ctx, cfg); company.CodeOf(err) != want || err != nil &&
			!strings.Contains(err.Error(), `company died 2 times in a row during "reading the ledger"`) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// TestEffectThatKills: an effect during which the company died twice is not begun, and asks for the president.
func TestEffectThatKills(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.orch.cfg.Crashes = crashDuring(t, foldertest.Open(t, t.TempDir()), "gate t1-01", "t1")
	begun := 0
	b.orch.handlers[company.EffectGate] = func(context.Context, company.Effect) error { begun++; return nil }
	gate := company.Effect{Key: "gate t1-01", Kind: company.EffectGate, Task: "t1"}
	err := b.orch.runHandler(b.ctx, gate)
	if company.CodeOf(err) != company.ECrash || begun > 0 || !strings.Contains(err.Error(), "gate t1-01 is set aside") {
		t.Errorf("%v, begun %d times", err, begun)
	}
	if err := b.orch.runHandler(b.ctx, gate); err != nil || begun != 1 {
		t.Errorf("after the answer: %v, begun %d times", err, begun)
	}
}
