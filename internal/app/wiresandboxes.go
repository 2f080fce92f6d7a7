package app

import (
	"context"

	"company/internal/config"
	"company/internal/container"
	"company/internal/gates"
	"company/internal/ledger"
	"company/internal/sandbox"
)

// wireSandboxes makes what runs in containers: the sandboxes of agents, and the
// runner of gates, within the same limits.
func (h *App) wireSandboxes(ctx context.Context, cfg config.Config, o outside) (runner *gates.Runner, err error) {
	limits := h.containerLimits(cfg)
	sizes := container.NewSizes(limits, h.maxMemory(cfg))
	h.sandboxes, err = sandbox.NewFactory(sandbox.Config{
		Runtime: o.runtime, Git: o.git, Office: h.office.ID, Limits: limits, Sizes: sizes, Author: o.author, Signoff: cfg.Git.Signoff, Logger: h.log,
		CommandTimeout: cfg.Workers.CommandTimeout, StopGrace: zeroAsNone(cfg.Limits.StopGrace),
		Security: func(r sandbox.Refusal) { h.reportRefusal(ctx, r) },
	})
	if err != nil {
		return nil, err
	}
	h.closers = append(h.closers, func() error { h.sandboxes.Close(); return nil })
	return gates.NewRunner(gates.Runner{
		Runtime: o.runtime, Office: h.office.ID, Limits: limits, LimitsByProject: sizes, Timeout: cfg.Workers.RunTimeout,
		Canary: cfg.Gates.Canary, Blobs: ledger.Blobs{Ledger: h.ledger}, Logger: h.log,
	})
}
