package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"company/internal/api"
	"company/internal/company"
	"company/internal/delivery"
	"company/internal/feed"
	"company/internal/retry"
	"company/internal/safetext"
)

// periodicJob is what is done again and again while a company serves its office: to
// ask the forge what became of the pull requests, to put old things away. It
// is no effect: nothing of it is due by the ledger, and a round that is missed
// is made up for by the next.
type periodicJob struct {
	name     string
	interval time.Duration // from the end of one to the beginning of the next
	limit    time.Duration // of one
	// trigger calls for a round before its time; nil: nobody does.
	trigger <-chan struct{}
	// run does one round. It is not called while the office is stopped, nor
	// beside itself.
	run func(context.Context) error
}

// pullsPerRound bounds what one round of asking costs: each pull request is a
// few requests and a fetch. The others come next.
const pullsPerRound = 5

// pollForgeJob is the round that hears what became of the open pull requests.
func (h *App) pollForgeJob(every time.Duration, soon <-chan struct{}, l *delivery.FeedbackPoller) periodicJob {
	next := 0 // among the open ones
	return periodicJob{name: "forge", interval: every, trigger: soon, limit: 2 * time.Minute, run: func(ctx context.Context) error {
		open := slices.DeleteFunc(h.View().Pulls(), func(p company.Pull) bool { return p.State != company.PROpen })
		var failed []error
		for range min(pullsPerRound, len(open)) {
			p := open[next%len(open)]
			next++
			loaded, err := h.configs.ConfigFor(ctx, p.Lead.Project.Path)
			if err != nil {
				failed = append(failed, fmt.Errorf("pull request #%d: %w", p.Number, err))
				continue
			}
			got := PollPR(ctx, l, p, CompanySettings(loaded.Config), func(c company.RecordPRFeedback) (company.TaskID, error) {
				id := api.NewCommandID()
				_, err := h.DoID(ctx, id, company.Company, c)
				return h.View().SubmittedBy(company.Company, id), err
			})
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case company.CodeOf(got.Err) == company.EConflict:
				h.log.InfoContext(ctx, "not followed up", "pull_request", p.Number, "err", got.Err)
			case got.Err != nil:
				failed = append(failed, fmt.Errorf("pull request #%d: %w", p.Number, got.Err))
			}
		}
		return errors.Join(failed...)
	}}
}

// maxBackoff bounds how much rarer a round that fails becomes.
const maxBackoff = 16

// runLoop makes the rounds until ctx ends. What fails is told once until it
// changes, and tried less and less often.
func (r periodicJob) runLoop(ctx context.Context, stopped func() bool, tell func(feed.Item)) {
	failures, told := 0, ""
	for {
		wait := retry.Doubling(r.interval, maxBackoff*r.interval)(failures)
		// Offices that began together need not all ask a forge at once.
		wait += retry.Jitter(wait / 10)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		case <-r.trigger:
			// What happens at a forge happens in bursts.
			if retry.Sleep(ctx, time.Second) != nil {
				return
			}
		}
		if stopped() {
			continue
		}
		rctx, cancel := context.WithTimeout(ctx, r.limit)
		err := company.Guard(r.name, func() error { return r.run(rctx) })
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			failures++
			if text := safetext.EscapeLine(err.Error(), 300); text != told {
				told = text
				tell(feed.Item{Kind: r.name, Mark: feed.Failed, Text: text})
			}
		default:
			if told != "" {
				tell(feed.Item{Kind: r.name, Mark: feed.Done, Text: "works again"})
			}
			failures, told = 0, ""
		}
	}
}
