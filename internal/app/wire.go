package app

import (
	"context"

	"company/internal/company"
	"company/internal/config"
	"company/internal/dispatch"
	"company/internal/upkeep"
)

// wireHandlers opens what effects need and registers a handler for each kind: the
// outside world first, on it sandboxes and gates, in those the roles.
func (h *App) wireHandlers(ctx context.Context) (*dispatch.Pool, error) {
	cfg := h.loaded.Config
	cfg.Workers.Max = h.loaded.ForHost(config.HostResources{Memory: HostMemory()}).Workers.Max
	h.configWorkers = cfg.Workers.Max
	out, err := h.openOutside(ctx, cfg)
	if err != nil {
		return nil, err
	}
	runner, err := h.wireSandboxes(ctx, cfg, out)
	if err != nil {
		return nil, err
	}
	handlers, err := h.wireRoles(cfg, out, runner)
	if err != nil {
		return nil, err
	}
	if err := h.wireUpkeep(cfg, out); err != nil {
		return nil, err
	}
	for kind, find := range handlers.finders {
		h.orch.Register(kind, company.ReportOutcome(h.orch, find))
	}
	for kind, handle := range handlers.others {
		h.orch.Register(kind, handle)
	}
	// Containers of an earlier process are removed before anything starts; we
	// hold the lock, so no other process has containers with this office's
	// label.
	if err := upkeep.SweepContainers(ctx, out.runtime, h.office.ID, upkeep.KeepNone, h.log); err != nil {
		return nil, err
	}
	h.keeper.RemoveStale(ctx, out.git)
	return handlers.pool, nil
}
