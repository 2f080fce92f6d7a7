package app

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"

	"company/internal/api"
	"company/internal/company"
	"company/internal/delivery"
	"company/internal/forge"
	"company/internal/gitops"
	"company/internal/gitops/gitlogin"
	"company/internal/office"
	"company/internal/office/config"
	"company/internal/present/view"
	"company/internal/upkeep"
)

// PullsDir is the folder for the pages of pull requests, in the state folder.
const PullsDir = "pulls"

// branchLocator finds the branch of a pull request: at the project's remote, or at the fork that
// it was pushed to.
type branchLocator struct {
	office string
	forges *forge.Selector
}

func (l branchLocator) BranchURL(
	ctx context.Context, mirror *gitops.Mirror, lead *company.Task, remote string,
) (string, error) {
	ref := forge.Ref{Office: l.office, Task: lead.ID, Branch: lead.IntegrationBranch()}
	if lead.PR != nil {
		ref.Number = lead.PR.Number
		ref.URL = lead.PR.URL
		ref.Branch = lead.PR.Branch
	}
	ref, _, err := delivery.FindPushed(ctx, mirror, ref, lead.Project.Path, remote)
	if err != nil || ref.Unpushed {
		return "", err
	}
	f, err := l.forges.ForPullRequest(ctx, ref, remote)
	if err != nil {
		return "", err
	}
	target, err := f.Target(ctx)
	if err != nil || target.URL == "" {
		return remote, err
	}
	return target.URL, nil
}

// NewFeedbackPoller returns a poller with the config of an office, which need not be open.
func NewFeedbackPoller(
	id string, paths office.Paths, loaded config.Loaded, forges *forge.Selector, env func(string) (string, bool),
) (*delivery.FeedbackPoller, error) {
	return delivery.NewFeedbackPoller(
		id, gitops.ReadOnlyMirrors{Root: paths.Git, Remote: loaded.Config.Git.Remote, Personal: gitlogin.New(env)}, forges)
}

// feedbackJob returns the job that polls for feedback on open pull requests.
func (a *App) feedbackJob(called <-chan struct{}, forges *forge.Selector) (upkeep.Job, error) {
	poller, err := NewFeedbackPoller(a.office.ID, a.office.Paths, a.loaded, forges, a.env)
	return upkeep.FeedbackRounds{
		Interval: a.loaded.Config.Forge.Poll, Trigger: called, Logger: a.log,
		Poller: poller, Office: a,
	}.Job(func() []company.Pull { return a.View().AwaitedPulls() }), err
}

// SettingsFor returns the settings for tasks of a checkout.
func (a *App) SettingsFor(ctx context.Context, checkout string) (company.Settings, error) {
	loaded, err := a.configs.ConfigFor(ctx, checkout)
	if err != nil {
		return company.Settings{}, err
	}
	return CompanySettings(loaded.Config), nil
}

// RecordFeedback records the feedback on a pull request.
func (a *App) RecordFeedback(ctx context.Context, prFeedback company.RecordPRFeedback) (company.TaskID, error) {
	id := api.NewCommandID()
	_, err := a.DoID(ctx, id, company.Company, prFeedback)
	return a.View().SubmittedBy(company.Company, id), err
}

// PullSync asks the forge about pull requests of an office, which need not be open.
type PullSync struct {
	Office string // id of the office
	Paths  office.Paths
	Config config.Loaded
	Env    func(string) (string, bool)
	Logger *slog.Logger
}

// Poll asks about each of the pull requests, and calls do with the answers. The failure of one is
// in its result. The end of ctx stops all.
func (p PullSync) Poll(
	ctx context.Context, pulls []company.Pull, do func(company.RecordPRFeedback) (company.TaskID, error),
) ([]view.PullSync, error) {
	state, err := p.Paths.Folder(p.Paths.State)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	defer state.Close()
	poller, err := NewFeedbackPoller(
		p.Office, p.Paths, p.Config, OpenForges(state, p.Config.Config, p.Logger, p.Env), p.Env)
	if err != nil {
		return nil, err
	}
	out := make([]view.PullSync, 0, len(pulls))
	for _, pull := range pulls {
		got := upkeep.PollPR(ctx, poller, pull, CompanySettings(p.Config.Config), do)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		out = append(out, got)
	}
	return out, nil
}
