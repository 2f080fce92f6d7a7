package app

import (
	"context"

	"company/internal/company"
	"company/internal/config"
	"company/internal/delivery"
	"company/internal/forge"
	"company/internal/gitops"
	"company/internal/office"
)

// pullsDir is the folder of the pages of pull requests, in the state folder.
const PullsDir = "pulls"

// branchLocator tells where the branch of a pull request is: at the project's
// remote, or at the fork that it was pushed to.
func branchLocator(office string, forges *forge.Selector) func(context.Context, *company.Task, string) (string, error) {
	return func(ctx context.Context, lead *company.Task, remote string) (string, error) {
		ref := forge.Ref{Office: office, Task: lead.ID}
		if lead.PR != nil {
			ref.Number, ref.URL, ref.Branch = lead.PR.Number, lead.PR.URL, lead.PR.Branch
		}
		f, err := forges.ForPullRequest(ctx, ref, remote)
		if err != nil {
			return "", err
		}
		target, err := f.Target(ctx)
		if err != nil || target.URL == "" {
			return remote, err
		}
		return target.URL, nil
	}
}

// syncResult is what came of asking about one pull request.
type SyncResult struct {
	Number   int             `json:"number"`
	Task     company.TaskID  `json:"task"`
	State    company.PRState `json:"state"`
	Remarks  int             `json:"remarks"` // that ask for work, acted on before or now
	Left     int             `json:"left"`    // that were left alone
	FollowUp company.TaskID  `json:"follow_up,omitempty"`
	// BranchChange is there where the branch is not as it was delivered.
	BranchChange *company.BranchChange `json:"branch_change,omitempty"`
	Error        string                `json:"error,omitempty"`
	Err          error                 `json:"-"`
}

// pollPR asks about one pull request and has what was heard decided.
func PollPR(ctx context.Context, l *delivery.FeedbackPoller, p company.Pull, set company.Settings, do func(company.RecordPRFeedback) (company.TaskID, error)) SyncResult {
	h := SyncResult{Number: p.Number, Task: p.Lead.ID, State: p.State}
	fail := func(err error) SyncResult {
		h.Err, h.Error = err, err.Error()
		return h
	}
	c, left, err := l.Poll(ctx, p)
	if err != nil {
		return fail(err)
	}
	c.Settings = set
	h.Left, h.Remarks = left, len(c.Remarks)
	told := c.Branch == nil || p.Knows(*c.Branch)
	if c.State == company.PROpen && c.Branch != nil && c.Branch.Kind != company.BranchAsDelivered {
		h.BranchChange = c.Branch
	}
	if c.State == company.PROpen && len(c.Remarks) == 0 && told {
		return h
	}
	if h.FollowUp, err = do(c); err != nil {
		return fail(err)
	}
	h.State = c.State
	return h
}

// NewFeedbackPoller polls with the config of an office; the office need not be
// open.
func NewFeedbackPoller(id string, p office.Paths, loaded config.Loaded, forges *forge.Selector) *delivery.FeedbackPoller {
	return &delivery.FeedbackPoller{
		Office:  id,
		Mirrors: gitops.ReadOnlyMirrors{Root: p.Git, Remote: loaded.Config.Git.Remote},
		Forges:  forges,
	}
}
