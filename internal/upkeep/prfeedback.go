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
	"company/internal/safetext"
	"company/internal/view"
)

// FeedbackRounds ask forges, again and again, what became of the open pull
// requests.
type FeedbackRounds struct {
	Interval time.Duration
	Trigger  <-chan struct{} // calls for a round before its time
	Poller   *delivery.FeedbackPoller
	Office   FeedbackOffice
	Logger   *slog.Logger
}

// FeedbackOffice is what rounds of asking need of their office.
type FeedbackOffice interface {
	// SettingsFor are those of the config for a checkout.
	SettingsFor(ctx context.Context, checkout string) (company.Settings, error)
	// RecordFeedback has feedback decided, and gives the task that follows
	// it up.
	RecordFeedback(ctx context.Context, c company.RecordPRFeedback) (company.TaskID, error)
}

// pullsPerRound bounds what one round of asking costs: each pull request is a
// few requests and a fetch. The others come next.
const pullsPerRound = 5

// Job is the round that hears what became of these, but for those that are merged.
func (r FeedbackRounds) Job(pulls func() []company.Pull) Job {
	next := 0 // among those that are asked about
	return Job{Name: "forge", Interval: r.Interval, Trigger: r.Trigger, Limit: 2 * time.Minute, Run: func(ctx context.Context) error {
		open := slices.DeleteFunc(pulls(), func(p company.Pull) bool { return p.State == company.PRMerged })
		var failed []error
		for range min(pullsPerRound, len(open)) {
			p := open[next%len(open)]
			next++
			settings, err := r.Office.SettingsFor(ctx, p.Lead.Project.Path)
			if err != nil {
				failed = append(failed, fmt.Errorf("pull request #%d: %w", p.Number, err))
				continue
			}
			got := PollPR(ctx, r.Poller, p, settings, func(c company.RecordPRFeedback) (company.TaskID, error) { return r.Office.RecordFeedback(ctx, c) })
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case company.CodeOf(got.Err) == company.EConflict:
				r.Logger.InfoContext(ctx, "not followed up", "pull_request", p.Number, "err", got.Err)
			case got.Err != nil:
				failed = append(failed, fmt.Errorf("pull request #%d: %w", p.Number, got.Err))
			}
		}
		return errors.Join(failed...)
	}}
}

// PollPR asks about one pull request, open or closed, and has the answer decided.
func PollPR(ctx context.Context, l *delivery.FeedbackPoller, p company.Pull, set company.Settings, do func(company.RecordPRFeedback) (company.TaskID, error)) view.PullSync {
	h := view.PullSync{Number: p.Number, Task: p.Lead.ID, State: p.State}
	fail := func(err error) view.PullSync {
		h.Err, h.Error = err, err.Error()
		return h
	}
	c, left, err := l.Poll(ctx, p)
	if err != nil {
		return fail(err)
	}
	c.Settings = set
	h.Left, h.Items = left, len(c.Items)
	told := c.Branch == nil || p.Knows(*c.Branch)
	if p.State == company.PROpen && c.State == company.PROpen && c.Branch != nil && c.Branch.Kind != company.BranchAsDelivered {
		h.BranchChange = c.Branch
	}
	if c.State == company.PROpen && len(c.Items) == 0 && told && !c.Reopened {
		return h
	}
	if h.FollowUp, err = do(c); err != nil {
		return fail(err)
	}
	if c.Reopened { // remarks on it count from now on
		p.State = company.PROpen
		return PollPR(ctx, l, p, set, do)
	}
	if p.State == company.PROpen || c.State == company.PRMerged {
		h.State = c.State
	}
	return h
}

// RenderSync is what came of asking about pull requests, for people, and the last error
// of one that could not be heard.
func RenderSync(all []view.PullSync) (text string, failed error) {
	var b strings.Builder
	work := false
	for _, h := range all {
		switch {
		case h.Err != nil:
			failed = h.Err
			fmt.Fprintf(&b, "#%d  could not be heard: %s\n", h.Number, safetext.EscapeLine(h.Error, 200))
		case h.State != company.PROpen:
			fmt.Fprintf(&b, "#%d  %s\n", h.Number, h.State)
		case h.FollowUp != "":
			work = true
			fmt.Fprintf(&b, "#%d  %s follows it up\n", h.Number, h.FollowUp)
		case h.BranchChange == nil:
			fmt.Fprintf(&b, "#%d  open, nothing new\n", h.Number)
		}
		if h.BranchChange != nil {
			fmt.Fprintf(&b, "#%d  open, the branch %s\n", h.Number, view.BranchText(h.BranchChange))
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
