package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"company/internal/bus/nats"
	"company/internal/company"
	"company/internal/engine/orchestrator"
	"company/internal/ledger"
	"company/internal/lib/safedir/foldertest"
	"company/internal/office"
	"company/internal/present/feed"
)

// newQuietApp is an office in which nothing works, with its ledger, feed and logs.
func newQuietApp(t *testing.T) (a *App, logs string) {
	t.Helper()
	bus, err := nats.Open(t.Context(), nats.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bus.Close(); err != nil {
			t.Error(err)
		}
	})
	logs = t.TempDir()
	a = &App{hub: feed.NewHub(0), log: slog.New(slog.DiscardHandler),
		office: &office.Office{Folders: office.Folders{LogsFolder: foldertest.Open(t, logs)}}}
	a.lifetime, a.fail = context.WithCancelCause(t.Context())
	if a.ledger, err = ledger.Open(t.Context(), bus, ledger.Options{}); err != nil {
		t.Fatal(err)
	}
	if a.orch, err = orchestrator.Open(t.Context(), orchestrator.Config{Ledger: a.ledger, Office: "k3fq"}); err != nil {
		t.Fatal(err)
	}
	return a, logs
}

// readStacks reads the only file of stacks.
func readStacks(t *testing.T, logs string) string {
	t.Helper()
	files, err := os.ReadDir(logs)
	if err != nil || len(files) != 1 || !strings.HasPrefix(files[0].Name(), "stacks-") {
		t.Fatalf("%v, %v", files, err)
	}
	text, err := os.ReadFile(logs + "/" + files[0].Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A stop does not wait for ever for what ignores its end, and neither does closing: it says
// what did not end, and keeps the stacks.
func TestStopIsBounded(t *testing.T) {
	a, logs := newQuietApp(t)
	free, gone := make(chan struct{}), make(chan struct{}, 2)
	hang := func() error {
		<-free
		gone <- struct{}{}
		return nil
	}
	go func() { _ = hang() }()
	a.stopPatience, a.closers = time.Millisecond, []func() error{hang}
	a.cancelWork, a.worked = func() {}, make(chan struct{})
	err := a.Stop()
	if !errors.Is(err, company.ErrUnended) || company.CodeOf(err) != company.EInternal ||
		!strings.Contains(err.Error(), "did not end within 1ms") {
		t.Errorf("%v", err)
	}
	if stacks := readStacks(t, logs); !strings.Contains(stacks, "TestStopIsBounded.func") {
		t.Errorf("what hangs is not among the stacks: %s", stacks)
	}
	a.closeWithin(time.Millisecond)
	close(free)
	<-gone
	<-gone
}

// The error of a stop names the effects that did not end.
func TestUnendedIsNamed(t *testing.T) {
	err := unendedError([]orchestrator.LateEffect{{Effect: company.Effect{Key: "gate t1-01"}}}, 30*time.Second, "f")
	if !strings.Contains(err.Error(), "gate t1-01 did not end within 30s") {
		t.Errorf("%v", err)
	}
}

// An effect that does not end is in the feed, and its stacks in the office's logs.
func TestLateEffectIsInTheFeed(t *testing.T) {
	a, logs := newQuietApp(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	items, ended := make(chan feed.Item, 10), make(chan error, 1)
	go func() {
		ended <- a.Follow(ctx, feed.Range{From: 1}, func(it feed.Item) error {
			items <- it
			return nil
		})
	}()
	late := orchestrator.LateEffect{
		Effect: company.Effect{Key: "work t1-01.1", Task: "t1", Subtask: "t1-01", Run: "t1-01.1"},
		Since:  a.Now().Add(-12 * time.Second), Cause: orchestrator.ErrNotDue, Stacks: "its stack"}
	// The follower may not listen yet, and items told before may come late: it is told again
	// until one says this.
	next := func(says string) feed.Item {
		t.Helper()
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			a.reportLate(late)
			select {
			case it := <-items:
				if strings.Contains(it.Text, says) {
					return it
				}
			case <-tick.C:
			}
		}
	}
	if it := next("was to end 12s ago and goes on"); it.Kind != "late" || it.Run != "t1-01.1" ||
		!strings.Contains(it.Text, logs) {
		t.Errorf("%+v", it)
	}
	late.Ended, late.Stacks = true, ""
	if it := next("has ended after all"); it.Kind != "late" {
		t.Errorf("%+v", it)
	}
	files, err := os.ReadDir(logs)
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	text, err := os.ReadFile(logs + "/" + files[0].Name())
	if err != nil || !strings.Contains(string(text), "its stack") {
		t.Errorf("%q, %v", text, err)
	}
	cancel()
	<-ended
}
