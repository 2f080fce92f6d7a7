package app

import (
	"context"

	"company/internal/company"
	"company/internal/engine/dispatch"
	"company/internal/gitops"
	"company/internal/office/config"
	"company/internal/upkeep"
)

// wireHandlers opens the parts that effects need and registers a handler for each kind. It opens
// external services first, then sandboxes and gates, then the roles.
func (a *App) wireHandlers(ctx context.Context) (*dispatch.Pool, error) {
	cfg := a.loaded.Config
	cfg.Workers.Max = a.loaded.ForHost(config.HostResources{Memory: HostMemory()}).Workers.Max
	a.configWorkers = cfg.Workers.Max
	out, err := a.openOutside(ctx, cfg)
	if err != nil {
		return nil, err
	}
	runner, err := a.wireSandboxes(ctx, cfg, out)
	if err != nil {
		return nil, err
	}
	a.keeper.Work = a.sandboxes.Salvager()
	handlers, err := a.wireRoles(cfg, out, runner)
	if err != nil {
		return nil, err
	}
	if err := a.wireUpkeep(cfg, out); err != nil {
		return nil, err
	}
	for kind, find := range handlers.finders {
		a.orch.Register(kind, a.nameRuns(company.ReportOutcome(a.orch, find)))
	}
	for kind, handle := range handlers.others {
		a.orch.Register(kind, a.nameRuns(handle))
	}
	// Remove containers of an earlier process before any work starts. This process holds the lock, so
	// no other process has containers with this office's label.
	if err := upkeep.SweepContainers(ctx, out.runtime, a.office.ID, upkeep.KeepNone, a.log); err != nil {
		return nil, err
	}
	a.keeper.RemoveStale(ctx, out.git)
	return handlers.pool, nil
}

// nameRuns returns a handler whose git operations name their task and runs in the git.log (GIT-3): the run of the
// effect, or for a merge the workers' runs that are merged.
func (a *App) nameRuns(handle company.EffectHandler) company.EffectHandler {
	return func(ctx context.Context, effect company.Effect) error {
		var runs []string
		if effect.Run != "" {
			runs = append(runs, string(effect.Run))
		} else if task := a.View().Tasks[effect.Task]; task != nil {
			merged := effect.Stack
			if len(merged) == 0 && effect.Subtask != "" {
				merged = []company.SubtaskID{effect.Subtask}
			}
			for _, id := range merged {
				if sub := task.Subtask(id); sub != nil {
					runs = append(runs, string(company.NewRunID(task.ID, id, company.Worker, sub.Started)))
				}
			}
		}
		return handle(gitops.WithSubject(ctx, string(effect.Task), runs...), effect)
	}
}
