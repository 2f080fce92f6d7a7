package upkeep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/delivery"
	"company/internal/lib/safetext"
	"company/internal/present/view"
)

// FeedbackRounds regularly asks forges about the open pull requests.
type FeedbackRounds struct {
	Interval time.Duration
	Trigger  <-chan struct{} // starts a round early
	Poller   *delivery.FeedbackPoller
	Office   FeedbackOffice
	Logger   *slog.Logger
}

// FeedbackOffice is the office, as the rounds use it.
type FeedbackOffice interface {
	// SettingsFor returns the settings in the config for a checkout.
	SettingsFor(ctx context.Context, checkout string) (company.Settings, error)
	// RecordFeedback records feedback, and returns the task that follows it up.
	RecordFeedback(ctx context.Context, c company.RecordPRFeedback) (company.TaskID, error)
}

// pullsPerRound limits the cost of a round: each pull request takes a few requests and a fetch. The next round
// continues with the others.
const pullsPerRound = 5

// Job returns the job that asks about the given pull requests, except merged ones.
func (r FeedbackRounds) Job(pulls func() []company.Pull) Job {
	next := 0 // index among those that are asked about
	return Job{Name: "forge", Interval: r.Interval, Trigger: r.Trigger, Limit: 2 * time.Minute,
		Run: func(ctx context.Context) error {
			open := slices.DeleteFunc(pulls(), func(p company.Pull) bool { return p.State == company.PRMerged })
			var failed []error
			for range min(pullsPerRound, len(open)) {
				pull := open[next%len(open)]
				next++
				settings, err := r.Office.SettingsFor(ctx, pull.Lead.Project.Path)
				if err != nil {
					failed = append(failed, fmt.Errorf("pull request #%d: %w", pull.Number, err))
					continue
				}
				got := PollPR(ctx, r.Poller, pull, settings,
					func(c company.RecordPRFeedback) (company.TaskID, error) { return r.Office.RecordFeedback(ctx, c) })
				switch {
				case ctx.Err() != nil:
					return context.Cause(ctx)
				case company.CodeOf(got.Err) == company.EConflict:
					r.Logger.InfoContext(ctx, "not followed up", "pull_request", pull.Number, "err", got.Err)
				case got.Err != nil:
					failed = append(failed, fmt.Errorf("pull request #%d: %w", pull.Number, got.Err))
				}
			}
			return errors.Join(failed...)
		}}
}

// PollPR asks about one pull request, open or closed, and records the answer.
func PollPR(
	ctx context.Context, poller *delivery.FeedbackPoller, pull company.Pull, set company.Settings,
	do func(company.RecordPRFeedback) (company.TaskID, error),
) view.PullSync {
	pullSync := view.PullSync{Number: pull.Number, Task: pull.Lead.ID, State: pull.State}
	fail := func(err error) view.PullSync {
		pullSync.Err, pullSync.Error = err, err.Error()
		return pullSync
	}
	prFeedback, left, err := poller.Poll(ctx, pull)
	if err != nil {
		return fail(err)
	}
	prFeedback.Settings = set
	pullSync.Left, pullSync.Items = left, len(prFeedback.Items)
	told := prFeedback.Branch == nil || pull.Knows(*prFeedback.Branch)
	if pull.State == company.PROpen && prFeedback.State == company.PROpen && prFeedback.Branch != nil &&
		prFeedback.Branch.Kind != company.BranchAsDelivered {
		pullSync.BranchChange = prFeedback.Branch
	}
	if prFeedback.State == company.PROpen && len(prFeedback.Items) == 0 && told && !prFeedback.Reopened {
		return pullSync
	}
	if pullSync.FollowUp, err = do(prFeedback); err != nil {
		return fail(err)
	}
	if prFeedback.Reopened { // comments on it count from now on
		pull.State = company.PROpen
		return PollPR(ctx, poller, pull, set, do)
	}
	if pull.State == company.PROpen || prFeedback.State == company.PRMerged {
		pullSync.State = prFeedback.State
	}
	return pullSync
}

// RenderSync renders the results of asking about pull requests. failed is the last error, if any.
func RenderSync(all []view.PullSync) (text string, failed error) {
	var b strings.Builder
	work := false
	for _, pullSync := range all {
		switch {
		case pullSync.Err != nil:
			failed = pullSync.Err
			fmt.Fprintf(&b, "#%d  could not be heard: %s\n", pullSync.Number, safetext.EscapeLine(pullSync.Error, 200))
		case pullSync.State != company.PROpen:
			fmt.Fprintf(&b, "#%d  %s\n", pullSync.Number, pullSync.State)
		case pullSync.FollowUp != "":
			work = true
			fmt.Fprintf(&b, "#%d  %s follows it up\n", pullSync.Number, pullSync.FollowUp)
		case pullSync.BranchChange == nil:
			fmt.Fprintf(&b, "#%d  open, nothing new\n", pullSync.Number)
		}
		if pullSync.BranchChange != nil {
			fmt.Fprintf(&b, "#%d  open, the branch %s\n", pullSync.Number, view.BranchText(pullSync.BranchChange))
		}
	}
	switch {
	case len(all) == 0:
		fmt.Fprintln(&b, "no open pull requests")
	case work:
		fmt.Fprintln(&b, "NEXT  company resume works on it, unless a company is at work already")
	}
	return b.String(), failed
}
