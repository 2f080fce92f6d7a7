package orchestrator

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"company/internal/company"
	"company/internal/lib/hosttest"
)

// A task that waits for its turn is told once, and once more when that has come. A failed step is told with the number
// of the next attempt.
func TestWhatBeginsToWaitIsTold(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var told []string
	b := setup(t, func(c *Config) {
		c.Active = 1
		c.OnHold = func(id company.TaskID, hold *company.Hold) {
			mu.Lock()
			defer mu.Unlock()
			if hold == nil {
				told = append(told, fmt.Sprintf("%s begins", id))
				return
			}
			told = append(told, fmt.Sprintf("%s %s %d %v", id, hold.Kind, hold.Attempt, hold.Tasks))
		}
	})
	fails := make(chan bool)
	intake, prepare := record(func(ctx context.Context, e company.Effect) (company.Command, error) {
		fail := fails
		if e.Task == "t1" {
			fail = nil // only t2 fails
		}
		select {
		case <-ctx.Done():
		case <-fail:
			return nil, errTrouble
		}
		return nil, context.Cause(ctx)
	})
	b.register(company.EffectPrepare, prepare)
	b.run()
	b.submit(1)
	intake.next(t)
	expect := func(want ...string) {
		t.Helper()
		hosttest.Eventually(t, "what is told", func() (any, bool) {
			mu.Lock()
			defer mu.Unlock()
			got := fmt.Sprint(told)
			return got, got == fmt.Sprint(want)
		})
	}
	b.submit(2)
	expect("t2 slot 0 [t1]")
	b.do(company.RaiseBudget{Task: "t2", By: company.Amount{Tokens: 5}}) // a change of t2 tells nothing new
	b.do(company.Cancel{Task: "t1"})
	if e := intake.next(t); e.Task != "t2" {
		t.Errorf("started %s", e.Task)
	}
	expect("t2 slot 0 [t1]", "t2 begins")
	fails <- true
	expect("t2 slot 0 [t1]", "t2 begins", "t2 retry 2 []")
}
