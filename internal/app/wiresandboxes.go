package app

import (
	"context"

	"company/internal/agentrun/sandbox"
	"company/internal/container"
	"company/internal/gates"
	"company/internal/ledger"
	"company/internal/office/config"
)

// wireSandboxes creates the sandboxes of agents and the runner of gates, with the same limits.
func (a *App) wireSandboxes(ctx context.Context, cfg config.Config, o outside) (runner *gates.Runner, err error) {
	limits := a.containerLimits(cfg)
	sizes := container.NewSizes(limits, a.maxMemory(cfg))
	a.sandboxes, err = sandbox.NewFactory(sandbox.Config{
		Runtime: o.runtime, Git: o.git, Office: a.office.ID, Limits: limits, Sizes: sizes, Containers: a.containers,
		Images: o.images, Author: o.author, Signoff: cfg.Git.Signoff, Logger: a.log,
		CommandTimeout: cfg.Workers.CommandTimeout, StopGrace: zeroAsNone(cfg.Limits.StopGrace),
		Security: func(r sandbox.Refusal) { a.reportRefusal(ctx, r) },
	})
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, func() error { a.sandboxes.Close(); return nil })
	return gates.NewRunner(gates.Runner{
		Runtime: o.runtime, Office: a.office.ID, Limits: limits, LimitsByProject: sizes, Timeout: cfg.Workers.RunTimeout,
		Canary: cfg.Gates.Canary, FirstStepAfter: cfg.Gates.FirstStepAfter, Record: a.stage.recordedGates(), Beside: true,
		Blobs: ledger.Blobs{Ledger: a.ledger}, Logger: a.log,
	})
}
