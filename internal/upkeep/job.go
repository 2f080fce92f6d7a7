package upkeep

import (
	"context"
	"log/slog"
	"time"

	"company/internal/company"
	"company/internal/lib/retry"
	"company/internal/lib/safetext"
	"company/internal/present/feed"
)

// Job is work that a serving company repeats, such as asking the forge about pull requests or archiving old tasks. It
// is not recorded in the ledger, and the next round makes up for a missed one.
type Job struct {
	Name     string
	Interval time.Duration // from the end of a round to the start of the next
	Limit    time.Duration // timeout of a round
	// Trigger starts a round early. It may be nil.
	Trigger <-chan struct{}
	// Run does one round. It is not called while the office is stopped, and never concurrently.
	Run func(context.Context) error
}

// maxBackoff limits the factor by which the interval grows after failures.
const maxBackoff = 16

// RunLoop runs the rounds until ctx ends. It reports a failure once until the error changes, and retries with growing
// intervals.
func (r Job) RunLoop(ctx context.Context, stopped func() bool, tell func(feed.Item)) {
	failures, told := 0, ""
	for {
		wait := retry.Doubling(r.Interval, maxBackoff*r.Interval)(failures)
		// Offices that started together should not all ask a forge at once.
		wait += retry.Jitter(wait / 10)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		case <-r.Trigger:
			// Events at a forge come in bursts.
			if retry.Sleep(ctx, time.Second) != nil {
				return
			}
		}
		if stopped() {
			continue
		}
		rctx, cancel := context.WithTimeout(ctx, r.Limit)
		err := company.Guard(r.Name, func() error { return r.Run(rctx) })
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			failures++
			if text := safetext.EscapeLine(err.Error(), 300); text != told {
				told = text
				tell(feed.Item{Kind: r.Name, Mark: feed.Failed, Text: text})
			}
		default:
			if told != "" {
				tell(feed.Item{Kind: r.Name, Mark: feed.Done, Text: "works again"})
			}
			failures, told = 0, ""
		}
	}
}

// RunNow runs one round with the job's timeout, and logs a failure.
func (r Job) RunNow(ctx context.Context, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, r.Limit)
	defer cancel()
	if err := company.Guard(r.Name, func() error { return r.Run(ctx) }); err != nil && ctx.Err() == nil {
		log.WarnContext(ctx, "not put away", "what", r.Name, "err", err)
	}
}
