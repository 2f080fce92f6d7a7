package upkeep

import (
	"context"
	"log/slog"
	"time"

	"company/internal/company"
	"company/internal/feed"
	"company/internal/retry"
	"company/internal/safetext"
)

// Job is work that is done again and again while a company serves its office: to
// ask the forge what became of the pull requests, to put old tasks away. It
// is no effect: nothing of it is due by the ledger, and a round that is missed
// is made up for by the next.
type Job struct {
	Name     string
	Interval time.Duration // from the end of one to the beginning of the next
	Limit    time.Duration // of one
	// Trigger calls for a round before its time; nil: none is called for.
	Trigger <-chan struct{}
	// Run does one round. It is not called while the office is stopped, nor
	// beside itself.
	Run func(context.Context) error
}

// maxBackoff bounds how much rarer a round that fails becomes.
const maxBackoff = 16

// RunLoop makes the rounds until ctx ends. A failure is reported once until it
// changes, and tried less and less often.
func (r Job) RunLoop(ctx context.Context, stopped func() bool, tell func(feed.Item)) {
	failures, told := 0, ""
	for {
		wait := retry.Doubling(r.Interval, maxBackoff*r.Interval)(failures)
		// Offices that began together need not all ask a forge at once.
		wait += retry.Jitter(wait / 10)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		case <-r.Trigger:
			// What happens at a forge happens in bursts.
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

// RunNow makes a round beside everything else, and does not wait for its end.
func (r Job) RunNow(ctx context.Context, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, r.Limit)
	defer cancel()
	if err := company.Guard(r.Name, func() error { return r.Run(ctx) }); err != nil && ctx.Err() == nil {
		log.WarnContext(ctx, "not put away", "what", r.Name, "err", err)
	}
}
