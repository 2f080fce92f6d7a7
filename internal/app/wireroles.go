package app

import (
	"company/internal/agentrun"
	"company/internal/company"
	"company/internal/delivery"
	"company/internal/delivery/evidence"
	"company/internal/engine/dispatch"
	"company/internal/forge"
	"company/internal/gates"
	"company/internal/ledger"
	"company/internal/lib/secretscan"
	"company/internal/manager"
	"company/internal/merger"
	"company/internal/office/config"
	"company/internal/prepare"
	"company/internal/present/view"
	"company/internal/reviewer"
	"company/internal/worker"
)

// effectHandlers holds the handlers of effects.
type effectHandlers struct {
	pool    *dispatch.Pool
	finders map[company.EffectKind]company.OutcomeFinder // the caller records their outcomes
	others  map[company.EffectKind]company.EffectHandler // they record their own outcomes
}

// wireRoles creates the handlers of effects: intake, manager, workers, reviewer, merger, gates and
// delivery.
func (a *App) wireRoles(cfg config.Config, o outside, runner *gates.Runner) (effectHandlers, error) {
	projects := projectSettings{a.configs, o.registries, o.setupEnv, config.OpenTrust(a.env), a.stage.settingsPath()}
	intake, err := prepare.New(prepare.Config{
		Decider: a.orch, Mirrors: o.git, Images: o.images, Projects: projects,
		Prefix: cfg.Git.IntegrationBranch, Log: o.gitLog, Watcher: a, Branches: branchLocator{a.office.ID, o.forges},
		Lines: a,
	})
	if err != nil {
		return effectHandlers{}, err
	}
	trees := prepare.NewTreeImages(intake, o.registries)
	runner.Images, runner.Files = trees, a.stage.recordedFiles(trees)
	dependencies, err := a.dependencyAccess(o.registries)
	if err != nil {
		return effectHandlers{}, err
	}
	sessions, err := agentrun.New(agentrun.Config{
		Coordinator: company.CoordinatorOf(a.orch), Ledger: a.ledger, Agents: a.stage.recordedAgents(o.agents),
		Mirrors: o.git, Images: runner.Images, Sandboxes: a.sandboxes,
		Dependencies: dependencies, Runs: a.office.RunsFolder, Files: a.projector.RunFiles(), Now: a.Now, Logger: a.log,
		Watcher: a, Crashes: a.crashes, Secrets: a.secrets,
	})
	if err != nil {
		return effectHandlers{}, err
	}
	managers, err := manager.New(sessions)
	if err != nil {
		return effectHandlers{}, err
	}
	workers, err := worker.New(worker.Config{Sessions: sessions, Projects: managers})
	if err != nil {
		return effectHandlers{}, err
	}
	pool, err := dispatch.NewPool(
		dispatch.Config{Queue: a.bus.Queue(), Coordinator: company.CoordinatorOf(a.orch), Worker: workers,
			Workers: cfg.Workers.Max, Logger: a.log})
	if err != nil {
		return effectHandlers{}, err
	}
	reviewers, err := reviewer.New(sessions)
	if err != nil {
		return effectHandlers{}, err
	}
	merge, err := merger.New(
		merger.Config{Decider: a.orch, Runner: runner, Mirrors: o.git, Author: o.author, Sessions: sessions, Watcher: a})
	if err != nil {
		return effectHandlers{}, err
	}
	deliveries, err := delivery.New(
		delivery.Config{Decider: a.orch, Mirrors: o.git, Log: o.gitLog, Prefix: projects.branchPrefix,
			Secrets: secretscan.New(ownSecrets(cfg, a.env), a.office.ID),
			Forges:  o.forges, Texts: ledger.Blobs{Ledger: a.ledger},
			Evidence: evidence.Checker{Blobs: a.ledger, Now: a.Now, Cleaned: a.lastCleanup}, Reports: a.projector,
			Ask: forge.PRSettings{Labels: cfg.Forge.Labels, Draft: cfg.Forge.Draft,
				CodeOwners: cfg.Forge.Reviewers == "codeowners"}})
	if err != nil {
		return effectHandlers{}, err
	}
	judge, err := gates.NewHandler(
		gates.Handler{Decider: a.orch, Runner: runner, Mirrors: o.git, Watcher: a, RedGreen: cfg.Gates.RedGreen != "off"})
	if err != nil {
		return effectHandlers{}, err
	}
	return a.stage.directEffects(a.orch, judge, effectHandlers{
		pool: pool,
		finders: map[company.EffectKind]company.OutcomeFinder{
			company.EffectPrepare:   a.recordStart(view.FindsBase, intake.FindBase),
			company.EffectImage:     a.recordStart(view.PreparesBase, intake.MakeImage),
			company.EffectBaseline:  judge.RunBaseline,
			company.EffectGate:      judge.RunGates,
			company.EffectTestMerge: merge.Test,
			company.EffectMerge:     merge.Merge,
			company.EffectDeliver:   deliveries.Do,
		},
		others: map[company.EffectKind]company.EffectHandler{
			company.EffectEnqueue: pool.KeepQueued,
			company.EffectWork:    pool.Work,
			company.EffectManage:  managers.Do,
			company.EffectReview:  reviewers.Do,
			company.EffectResolve: merge.Resolve,
		},
	}), nil
}
