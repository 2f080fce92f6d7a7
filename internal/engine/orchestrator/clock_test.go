package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/ledger"
	"company/internal/lib/clock"
	"company/internal/lib/clock/clocktest"
)

const day = 24 * time.Hour

// heldRun is a run in a manager's hands.
type heldRun struct {
	id      company.RunID
	journal *ledger.Journal
}

// clocked is an office on a machine whose wall clock the test sets. The manager
// of each task claims its run, is granted money, and holds it; the first intake
// of each task fails, so that its retry waits.
type clocked struct {
	*bundle
	machine *clocktest.Machine
	begun   time.Time
	held    chan heldRun  // a manager has begun to wait
	failing chan struct{} // each intake takes one and fails; empty: it succeeds
}

func setupClocked(t *testing.T) *clocked {
	begun := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	c := &clocked{machine: clocktest.Running(begun), begun: begun, held: make(chan heldRun, 100),
		failing: make(chan struct{}, 100)}
	c.bundle = setup(t, func(cfg *Config) { cfg.Clock = clock.New(c.machine.Sources()) })
	c.register(company.EffectPrepare, func(ctx context.Context, e company.Effect) (company.Command, error) {
		select {
		case <-c.failing:
			return nil, errTrouble
		default:
			return prepares(ctx, e)
		}
	})
	c.register(company.EffectManage, c.manage)
	return c
}

func (c *clocked) manage(ctx context.Context, e company.Effect) (company.Command, error) {
	evs, err := c.orch.Do(ctx, "manager", company.Claim{Run: e.Run, Epoch: c.orch.View().Office.Epoch, Worker: "manager"})
	if err != nil {
		return nil, err
	}
	some := company.Amount{MicroUSD: 1000, Tokens: 1000}
	if _, err := c.orch.Do(ctx, "manager",
		company.Reserve{Run: e.Run, Fence: company.ClaimedFence(evs), One: some, Many: some}); err != nil {
		return nil, err
	}
	journal, err := c.ledger.OpenJournal(ctx, e.Run, company.ClaimedFence(evs))
	if err != nil {
		return nil, err
	}
	c.held <- heldRun{e.Run, journal}
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// restart ends the loop and opens the office again, as another process does,
// after something has happened meanwhile.
func (c *clocked) restart(meanwhile func()) {
	c.t.Helper()
	if err := c.halt(); err != nil {
		c.t.Fatal(err)
	}
	c.close()
	meanwhile()
	c.cfg.Clock = clock.New(c.machine.Sources())
	c.open()
	c.run()
}

// holds waits until managers hold these runs, in any order, and gives the journal
// of the last of them.
func (c *clocked) holds(runs ...company.RunID) (journal *ledger.Journal) {
	c.t.Helper()
	for len(runs) > 0 {
		select {
		case got := <-c.held:
			at := slices.Index(runs, got.id)
			if at < 0 {
				c.t.Fatalf("%s is held, want %v", got.id, runs)
			}
			runs, journal = slices.Delete(runs, at, at+1), got.journal
		case <-time.After(patience):
			c.t.Fatalf("%v are not begun", runs)
		}
	}
	return journal
}

// unharmed checks that so many runs are held, with what they were granted and
// nothing booked, and that the events' times go on without a leap.
func (c *clocked) unharmed(held int, leap time.Duration) {
	c.t.Helper()
	s := c.orch.View()
	for _, id := range s.Open {
		task := s.Tasks[id]
		for _, r := range task.Runs {
			if r.Held && r.Reserved.Tokens >= 1000 && r.Spent == (company.Amount{}) && !r.Ended {
				held--
			}
		}
		if task.Spent != (company.Amount{}) {
			c.t.Errorf("%s has spent %v", id, task.Spent)
		}
	}
	if n := c.count("run.ended"); held != 0 || n > 0 {
		c.t.Errorf("%d held runs are missing, %d have ended", held, n)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	last := c.begun
	for _, e := range c.events {
		if e.Time.Before(last) || e.Time.Sub(last) > leap+patience {
			c.t.Errorf("%s at %s follows %s", e.Kind, e.Time, last)
		}
		last = e.Time
	}
}

// TestStepsOfTheWallClock: the wall clock is set by a day, forward and back,
// while runs are held and a retry waits. No run ends, the retry comes, nothing
// is booked.
func TestStepsOfTheWallClock(t *testing.T) {
	t.Parallel()
	c := setupClocked(t)
	c.run()
	for n, by := range []time.Duration{0, day, -2 * day, day} {
		c.failing <- struct{}{}
		failed := c.count("effect.failed")
		c.submit(n + 1) // which also has the loop look at the clock
		c.until("a failure", func() bool { return c.count("effect.failed") > failed })
		c.machine.Step(by) // the retry is due a second later
		c.holds(company.NewRunID(company.NewTaskID(n+1), "", company.Manager, 1))
	}
	c.unharmed(4, 0)
	if err := c.halt(); err != nil {
		t.Error(err)
	}
}

// TestStepsBetweenTwoStarts: the wall clock is set by a day while the office is
// closed. What was held goes on under its own id, the retry that waited comes,
// nothing is booked, and no event is older than the one before it.
func TestStepsBetweenTwoStarts(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{day, -day} {
		t.Run(fmt.Sprint(by), func(t *testing.T) {
			t.Parallel()
			c := setupClocked(t)
			c.run()
			c.submit(1)
			journal := c.holds("t1-plan.1")
			c.failing <- struct{}{}
			c.submit(2)
			c.happened("effect.failed")
			c.machine.Pass(patience / 2) // without an event
			if _, err := journal.Append(c.ctx, "note", nil); err != nil {
				t.Fatal(err)
			}
			recorded, err := c.ledger.LastRecorded(c.ctx, "t1-plan.1")
			if err != nil || recorded.Before(c.happened("effect.failed").Time) {
				t.Fatalf("recorded at %s, %v", recorded, err)
			}
			c.restart(func() { c.machine.Step(by) })
			if now := c.orch.Now(); now.Before(recorded) {
				t.Errorf("the office goes on at %s, before its newest record of %s", now, recorded)
			}
			c.holds("t1-plan.1", "t2-plan.1")
			c.unharmed(2, max(0, by))
			claimed := c.orch.View().Tasks["t1"].Runs["t1-plan.1"]
			if left := claimed.Deadline.Sub(c.orch.Now()); left <= 0 || claimed.Lasted(c.orch.Now()) > patience {
				t.Errorf("claimed at %s, until %s, and it is %s", claimed.Claimed, claimed.Deadline, c.orch.Now())
			}
			if err := c.halt(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestInterruptionIsIdle: the time from the newest record of the company before to the
// start of the next one is idle, and not work; a president's command in between, which
// needs no company, is no work either.
func TestInterruptionIsIdle(t *testing.T) {
	t.Parallel()
	c := setupClocked(t)
	c.run()
	c.submit(1)
	journal := c.holds("t1-plan.1")
	c.machine.Pass(10 * time.Minute) // without an event: the manager works
	if _, err := journal.Append(c.ctx, "note", nil); err != nil {
		t.Fatal(err)
	}
	c.restart(func() {
		c.machine.Pass(time.Hour)
		c.open()
		c.submit(2)
		c.close()
		c.machine.Pass(time.Hour)
	})
	c.holds("t1-plan.1", "t2-plan.1")
	for id, want := range map[company.TaskID]time.Duration{"t1": 2 * time.Hour, "t2": time.Hour} {
		if got := c.orch.View().Tasks[id].Idle; got < want || got > want+patience {
			t.Errorf("of %s %s are idle, want %s", id, got, want)
		}
	}
	if err := c.halt(); err != nil {
		t.Error(err)
	}
}
