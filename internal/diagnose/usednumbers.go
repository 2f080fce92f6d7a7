package diagnose

import (
	"context"
	"errors"
	"fmt"
	"time"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/config"
	"company/internal/gitops"
	"company/internal/office"
)

// usedNumbersTimeout bounds the question which task numbers the remote has.
const usedNumbersTimeout = 3 * time.Second

// UsedNumbers is the question which task numbers of an office are in use at a remote, and so whether the
// remote opens at all. Choose ends it.
type UsedNumbers struct {
	cancel context.CancelFunc
	done   chan struct{}
	last   int
	err    error
	held   bool // another process works, with logins of its own
}

// askUsedNumbers begins to ask the remote of the checkout repo, and does not wait for the answer. A
// ledger that was put back from a copy does not know the tasks that came after the copy; their branches
// at the remote do.
func (d *Checker) askUsedNumbers(ctx context.Context, p office.Paths, c config.Config, repo string) *UsedNumbers {
	ctx, cancel := context.WithTimeout(ctx, usedNumbersTimeout)
	u := &UsedNumbers{cancel: cancel, done: make(chan struct{}), held: office.IsHeldElsewhere(p)}
	go func() {
		defer close(u.done)
		u.last, u.err = d.lastUsedNumber(ctx, p, c, repo)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			u.err = fmt.Errorf("it did not answer within %s", usedNumbersTimeout)
		}
	}()
	return u
}

func (d *Checker) lastUsedNumber(ctx context.Context, p office.Paths, c config.Config, repo string) (int, error) {
	cfg, err := officeapp.GitConfig(p, c, d.Env)
	if err != nil {
		return 0, err
	}
	return gitops.LastTaskNumber(ctx, cfg, repo, office.StoredID(p))
}

// Choose waits for the answer, and has the task of a submission get a higher number than the remote has.
// A remote that will not open later either is an error before anything is paid: the work could not be
// delivered. One that does not answer in time keeps nothing from being submitted, and a plan alone needs
// none: note says so. A nil UsedNumbers chooses nothing.
func (u *UsedNumbers) Choose(ctx context.Context, c *company.Submit, note func(format string, args ...any)) error {
	if u == nil {
		return nil
	}
	<-u.done
	u.cancel()
	c.NumberAfter = u.last
	if u.err == nil || ctx.Err() != nil {
		return nil
	}
	if company.NeedsPerson(u.err) && !c.DryRun && !u.held {
		return u.err
	}
	note("cannot see which task numbers the remote has: %s; work goes on, its branch is pushed at the end", ErrorResult(u.err).Found)
	return nil
}

// stop ends the question without an answer.
func (u *UsedNumbers) stop() {
	u.cancel()
	<-u.done
}
