package diagnose

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"company/internal/api/client"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/office"
	"company/internal/office/config"
)

// usedNumbersTimeout limits the query for the remote's task numbers.
const usedNumbersTimeout = 3 * time.Second

// UsedNumbers is a running query for the task numbers of an office in use at a remote. It also
// shows whether the remote is accessible. Choose ends the query.
type UsedNumbers struct {
	cancel context.CancelFunc
	done   chan struct{}
	last   int
	err    error
	held   bool // another process works with its own logins
}

// askUsedNumbers starts the query for the checkout repo and returns at once. A ledger restored
// from a backup lacks the tasks created after the backup, but the remote has their branches.
func (d *Checker) askUsedNumbers(ctx context.Context, paths office.Paths, cfg config.Config, repo string) *UsedNumbers {
	ctx, cancel := context.WithTimeout(ctx, usedNumbersTimeout)
	worker := client.FindWorking(ctx, paths)
	usedNumbers := &UsedNumbers{cancel: cancel, done: make(chan struct{}), held: worker != 0 && worker != os.Getpid()}
	go func() {
		defer close(usedNumbers.done)
		usedNumbers.last, usedNumbers.err = d.lastUsedNumber(ctx, paths, cfg, repo)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			usedNumbers.err = fmt.Errorf("it did not answer within %s", usedNumbersTimeout)
		}
	}()
	return usedNumbers
}

func (d *Checker) lastUsedNumber(ctx context.Context, paths office.Paths, c config.Config, repo string) (int, error) {
	cfg, err := officeapp.GitConfig(paths, c, d.Env)
	if err != nil {
		return 0, err
	}
	return gitops.LastTaskNumber(ctx, cfg, repo, office.StoredID(paths))
}

// Choose waits for the answer, and sets a minimum for the submission's task number above the
// remote's numbers. If a person must fix the remote, it returns the error, because the work could
// not be delivered. Dry runs and other errors only call note, and the submission continues. A nil
// UsedNumbers does nothing.
func (u *UsedNumbers) Choose(ctx context.Context, submit *company.Submit, note func(format string, args ...any)) error {
	if u == nil {
		return nil
	}
	<-u.done
	u.cancel()
	submit.NumberAfter = u.last
	if u.err == nil || ctx.Err() != nil {
		return nil
	}
	if company.NeedsPerson(u.err) && !submit.DryRun && !u.held {
		return u.err
	}
	note("cannot read the remote's task numbers: %s; work continues and is pushed at the end",
		ErrorResult(u.err).Found)
	return nil
}

// stop cancels the query.
func (u *UsedNumbers) stop() {
	u.cancel()
	<-u.done
}
