package orchestrator

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"company/internal/company"
)

// ignoreEnd carries out an effect that does not listen to its context.
func ignoreEnd(free <-chan struct{}) company.OutcomeFinder {
	return func(ctx context.Context, _ company.Effect) (company.Command, error) {
		<-free
		return nil, context.Cause(ctx)
	}
}

// An effect that ignores the end of its context is told with its stack, once, and once more
// when it is back.
func TestEffectThatIgnoresItsEndIsTold(t *testing.T) {
	t.Parallel()
	told := make(chan LateEffect, 10)
	b := setup(t, func(c *Config) {
		c.LatePatience = time.Millisecond
		c.OnLate = func(l LateEffect) { told <- l }
	})
	next := func() LateEffect {
		t.Helper()
		select {
		case l := <-told:
			return l
		case <-time.After(patience):
			t.Fatal("nobody is told")
			return LateEffect{}
		}
	}
	free := make(chan struct{})
	intake, prepare := record(ignoreEnd(free))
	b.register(company.EffectPrepare, prepare)
	b.run()
	b.submit(1)
	e := intake.next(t)
	if late := b.orch.Unended(); len(late) > 0 {
		t.Errorf("under way, and late: %+v", late)
	}
	b.do(company.Cancel{Task: e.Task, Why: "enough"})
	late := next()
	if late.Effect.Key != e.Key || late.Ended || late.Since.IsZero() || !errors.Is(late.Cause, ErrNotDue) {
		t.Errorf("%+v", late)
	}
	if !strings.Contains(late.Stacks, "ignoreEnd") || strings.Contains(late.Stacks, "(*Orchestrator).Run+") {
		t.Errorf("the stacks are not the effect's: %s", late.Stacks)
	}
	if got := b.orch.Unended(); len(got) != 1 || got[0].Effect.Key != e.Key {
		t.Errorf("%+v", got)
	}
	close(free)
	if late := next(); late.Effect.Key != e.Key || !late.Ended || late.Stacks != "" {
		t.Errorf("%+v", late)
	}
	if err := b.halt(); err != nil {
		t.Fatal(err)
	}
	if len(told) > 0 || len(b.orch.Unended()) > 0 {
		t.Errorf("told %d times more, %+v", len(told), b.orch.Unended())
	}
}

// An effect that ends with its context is not told.
func TestEffectThatEndsIsNotTold(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *Config) {
		c.LatePatience = time.Hour
		c.OnLate = func(l LateEffect) { t.Errorf("told of %+v", l) }
	})
	intake, prepare := record(waits)
	b.register(company.EffectPrepare, prepare)
	b.run()
	b.submit(1)
	intake.next(t)
	if err := b.halt(); err != nil {
		t.Fatal(err)
	}
	if late := b.orch.Unended(); len(late) > 0 {
		t.Errorf("%+v", late)
	}
}
