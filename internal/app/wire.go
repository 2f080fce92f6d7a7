package app

import (
	"context"

	"company/internal/company"
	"company/internal/engine/dispatch"
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
		a.orch.Register(kind, company.ReportOutcome(a.orch, find))
	}
	for kind, handle := range handlers.others {
		a.orch.Register(kind, handle)
	}
	// Remove containers of an earlier process before any work starts. This process holds the lock, so
	// no other process has containers with this office's label.
	if err := upkeep.SweepContainers(ctx, out.runtime, a.office.ID, upkeep.KeepNone, a.log); err != nil {
		return nil, err
	}
	a.keeper.RemoveStale(ctx, out.git)
	return handlers.pool, nil
}
