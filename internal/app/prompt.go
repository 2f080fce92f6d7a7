package app

import (
	"context"

	"company/internal/agentrun"
	"company/internal/company"
	"company/internal/gitops"
	"company/internal/gitops/gitlogin"
	"company/internal/manager"
	"company/internal/merger"
	"company/internal/reviewer"
	"company/internal/worker"
)

// PreviewPrompt returns the prompts that an agent of an assignment would be sent. It only reads the mirror and the
// ledger.
func (a *App) PreviewPrompt(ctx context.Context, assignment company.Assignment) (system, first string, err error) {
	mirrors := gitops.ReadOnlyMirrors{
		Root: a.office.Paths.Git, Remote: a.loaded.Config.Git.Remote, Personal: gitlogin.New(a.env)}
	mirror, err := mirrors.MirrorOf(ctx, assignment.Task)
	if err != nil {
		return "", "", err
	}
	role := map[company.Role]agentrun.Role{
		company.Manager: manager.NewRole(), company.Worker: worker.NewRole(&manager.Manager{}),
		company.Reviewer: reviewer.NewRole(), company.Merger: merger.NewRole(),
	}[assignment.Claimed.Role]
	return agentrun.Preview(ctx, role, assignment, mirror, a.ledger)
}
