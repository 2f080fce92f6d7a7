package app

import (
	"context"
	"errors"

	"company/internal/company"
	"company/internal/config"
	"company/internal/delivery"
	"company/internal/dispatch"
	"company/internal/feed"
	"company/internal/forge"
	"company/internal/gates"
	"company/internal/intake"
	"company/internal/leak"
	"company/internal/ledger"
	"company/internal/manager"
	"company/internal/merger"
	"company/internal/reviewer"
	"company/internal/safetext"
	"company/internal/session"
	"company/internal/worker"
)

// effectHandlers carry out the effects.
type effectHandlers struct {
	pool    *dispatch.Pool
	finders map[company.EffectKind]company.OutcomeFinder // their outcome is recorded for them
	others  map[company.EffectKind]company.EffectHandler // these record it themselves
	parts   []any                                        // to be checked before any of them works
}

// wireRoles makes those who do the effects: intake, manager, workers, reviewer,
// merger, gates and delivery.
func (h *App) wireRoles(cfg config.Config, o outside, runner *gates.Runner) (effectHandlers, error) {
	base := h.newIntake(cfg, o)
	intakeOf := h.intakeByTask(*base, o.registries.MayUseLogins)
	runner.Images = &intake.TreeImages{Intake: intakeOf, Stores: o.registries, Images: o.images}
	sessions, err := session.New(session.Config{
		Coordinator: company.CoordinatorOf(h.orch), Ledger: h.ledger, Agents: officeAgents{cfg, o.models}, Mirrors: o.git, Images: runner.Images, Sandboxes: h.sandboxes,
		Dependencies: h.dependencyAccess(o.registries), Runs: h.office.RunsFolder, Now: h.Now, Logger: h.log, Watcher: h,
	})
	if err != nil {
		return effectHandlers{}, err
	}
	managers := manager.New(sessions)
	workers, err := worker.New(worker.Config{Sessions: sessions, Projects: managers})
	if err != nil {
		return effectHandlers{}, err
	}
	pool, err := dispatch.NewPool(dispatch.Config{Queue: h.bus.Queue(), Coordinator: company.CoordinatorOf(h.orch), Worker: workers, Workers: cfg.Workers.Max, Logger: h.log})
	if err != nil {
		return effectHandlers{}, err
	}
	merge := &merger.Merger{Desk: h.orch, Runner: runner, Mirrors: o.git, Author: o.author, Sessions: sessions, Watcher: h}
	deliveries := &delivery.Delivery{Desk: h.orch, Mirrors: o.git, Log: o.gitLog, Secrets: leak.New(ownSecrets(cfg, h.env), h.office.ID),
		Forges: o.forges, Texts: ledger.Blobs{Ledger: h.ledger}, Ask: forge.PRSettings{Labels: cfg.Forge.Labels, Draft: cfg.Forge.Draft, CodeOwners: cfg.Forge.Reviewers == "codeowners"}}
	judge := &gates.Handler{Decider: h.orch, Runner: runner, Mirrors: o.git, Watcher: h, RedGreen: cfg.Gates.RedGreen != "off"}
	return effectHandlers{
		pool: pool,
		finders: map[company.EffectKind]company.OutcomeFinder{
			company.EffectPrepare:   h.findPreparation(intakeOf),
			company.EffectBaseline:  judge.RunBaseline,
			company.EffectGate:      judge.RunGates,
			company.EffectTestMerge: merge.Test,
			company.EffectMerge:     merge.Merge,
			company.EffectDeliver:   deliveries.Do,
		},
		others: map[company.EffectKind]company.EffectHandler{
			company.EffectEnqueue: pool.Enqueue,
			company.EffectWork:    pool.Work,
			company.EffectManage:  managers.Do,
			company.EffectReview:  reviewer.New(sessions).Do,
			company.EffectResolve: merge.Resolve,
		},
		parts: []any{base, h.sandboxes, runner, judge, merge, deliveries},
	}, nil
}

// newIntake makes the intake that the office's own config asks for.
func (h *App) newIntake(cfg config.Config, o outside) *intake.Intake {
	return &intake.Intake{
		Branches: branchLocator(h.office.ID, o.forges),
		Desk:     h.orch, Mirrors: o.git, Images: o.images, Base: cfg.Container.Image, Setup: cfg.Container.Setup, SetupEnv: o.setupEnv, Offline: cfg.Container.Deps == "off",
		Lint: ToOverride(cfg.Gates.Lint), Test: ToOverride(cfg.Gates.Test), Prefix: cfg.Git.IntegrationBranch, Log: o.gitLog,
		Tell: func(t company.TaskID, note string) {
			h.publishItem(feed.Item{Task: t, Kind: "image", Mark: feed.Info, Text: safetext.EscapeLine(note, 300)})
		},
	}
}

// intakeByTask gives each task the intake that its project's own config asks for.
func (h *App) intakeByTask(all intake.Intake, mayLogIn func(ctx context.Context, checkout string) bool) func(context.Context, *company.Task) (*intake.Intake, error) {
	return func(ctx context.Context, t *company.Task) (*intake.Intake, error) {
		loaded, err := h.configs.ConfigFor(ctx, t.Project.Path)
		if err == nil {
			err = loaded.CheckSupported()
		}
		var ce *company.Error
		if errors.As(err, &ce) {
			return nil, ce.NeedsPerson() // no second try mends a file
		}
		if err != nil {
			return nil, err
		}
		in, cfg := all, loaded.Config
		in.Base, in.Setup, in.Offline = cfg.Container.Image, cfg.Container.Setup, cfg.Container.Deps == "off"
		in.Lint, in.Test = ToOverride(cfg.Gates.Lint), ToOverride(cfg.Gates.Test)
		in.Paths, in.Logins = t.Settings.Paths, mayLogIn(ctx, t.Project.Path)
		return &in, nil
	}
}

// findPreparation does intakes.
func (h *App) findPreparation(intakeOf func(context.Context, *company.Task) (*intake.Intake, error)) company.OutcomeFinder {
	return func(ctx context.Context, e company.Effect) (company.Command, error) {
		t, err := h.View().Task(e.Task)
		if err != nil {
			return nil, err
		}
		in, err := intakeOf(ctx, t)
		if err != nil {
			return nil, err
		}
		return in.Do(ctx, e)
	}
}
