package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"company/internal/adapters"
	"company/internal/agent/session"
	"company/internal/agent/workbench"
	"company/internal/bus"
	"company/internal/clock"
	"company/internal/company"
	"company/internal/container"
	"company/internal/folder"
	"company/internal/forge"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/image"
	"company/internal/leak"
	"company/internal/ledger"
	"company/internal/manager"
	"company/internal/merger"
	"company/internal/office"
	"company/internal/orchestrator"
	"company/internal/reviewer"
	"company/internal/safetext"
	"company/internal/worker"
)

// house is an office that this process holds the lock of: its ledger, its
// state, and, once it works, everything that does effects.
type house struct {
	office *office.Office
	loaded office.Loaded
	lock   *office.Lock
	log    *slog.Logger

	bus     bus.Bus
	ledger  *ledger.Ledger
	orch    *orchestrator.Orchestrator
	live    orchestrator.Live
	proj    *projector
	shop    *workbench.Shop
	runtime container.Runtime
	pool    *worker.Pool

	serving bool // until it is ended, not until a task ends
	workers int  // that the config asks for on this machine
	size    int  // that the pool was last told
	rounds  []round
	hooks   webhooks
	packing round // also made once at the beginning of work
	// configFor reads the config for tasks of a checkout.
	configFor func(ctx context.Context, project string) (office.Loaded, error)
	now       doings

	closers []func() error // in the order in which they were opened

	// life ends, with the reason, when the company cannot work any more: its
	// ledger failed. Whoever follows is told, instead of waiting for ever.
	life context.Context
	die  context.CancelCauseFunc
}

// openHouse opens the ledger and folds the state. Nothing is under way yet,
// and neither Docker nor a model is needed.
func openHouse(ctx context.Context, lock *office.Lock, off *office.Office, loaded office.Loaded, machine clock.Sources, log *slog.Logger) (_ *house, err error) {
	h := &house{office: off, loaded: loaded, lock: lock, log: log}
	officeTime := clock.New(machine)
	h.life, h.die = context.WithCancelCause(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			h.close()
		}
	}()
	h.proj = newProjector(h)
	log, closeLog, err := fileLog(off.LogsFolder, log, os.LookupEnv, func(err error) { h.proj.officeFile("logs/"+companyLog, err) })
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
		return nil, adviseOnDamage(off.Paths, err)
	}
	h.orch, err = orchestrator.Open(ctx, orchestrator.Config{
		Ledger: h.ledger, Clock: officeTime, Office: off.ID, Version: Version, Active: loaded.Config.Limits.ConcurrentTasks, Logger: log,
		Checks:  checksFor(loaded.ForHost(office.Host{Memory: hostMemory()}), hostMemory(), runtime.NumCPU()),
		Changed: h.proj.changed,
	})
	if err != nil {
		return nil, adviseOnDamage(off.Paths, err)
	}
	if len(off.Formerly) > 0 {
		if _, err := h.orch.Do(ctx, company.Company, company.TakeCopy{Office: off.ID, From: off.Formerly}); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// adviseOnDamage tells how to go on when the ledger cannot be read, where the
// error itself does not know.
func adviseOnDamage(p office.Paths, err error) error {
	var e *company.Error
	if !errors.As(err, &e) || e.Code != company.ELedger || e.Hint != "" {
		return err
	}
	return e.Fix(fmt.Sprintf("put a backup of %s back, or begin anew: mv %s %s.damaged (the branches and pull requests of the repository stay, and so does what was not merged yet, in %s.damaged/git)",
		p.State, quoted(p.State), quoted(p.State), p.State))
}

// close closes what is open, the last first.
func (h *house) close() {
	for i := len(h.closers) - 1; i >= 0; i-- {
		if err := h.closers[i](); err != nil {
			h.log.Warn("not closed cleanly", "err", err)
		}
	}
	h.closers = nil
	h.die(nil)
}

// View is the state at this moment.
func (h *house) View() *company.State { return h.orch.View() }

// Now is the office's time.
func (h *house) Now() time.Time { return h.orch.Now() }

// DoID decides a command.
func (h *house) DoID(ctx context.Context, id, actor string, c company.Command) ([]company.Event, error) {
	return h.orch.DoID(ctx, id, actor, c)
}

// staff opens what effects need (Docker, git, images, models) and registers
// who does which.
func (h *house) staff(ctx context.Context) (*worker.Pool, error) {
	cfg := h.loaded.Config
	cfg.Workers.Max = h.loaded.ForHost(office.Host{Memory: hostMemory()}).Workers.Max
	h.workers = cfg.Workers.Max
	rt, err := openRuntime(ctx, h.log)
	if err != nil {
		return nil, err
	}
	h.closers = append(h.closers, rt.Close, func() error { return sweepAtLast(ctx, rt, h.office.ID, h.log) })
	h.runtime = rt
	registries, err := h.openRegistries(ctx, cfg)
	if err != nil {
		return nil, err
	}
	images, err := image.New(image.Config{Logger: h.log, Seccomp: buildProfile(), Registries: registries.Open(), ByLogin: registries.ByLogin(), Progress: func(line string) {
		h.tell(orchestrator.Item{Kind: "image", Mark: orchestrator.Info, Text: safetext.EscapeLine(line, 300)})
	}})
	if err != nil {
		return nil, err
	}
	h.closers = append(h.closers, func() error { images.Close(); return nil })
	gitcfg, err := gitConfig(h.office.Paths, cfg, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	gitLog, err := h.office.LogsFolder.Append("git.log")
	if err != nil {
		return nil, company.E(company.EConfig, "the office's log of git cannot be written").Wrap(err).Fix("see that the folder is yours and has space")
	}
	oplog := gitops.NewOpLog(folder.Watch(gitLog, func(err error) { h.proj.officeFile("logs/git.log", err) }))
	h.closers = append(h.closers, oplog.Close)
	gitcfg.Log, gitcfg.Folder = oplog, h.office.GitFolder
	author := gitcfg.Author
	git, err := gitops.Open(gitcfg)
	if err != nil {
		return nil, err
	}
	models := adapters.NewModels(registry, profiles(h.loaded, h.office.Root, os.Getenv), modelDeps(cfg, h.log))
	h.closers = append(h.closers, models.Close)

	mirror := func(ctx context.Context, t *company.Task) (*gitops.Mirror, error) {
		return git.Mirror(ctx, t.Project.ID, t.Project.Path)
	}
	limits := h.limits(cfg)
	sizes := container.NewSizes(limits, h.mostMemory(cfg))
	sessions := &session.Office{
		Desk: h.orch, Ledger: h.ledger, Runs: h.office.RunsFolder, Now: h.Now, Logger: h.log, Activity: h.activity, Unwritten: h.proj.runFile,
		Model: func(role company.Role, wrap func(adapters.Model) adapters.Model) (adapters.Model, error) {
			return models.Open(cfg.Agent(role).Model, wrap)
		},
		Turns:   func(role company.Role) int { return cfg.Agent(role).MaxTurns },
		Persona: func(role company.Role) string { return cfg.Agent(role).Persona },
	}
	h.shop = &workbench.Shop{
		Runtime: rt, Git: git, Office: h.office.ID, Limits: limits, Sizes: sizes, Author: author, Signoff: cfg.Git.Signoff, Logger: h.log,
		CommandTimeout: cfg.Workers.CommandTimeout, StopGrace: none(cfg.Limits.StopGrace),
		Security: func(r workbench.Refusal) { h.refused(ctx, r) },
	}
	h.closers = append(h.closers, func() error { h.shop.Close(); return nil })
	keep := func(ctx context.Context, b []byte) (company.Hash, error) {
		hash, _, err := h.ledger.PutBlob(ctx, strings.NewReader(string(b)))
		return hash, err
	}
	runner := &gates.Runner{Runtime: rt, Office: h.office.ID, Limits: limits, Sizes: sizes, Timeout: cfg.Workers.RunTimeout, Canary: cfg.Gates.Canary, Keep: keep, Logger: h.log,
		Load: func(ctx context.Context, hash company.Hash) ([]byte, error) {
			return h.ledger.GetBlob(ctx, hash, 64<<20)
		}}
	checking := func(t company.TaskID, sub company.SubtaskID, check string) {
		h.tell(orchestrator.Item{Task: t, Subtask: sub, Kind: "gate", Mark: orchestrator.Started, Text: "gate " + check})
	}
	laborer := &worker.Worker{
		Sessions: sessions, Shop: h.shop, Mirror: mirror,
		Project: func(ctx context.Context, t *company.Task) (string, error) {
			m, err := mirror(ctx, t)
			if err != nil {
				return "", err
			}
			return manager.Advise(ctx, m, t)
		},
	}
	pool := worker.NewPool(h.bus.Queue(), h.orch, laborer, cfg.Workers.Max, h.log)
	secrets, err := setupEnv(cfg, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	forges := openForges(h.office.StateFolder, cfg, h.log, os.LookupEnv)
	intake := &manager.Intake{
		Branches: branchesAt(h.office.ID, forges),
		Desk:     h.orch, Mirror: mirror, Images: images, Base: cfg.Container.Image, Setup: cfg.Container.Setup, SetupEnv: secrets, Offline: cfg.Container.Deps == "off",
		Lint: given(cfg.Gates.Lint), Test: given(cfg.Gates.Test), Prefix: cfg.Git.IntegrationBranch, Log: oplog,
		Tell: func(t company.TaskID, note string) {
			h.tell(orchestrator.Item{Task: t, Kind: "image", Mark: orchestrator.Info, Text: safetext.EscapeLine(note, 300)})
		},
	}
	intakeOf := h.intakes(*intake, registries.May)
	goods, stock := h.supplies(registries), &manager.Stock{Intake: intakeOf, Stores: registries, Images: images}
	runner.Image, laborer.Supply, laborer.Image = stock.Image, goods, stock.Bench
	merge := &merger.Merger{Desk: h.orch, Runner: runner, Mirror: mirror, Author: author, Sessions: sessions, Shop: h.shop, Started: checking, Supply: goods, Image: stock.Bench}
	courier := &merger.Courier{Desk: h.orch, Mirror: mirror, Log: oplog, Secrets: leak.New(ownSecrets(cfg, os.LookupEnv), h.office.ID),
		Forge: forges.Of, Ask: forge.Ask{Labels: cfg.Forge.Labels, Draft: cfg.Forge.Draft, CodeOwners: cfg.Forge.Reviewers == "codeowners"},
		Keep: func(ctx context.Context, text string) (company.Hash, error) { return keep(ctx, []byte(text)) }}
	h.packing = h.packs(git)
	h.rounds = append(h.rounds, h.packing, h.tidying(git, images))
	called := make(chan struct{}, 1)
	h.hooks = webhooks{listen: cfg.Forge.WebhookListen, secret: forge.NewSecret(os.Getenv(cfg.Forge.WebhookEnv)), env: cfg.Forge.WebhookEnv, called: called}
	h.rounds = append(h.rounds, h.asking(cfg.Forge.Poll, called, listener(h.office.ID, h.office.Paths, h.loaded, forges)))
	judge := &gates.Effect{Desk: h.orch, Runner: runner, Mirror: mirror, Started: checking, RedGreen: cfg.Gates.RedGreen != "off"}
	for kind, do := range map[company.EffectKind]company.Doer{
		company.DoPrepare:   h.prepare(intakeOf),
		company.DoBaseline:  judge.Baseline,
		company.DoManage:    (&manager.Manager{Desk: h.orch, Sessions: sessions, Mirror: mirror}).Do,
		company.DoOffer:     pool.Offer,
		company.DoWork:      pool.Work,
		company.DoGate:      judge.Do,
		company.DoReview:    (&reviewer.Reviewer{Desk: h.orch, Sessions: sessions, Shop: h.shop, Mirror: mirror, Image: stock.Bench}).Do,
		company.DoTestMerge: merge.Test,
		company.DoMerge:     merge.Merge,
		company.DoResolve:   merge.Resolve,
		company.DoDeliver:   courier.Do,
	} {
		h.orch.Register(kind, do)
	}
	// What an earlier process left standing is swept before anything starts;
	// we hold the lock, so nobody else's containers carry this office's label.
	if err := sweep(ctx, rt, h.office.ID, keepNone, h.log); err != nil {
		return nil, err
	}
	h.tidy(ctx, git)
	return pool, nil
}

// intakes gives each task the intake that its project's own config asks for.
func (h *house) intakes(all manager.Intake, mayLogIn func(ctx context.Context, checkout string) bool) func(context.Context, *company.Task) (*manager.Intake, error) {
	return func(ctx context.Context, t *company.Task) (*manager.Intake, error) {
		loaded, err := h.configFor(ctx, t.Project.Path)
		if err == nil {
			err = loaded.Check()
		}
		var ce *company.Error
		if errors.As(err, &ce) {
			c := *ce
			c.Class = company.HumanRequired // no second try mends a file
			return nil, &c
		}
		if err != nil {
			return nil, err
		}
		in, cfg := all, loaded.Config
		in.Base, in.Setup, in.Offline = cfg.Container.Image, cfg.Container.Setup, cfg.Container.Deps == "off"
		in.Lint, in.Test = given(cfg.Gates.Lint), given(cfg.Gates.Test)
		in.Paths, in.Logins = t.Settings.Paths, mayLogIn(ctx, t.Project.Path)
		return &in, nil
	}
}

// prepare does intakes.
func (h *house) prepare(intakeOf func(context.Context, *company.Task) (*manager.Intake, error)) company.Doer {
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

// work keeps the company working until ctx ends.
func (h *house) work(ctx context.Context, pool *worker.Pool) error {
	var wg sync.WaitGroup
	wctx, cancel := context.WithCancel(ctx)
	wg.Go(func() { _ = pool.Run(wctx) })
	wg.Go(func() { h.proj.run(wctx) })
	wg.Go(func() {
		sweepOlder(wctx, h.runtime, h.office.ID, func() uint64 { return h.View().Office.Epoch }, sweepAgainAfter, h.log)
	})
	if h.packing.do != nil {
		wg.Go(func() { h.packing.once(wctx, h.log) })
	}
	if h.serving {
		if err := h.hooks.serve(wctx, &wg, h.tell); err != nil {
			cancel()
			wg.Wait()
			return err
		}
		for _, r := range h.rounds {
			wg.Go(func() { r.again(wctx, func() bool { return h.View().Office.Stopped }, h.tell) })
		}
	}
	err := h.orch.Run(ctx)
	cancel()
	wg.Wait()
	return err
}

// keepWarm has containers of the newest open task's image ready, and none when
// nothing is to be done.
func (h *house) keepWarm() {
	s := h.View()
	for i := len(s.Open) - 1; i >= 0 && !s.Office.Stopped; i-- {
		if t := s.Tasks[s.Open[i]]; t.Prepared != nil && !t.Paused && !t.DryRun {
			h.shop.Warm(t.Prepared.Image, s.Office.Epoch, h.loaded.Config.Workers.Warm)
			return
		}
	}
	h.shop.Warm("", s.Office.Epoch, 0)
}

func (h *house) limits(c office.Config) container.Limits {
	return container.Limits{
		MemoryBytes: int64(c.Workers.Memory), CPUs: min(c.Workers.CPUs, float64(runtime.NumCPU())),
		Pids: int64(c.Workers.PIDs), DiskBytes: int64(max(0, c.Workers.Disk)),
	}
}

// mostMemory is what a container may grow to: three quarters of the host's
// memory, but where the config says how much a container gets.
func (h *house) mostMemory(c office.Config) int64 {
	if h.loaded.Origin["workers.memory"] != office.OriginDefault {
		return int64(c.Workers.Memory)
	}
	return int64(hostMemory()) / 4 * 3
}

// settings are the parts of the config that decisions depend on.
func settings(c office.Config) company.Settings {
	return company.Settings{
		Cap: c.Cap(len(unpriced(c)) == 0), Plan: company.Mode(c.Approvals.Plan), Merge: company.Mode(c.Approvals.Merge), PR: company.Mode(c.Approvals.PR), Deps: company.Mode(c.Approvals.Deps),
		Paths: c.Git.Paths, NoGates: c.Gates.None, Protected: c.Gates.Protected, ProtectTests: c.Gates.ProtectTests, IntegrationPrefix: c.Git.IntegrationBranch,
		RunTimeout: c.Workers.RunTimeout, ModelWait: none(c.Limits.ModelWait), Continuations: none(c.Limits.Continuations),
	}
}

// none says 0 in the words of the core, where a zero stands for the default.
func none[T int | time.Duration](n T) T {
	if n == 0 {
		return -1
	}
	return n
}

// checksFor is how many gates may run at once: what the host's memory leaves
// beside the workers, at most one for each processor, and one in any case.
func checksFor(c office.Config, memory office.Size, cpus int) int {
	if memory <= 0 || c.Workers.Memory <= 0 {
		return 0
	}
	left := int(memory/c.Workers.Memory) - c.Workers.Max
	return max(1, min(left, cpus))
}

// hostMemory is what this machine has, in bytes; 0 where that is not known.
func hostMemory() office.Size {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	var kib int64
	if _, err := fmt.Sscanf(string(text), "MemTotal: %d kB", &kib); err != nil {
		return 0
	}
	return office.Size(kib << 10)
}

// projectOf names the project of a checkout.
func projectOf(path string) company.Project {
	sum := sha256.Sum256([]byte(path))
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(filepath.Base(path)))
	return company.Project{ID: strings.Trim(name, "-") + "-" + hex.EncodeToString(sum[:4]), Path: path}
}

func given(c office.Command) gates.Given {
	switch c.Mode {
	case office.Auto:
		return gates.Auto
	case office.None:
		return gates.None
	}
	if c.Argv != nil {
		return gates.Argv(c.Argv)
	}
	return gates.Given(c.Line)
}

// authorOf reads git.author: Name <mail>.
func authorOf(s string) (gitops.Person, error) {
	if s == "" {
		return gitops.Person{Name: "company", Email: "company@localhost"}, nil
	}
	name, mail, ok := strings.Cut(s, "<")
	if !ok {
		return gitops.Person{}, company.E(company.EConfig, "git.author is Name <mail>")
	}
	return gitops.Person{Name: strings.TrimSpace(name), Email: strings.TrimSuffix(strings.TrimSpace(mail), ">")}, nil
}

// ended says that a feed was cut by the end of the other process.
func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
