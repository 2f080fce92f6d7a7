package app

import (
	"context"

	"company/internal/agentrun/sandbox"
	"company/internal/gitops"
)

// settleRuns settles the runs of a task that a command has ended before work has started here. It
// only logs errors, because the next start of work settles those runs.
func (a *App) settleRuns(ctx context.Context) {
	if a.atWork.Load() || len(a.View().Unsettled(true)) == 0 {
		return
	}
	a.starting.Lock()
	defer a.starting.Unlock()
	if a.worked != nil {
		return
	}
	err := a.openSalvager()
	if err == nil {
		err = a.keeper.SettleRuns(ctx, true)
	}
	if err != nil {
		a.log.WarnContext(ctx, "runs that were cut off are not settled", "err", err)
	}
}

// openSalvager opens the part of git that saves the work of runs.
func (a *App) openSalvager() error {
	cfg, err := GitConfig(a.office.Paths, a.loaded.Config, a.env)
	if err != nil {
		return err
	}
	cfg.Folder = a.office.GitFolder
	store, err := gitops.Open(cfg)
	if err != nil {
		return err
	}
	a.keeper.Work = sandbox.Salvager{Git: store, Author: cfg.Author, Signoff: cfg.Signoff}
	return nil
}
