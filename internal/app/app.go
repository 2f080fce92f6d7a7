package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"company/internal/adapters"
	"company/internal/bus"
	"company/internal/clock"
	"company/internal/company"
	"company/internal/config"
	"company/internal/container"
	"company/internal/delivery"
	"company/internal/dispatch"
	"company/internal/feed"
	"company/internal/folder"
	"company/internal/forge"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/image"
	"company/internal/intake"
	"company/internal/leak"
	"company/internal/ledger"
	"company/internal/manager"
	"company/internal/merger"
	"company/internal/office"
	"company/internal/orchestrator"
	"company/internal/projection"
	"company/internal/reviewer"
	"company/internal/safetext"
	"company/internal/sandbox"
	"company/internal/secret"
	"company/internal/session"
	"company/internal/shell"
	"company/internal/upkeep"
	"company/internal/worker"
)

// App is an office that this process holds the lock of: its ledger, its
// state, and, once it works, everything that does effects.
type App struct {
	office  *office.Office
	loaded  config.Loaded
	lock    *office.Lock
	env     func(string) (string, bool)
	version string
	log     *slog.Logger

	bus         bus.Bus
	ledger      *ledger.Ledger
	orch        *orchestrator.Orchestrator
	broadcaster feed.Broadcaster
	projector   *projection.Projector
	keeper      *upkeep.Keeper
	sandboxes   *sandbox.Factory
	runtime     container.Runtime
	pool        *dispatch.Pool

	serving       bool // until it is ended, not until a task ends
	configWorkers int  // that the config asks for on this machine
	poolSize      int  // that the pool has now
	jobs          []upkeep.Job
	webhooks      upkeep.Webhooks
	repackJob     upkeep.Job // also made once at the beginning of work
	configs       ConfigSource
	activities    activityLog

	stopWork func() error   // what start began
	closers  []func() error // in the order in which they were opened

	// lifetime ends, with the reason, when the company cannot work any more:
	// its ledger failed. Followers get the reason, instead of waiting for ever.
	lifetime context.Context
	fail     context.CancelCauseFunc
}

// ConfigSource reads the config for tasks of a checkout.
type ConfigSource interface {
	ConfigFor(ctx context.Context, project string) (config.Loaded, error)
}

// Options are what an office is opened with.
type Options struct {
	Office  *office.Office // is closed with the app, or when it cannot be opened
	Lock    *office.Lock   // is released then
	Config  config.Loaded
	Configs ConfigSource
	Env     func(string) (string, bool)
	Clocks  clock.Sources // of the machine
	Version string        // of the program
	Logger  *slog.Logger
}

// Open opens the ledger and folds the state. Nothing is under way yet,
// and neither Docker nor a model is needed.
func Open(ctx context.Context, o Options) (_ *App, err error) {
	off, loaded, log := o.Office, o.Config, o.Logger
	h := &App{office: off, loaded: loaded, lock: o.Lock, env: o.Env, version: o.Version, configs: o.Configs, log: log}
	officeTime := clock.New(o.Clocks)
	h.lifetime, h.fail = context.WithCancelCause(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			h.closeParts()
			err = errors.Join(err, h.lock.Release(), off.Close())
		}
	}()
	h.projector = projection.New(off)
	log, closeLog, err := newFileLog(off.LogsFolder, log, o.Env, func(err error) { h.projector.NoteOfficeFile("logs/"+companyLog, err) })
	if err != nil {
		return nil, err
	}
	h.log = log
	h.closers = append(h.closers, closeLog)
	if h.bus, err = openBus(ctx, off, log); err != nil {
		return nil, err
	}
	h.closers = append(h.closers, h.bus.Close)
	h.ledger, err = ledger.Open(ctx, h.bus, ledger.Options{Folder: off.StateFolder, Logger: log, Clock: officeTime.Now})
	if err != nil {
		return nil, addDamageHint(off.Paths, err)
	}
	h.orch, err = orchestrator.Open(ctx, orchestrator.Config{
		Ledger: h.ledger, Clock: officeTime, Office: off.ID, Version: o.Version, Active: loaded.Config.Limits.ConcurrentTasks, Logger: log,
		Checks:  maxParallelGates(loaded.ForHost(config.HostResources{Memory: HostMemory()}), HostMemory(), runtime.NumCPU()),
		Changed: h.projector.MarkChanged,
	})
	if err != nil {
		return nil, addDamageHint(off.Paths, err)
	}
	h.projector.Connect(h.orch, log)
	h.keeper = &upkeep.Keeper{Office: off, State: h.orch, Ledger: h.ledger, RetentionDays: loaded.Config.RetentionDays, Remote: loaded.Config.Git.Remote, Logger: log}
	if len(off.CopiedFrom) > 0 {
		if _, err := h.orch.Do(ctx, company.Company, company.AdoptCopy{Office: off.ID, From: off.CopiedFrom}); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// addDamageHint tells how to go on when the ledger cannot be read, where the
// error itself does not know.
func addDamageHint(p office.Paths, err error) error {
	var e *company.Error
	if !errors.As(err, &e) || e.Code != company.ELedger || e.Hint != "" {
		return err
	}
	return e.Fix(fmt.Sprintf("put a backup of %s back, or begin anew: mv %s %s.damaged (the branches and pull requests of the repository stay, and so does what was not merged yet, in %s.damaged/git)",
		p.State, shell.Quote(p.State), shell.Quote(p.State), p.State))
}

// closeParts closes the open parts, the last one first.
func (h *App) closeParts() {
	for i := len(h.closers) - 1; i >= 0; i-- {
		if err := h.closers[i](); err != nil {
			h.log.Warn("not closed cleanly", "err", err)
		}
	}
	h.closers = nil
	h.fail(nil)
}

// envValue is a variable of the environment; empty where it is not set.
func (h *App) envValue(name string) string {
	v, _ := h.env(name)
	return v
}

// ID is the id of the office.
func (h *App) ID() string { return h.office.ID }

// View is the state at this moment.
func (h *App) View() *company.State { return h.orch.View() }

// Now is the office's time.
func (h *App) Now() time.Time { return h.orch.Now() }

// DoID decides a command.
func (h *App) DoID(ctx context.Context, id, actor string, c company.Command) ([]company.Event, error) {
	return h.orch.DoID(ctx, id, actor, c)
}

// wireHandlers opens what effects need (Docker, git, images, models) and
// registers a handler for each kind.
func (h *App) wireHandlers(ctx context.Context) (*dispatch.Pool, error) {
	cfg := h.loaded.Config
	cfg.Workers.Max = h.loaded.ForHost(config.HostResources{Memory: HostMemory()}).Workers.Max
	h.configWorkers = cfg.Workers.Max
	rt, err := OpenRuntime(ctx, h.log)
	if err != nil {
		return nil, err
	}
	h.closers = append(h.closers, rt.Close, func() error { return upkeep.SweepOnExit(ctx, rt, h.office.ID, h.log) })
	h.runtime = rt
	registries, err := OpenRegistries(ctx, cfg, h.env, h.log)
	if err != nil {
		return nil, err
	}
	h.closers = append(h.closers, func() error { registries.Close(); return nil })
	images, err := image.New(image.Config{Logger: h.log, Runtime: rt, Registries: registries.Public(), WithLogins: registries.WithLogins(), Progress: func(line string) {
		h.publishItem(feed.Item{Kind: "image", Mark: feed.Info, Text: safetext.EscapeLine(line, 300)})
	}})
	if err != nil {
		return nil, err
	}
	h.closers = append(h.closers, func() error { images.Close(); return nil })
	gitcfg, err := GitConfig(h.office.Paths, cfg, h.env)
	if err != nil {
		return nil, err
	}
	gitLog, err := h.office.LogsFolder.Append("git.log")
	if err != nil {
		return nil, company.E(company.EConfig, "the office's log of git cannot be written").Wrap(err).Fix("see that the folder is yours and has space")
	}
	oplog := gitops.NewOpLog(folder.Watch(gitLog, func(err error) { h.projector.NoteOfficeFile("logs/git.log", err) }))
	h.closers = append(h.closers, oplog.Close)
	gitcfg.Log, gitcfg.Folder = oplog, h.office.GitFolder
	author := gitcfg.Author
	git, err := gitops.Open(gitcfg)
	if err != nil {
		return nil, err
	}
	models := adapters.NewModels(ModelDrivers, ModelProfiles(h.loaded, h.office.Root, h.envValue), ModelDeps(cfg, h.log))
	h.closers = append(h.closers, models.Close)

	limits := h.containerLimits(cfg)
	sizes := container.NewSizes(limits, h.maxMemory(cfg))
	h.sandboxes = &sandbox.Factory{
		Runtime: rt, Git: git, Office: h.office.ID, Limits: limits, Sizes: sizes, Author: author, Signoff: cfg.Git.Signoff, Logger: h.log,
		CommandTimeout: cfg.Workers.CommandTimeout, StopGrace: zeroAsNone(cfg.Limits.StopGrace),
		Security: func(r sandbox.Refusal) { h.reportRefusal(ctx, r) },
	}
	h.closers = append(h.closers, func() error { h.sandboxes.Close(); return nil })
	blobs := ledger.Blobs{Ledger: h.ledger}
	runner := &gates.Runner{Runtime: rt, Office: h.office.ID, Limits: limits, LimitsByProject: sizes, Timeout: cfg.Workers.RunTimeout, Canary: cfg.Gates.Canary, Blobs: blobs, Logger: h.log}
	secrets, err := SetupEnv(cfg, h.env)
	if err != nil {
		return nil, err
	}
	forges := OpenForges(h.office.StateFolder, cfg, h.log, h.env)
	base := &intake.Intake{
		Branches: branchLocator(h.office.ID, forges),
		Desk:     h.orch, Mirrors: git, Images: images, Base: cfg.Container.Image, Setup: cfg.Container.Setup, SetupEnv: secrets, Offline: cfg.Container.Deps == "off",
		Lint: ToOverride(cfg.Gates.Lint), Test: ToOverride(cfg.Gates.Test), Prefix: cfg.Git.IntegrationBranch, Log: oplog,
		Tell: func(t company.TaskID, note string) {
			h.publishItem(feed.Item{Task: t, Kind: "image", Mark: feed.Info, Text: safetext.EscapeLine(note, 300)})
		},
	}
	intakeOf := h.intakeByTask(*base, registries.MayUseLogins)
	runner.Images = &intake.TreeImages{Intake: intakeOf, Stores: registries, Images: images}
	sessions, err := session.New(session.Config{
		Decider: h.orch, Ledger: h.ledger, Agents: officeAgents{cfg, models}, Mirrors: git, Images: runner.Images, Sandboxes: h.sandboxes,
		Dependencies: h.dependencyAccess(registries), Runs: h.office.RunsFolder, Now: h.Now, Logger: h.log, Watcher: h,
	})
	if err != nil {
		return nil, err
	}
	managers := manager.New(sessions)
	workers, err := worker.New(worker.Config{Sessions: sessions, Projects: managers})
	if err != nil {
		return nil, err
	}
	pool := dispatch.NewPool(h.bus.Queue(), h.orch, workers, cfg.Workers.Max, h.log)
	merge := &merger.Merger{Desk: h.orch, Runner: runner, Mirrors: git, Author: author, Sessions: sessions, Watcher: h}
	deliveries := &delivery.Delivery{Desk: h.orch, Mirrors: git, Log: oplog, Secrets: leak.New(ownSecrets(cfg, h.env), h.office.ID),
		Forges: forges, Texts: blobs, Ask: forge.PRSettings{Labels: cfg.Forge.Labels, Draft: cfg.Forge.Draft, CodeOwners: cfg.Forge.Reviewers == "codeowners"}}
	h.repackJob = h.keeper.RepackJob(git)
	h.jobs = append(h.jobs, h.repackJob, h.keeper.RetentionJob(git, images))
	called := make(chan struct{}, 1)
	h.webhooks = upkeep.Webhooks{Listen: cfg.Forge.WebhookListen, Secret: secret.New(h.envValue(cfg.Forge.WebhookEnv)), Env: cfg.Forge.WebhookEnv, Trigger: called}
	h.jobs = append(h.jobs, h.feedbackJob(called, forges))
	judge := &gates.Handler{Decider: h.orch, Runner: runner, Mirrors: git, Watcher: h, RedGreen: cfg.Gates.RedGreen != "off"}
	for kind, find := range map[company.EffectKind]company.OutcomeFinder{
		company.EffectPrepare:   h.findPreparation(intakeOf),
		company.EffectBaseline:  judge.RunBaseline,
		company.EffectGate:      judge.RunGates,
		company.EffectTestMerge: merge.Test,
		company.EffectMerge:     merge.Merge,
		company.EffectDeliver:   deliveries.Do,
	} {
		h.orch.Register(kind, company.ReportOutcome(h.orch, find))
	}
	for kind, handle := range map[company.EffectKind]company.EffectHandler{
		company.EffectEnqueue: pool.Enqueue,
		company.EffectWork:    pool.Work,
		company.EffectManage:  managers.Do,
		company.EffectReview:  reviewer.New(sessions).Do,
		company.EffectResolve: merge.Resolve,
	} {
		h.orch.Register(kind, handle)
	}
	if err := company.CheckParts(base, h.sandboxes, runner, judge, merge, deliveries); err != nil {
		return nil, err
	}
	// Containers of an earlier process are removed before anything starts; we
	// hold the lock, so no other process has containers with this office's
	// label.
	if err := upkeep.SweepContainers(ctx, rt, h.office.ID, upkeep.KeepNone, h.log); err != nil {
		return nil, err
	}
	h.keeper.RemoveStale(ctx, git)
	return pool, nil
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

// runLoops keeps the company working until ctx ends.
func (h *App) runLoops(ctx context.Context, pool *dispatch.Pool) error {
	var wg sync.WaitGroup
	wctx, cancel := context.WithCancel(ctx)
	wg.Go(func() { _ = pool.Run(wctx) })
	wg.Go(func() {
		h.projector.Run(wctx, projection.Hooks{Written: func() { h.syncPoolSize(); h.syncWarmPool() }, Idle: debug.FreeOSMemory})
	})
	wg.Go(func() {
		upkeep.SweepEarlierEpochs(wctx, h.runtime, h.office.ID, func() uint64 { return h.View().Office.Epoch }, upkeep.SweepAgainAfter, h.log)
	})
	if h.repackJob.Run != nil {
		wg.Go(func() { h.repackJob.RunNow(wctx, h.log) })
	}
	if h.serving {
		if err := h.webhooks.StartServer(wctx, &wg, h.publishItem); err != nil {
			cancel()
			wg.Wait()
			return err
		}
		for _, r := range h.jobs {
			wg.Go(func() { r.RunLoop(wctx, func() bool { return h.View().Office.Stopped }, h.publishItem) })
		}
	}
	err := h.orch.Run(ctx)
	cancel()
	wg.Wait()
	return err
}

// syncWarmPool has containers of the newest open task's image ready, and none when
// nothing is to be done.
func (h *App) syncWarmPool() {
	s := h.View()
	for i := len(s.Open) - 1; i >= 0 && !s.Office.Stopped; i-- {
		if t := s.Tasks[s.Open[i]]; t.Prepared != nil && !t.Paused && !t.DryRun {
			h.sandboxes.Warm(t.Prepared.Image, s.Office.Epoch, h.loaded.Config.Workers.Warm)
			return
		}
	}
	h.sandboxes.Warm("", s.Office.Epoch, 0)
}

func (h *App) containerLimits(c config.Config) container.Limits {
	return container.Limits{
		MemoryBytes: int64(c.Workers.Memory), CPUs: min(c.Workers.CPUs, float64(runtime.NumCPU())),
		Pids: int64(c.Workers.PIDs), DiskBytes: int64(max(0, c.Workers.Disk)),
	}
}

// maxMemory is what a container may grow to: three quarters of the host's
// memory, but where the config says how much a container gets.
func (h *App) maxMemory(c config.Config) int64 {
	if h.loaded.Origin["workers.memory"] != config.OriginDefault {
		return int64(c.Workers.Memory)
	}
	return int64(HostMemory()) / 4 * 3
}

// CompanySettings are the parts of the config that decisions depend on.
func CompanySettings(c config.Config) company.Settings {
	return company.Settings{
		Cap: c.BudgetCap(len(UnpricedModels(c)) == 0), Plan: company.Mode(c.Approvals.Plan), Merge: company.Mode(c.Approvals.Merge), PR: company.Mode(c.Approvals.PR), Deps: company.Mode(c.Approvals.Deps),
		Paths: c.Git.Paths, NoGates: c.Gates.None, Protected: c.Gates.Protected, ProtectTests: c.Gates.ProtectTests, IntegrationPrefix: c.Git.IntegrationBranch,
		RunTimeout: c.Workers.RunTimeout, ModelWait: zeroAsNone(c.Limits.ModelWait), Continuations: zeroAsNone(c.Limits.Continuations),
	}
}

// zeroAsNone translates 0 for the core, where a zero stands for the default.
func zeroAsNone[T int | time.Duration](n T) T {
	if n == 0 {
		return -1
	}
	return n
}

// maxParallelGates is how many gates may run at once: what the host's memory leaves
// beside the workers, at most one for each processor, and one in any case.
func maxParallelGates(c config.Config, memory config.Size, cpus int) int {
	if memory <= 0 || c.Workers.Memory <= 0 {
		return 0
	}
	left := int(memory/c.Workers.Memory) - c.Workers.Max
	return max(1, min(left, cpus))
}

// HostMemory is what this machine has, in bytes; 0 where that is not known.
func HostMemory() config.Size {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	var kib int64
	if _, err := fmt.Sscanf(string(text), "MemTotal: %d kB", &kib); err != nil {
		return 0
	}
	return config.Size(kib << 10)
}

// ProjectOf names the project of a checkout.
func ProjectOf(path string) company.Project {
	sum := sha256.Sum256([]byte(path))
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(filepath.Base(path)))
	return company.Project{ID: strings.Trim(name, "-") + "-" + hex.EncodeToString(sum[:4]), Path: path}
}

func ToOverride(c config.Command) gates.CommandOverride {
	switch c.Mode {
	case config.Auto:
		return gates.Auto
	case config.None:
		return gates.None
	}
	if c.Argv != nil {
		return gates.QuoteArgs(c.Argv)
	}
	return gates.CommandOverride(c.Line)
}

// parseAuthor reads git.author: Name <mail>.
func parseAuthor(s string) (gitops.Person, error) {
	if s == "" {
		return gitops.Person{Name: "company", Email: "company@localhost"}, nil
	}
	name, mail, ok := strings.Cut(s, "<")
	if !ok {
		return gitops.Person{}, company.E(company.EConfig, "git.author is Name <mail>")
	}
	return gitops.Person{Name: strings.TrimSpace(name), Email: strings.TrimSuffix(strings.TrimSpace(mail), ">")}, nil
}

// syncPoolSize gives the pool as many workers as there are to be.
func (h *App) syncPoolSize() {
	if n := h.View().Office.WorkerCount(); h.pool != nil && n > 0 && n != h.poolSize {
		h.pool.SetMax(n)
		h.poolSize = n
	}
}

// Close closes the office and lets others in.
func (h *App) Close() {
	if h.projector.IsConnected() {
		h.projector.FlushPending(h.lifetime) // decisions that were made without a company at work
	}
	h.closeParts()
	if err := h.lock.Release(); err != nil {
		h.log.Warn("lock not released", "err", err)
	}
	_ = h.office.Close()
}
