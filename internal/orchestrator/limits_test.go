package orchestrator

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/company"
)

// An outcome that the ledger cannot hold is refused like any other; the
// company goes on.
func TestEventsBeyondTheLedgerAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.orch.Register(company.DoPrepare, func(ctx context.Context, e company.Effect) (company.Command, error) {
		cmd, err := prepares(ctx, e)
		c := cmd.(company.Prepare)
		c.Base.Branch = strings.Repeat("x", bus.MaxRecord)
		return c, err
	})
	b.run()
	b.submit(1)
	b.happened("effect.failed")
	if f := b.orch.View().Tasks["t1"].Failures["prepare"]; f.Code != company.EInvalid {
		t.Errorf("%+v", f)
	}
	b.do(company.Cancel{Task: "t1"}) // decided as ever
}

// The limit on tasks says what is started. An older task that wakes from a
// wait does not break off what a newer one has under way.
func TestOlderTaskDoesNotBreakOffANewerOne(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *Config) { c.Active = 1 })
	var mu sync.Mutex
	failed := false
	cut := make(chan error, 2)
	work, do := record(func(ctx context.Context, e company.Effect) (company.Command, error) {
		mu.Lock()
		first := e.Task == "t1" && !failed
		failed = failed || first
		mu.Unlock()
		if first {
			return nil, errTrouble // t1 waits for a second
		}
		<-ctx.Done()
		cut <- context.Cause(ctx)
		return nil, nil
	})
	b.orch.Register(company.DoPrepare, do)
	b.run()
	b.submit(1)
	b.happened("effect.failed")
	b.submit(2)
	for _, want := range []company.TaskID{"t1", "t2", "t1"} {
		if e := work.next(t); e.Task != want {
			t.Fatalf("%s was started, want %s", e.Task, want)
		}
	}
	select {
	case err := <-cut:
		t.Fatalf("it was broken off: %v", err)
	default: // t1's start and its cutting off would be one step of the loop
	}
	b.do(company.Cancel{Task: "t2"})
	select {
	case err := <-cut:
		if !errors.Is(err, ErrNotDue) {
			t.Fatalf("cut off by %v", err)
		}
	case <-time.After(patience):
		t.Fatal("what is cancelled goes on")
	}
}
