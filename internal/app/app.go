package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"company/internal/api"
	"company/internal/bus"
	"company/internal/clock"
	"company/internal/company"
	"company/internal/config"
	"company/internal/container"
	"company/internal/dispatch"
	"company/internal/feed"
	"company/internal/gitops"
	"company/internal/ledger"
	"company/internal/marks"
	"company/internal/notify"
	"company/internal/office"
	"company/internal/orchestrator"
	"company/internal/projection"
	"company/internal/sandbox"
	"company/internal/shell"
	"company/internal/upkeep"
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

	marks     *marks.Book
	bus       bus.Bus
	ledger    *ledger.Ledger
	orch      *orchestrator.Orchestrator
	hub       *feed.Hub
	projector *projection.Projector
	keeper    *upkeep.Keeper
	verifier  *upkeep.Verifier
	git       *gitops.Store // nil until it works
	sandboxes *sandbox.Factory
	runtime   container.Runtime
	pool      *dispatch.Pool

	serving       bool // until it is ended, not until a task ends
	configWorkers int  // that the config asks for on this machine
	poolSize      int  // that the pool has now
	containers    int  // that memory holds beside those of gates; 0: not known
	jobs          []upkeep.Job
	webhooks      upkeep.Webhooks
	repackJob     upkeep.Job // also made once at the beginning of work
	archiveJob    upkeep.Job // as that
	imagesJob     upkeep.Job // whether the office is served or not
	imagesDue     chan struct{}
	imagesAtWork  []string // of tasks, when imagesJob was last called for
	configs       ConfigSource
	lines         LineWriter // or nil: then no line of the config is written
	desk          api.Desk
	bell          io.Writer   // a terminal, or nil
	notices       notify.Loop // to the president
	stage         *stage      // of a replay
	activities    activityLog
	outputs       liveOutputs

	server   *api.Server  // once it works
	address  string       // of the server, for browsers; empty: it has none
	stopWork func() error // what start began
	unended  bool         // something has not returned when the work was stopped
	// stacksFiles counts the files of stacks, whose names may have one second.
	stacksFiles atomic.Int64
	// stopPatience is how long a stop waits; 0: stopPatience. Tests set it.
	stopPatience time.Duration
	closers      []func() error // in the order in which they were opened

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
	Lines   LineWriter // of the config, or nil: then no question offers to write one
	Desk    api.Desk   // of its API; nil without one
	Bell    io.Writer  // the terminal whose bell notices ring, or nil
	Env     func(string) (string, bool)
	Clocks  clock.Sources // of the machine
	Version string        // of the program
	Logger  *slog.Logger

	stage *stage
}

// Open opens the ledger and folds the state. Nothing is under way yet,
// and neither Docker nor a model is needed.
func Open(ctx context.Context, o Options) (_ *App, err error) {
	off, loaded, log := o.Office, o.Config, o.Logger
	a := &App{office: off, desk: o.Desk, bell: o.Bell, loaded: loaded, lock: o.Lock, env: o.Env, version: o.Version, configs: o.Configs, lines: o.Lines, stage: o.stage, log: log}
	a.imagesDue = make(chan struct{}, 1)
	a.imagesDue <- struct{}{} // one round at the beginning of work
	officeTime := clock.New(o.Clocks)
	a.lifetime, a.fail = context.WithCancelCause(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			a.closeParts()
			err = errors.Join(err, a.lock.Release(), off.Close())
		}
	}()
	a.projector = projection.New(off)
	log, closeLog, err := newFileLog(off.LogsFolder, log, loaded.Config.Log, ownSecrets(loaded.Config, o.Env), func(err error) { a.projector.NoteOfficeFile("logs/"+companyLog, err) })
	if err != nil {
		return nil, err
	}
	a.log = log
	a.closers = append(a.closers, closeLog)
	a.marks = marks.Open(off.StateFolder, log)
	a.closers = append(a.closers, a.marks.Close)
	if a.bus, err = openBus(ctx, off, loaded.Config, log); err != nil {
		return nil, addDamageHint(off.Paths, err)
	}
	a.closers = append(a.closers, a.bus.Close)
	a.ledger, err = ledger.Open(ctx, a.bus, ledger.Options{Folder: off.StateFolder, Logger: log, Clock: officeTime.Now})
	if err != nil {
		return nil, addDamageHint(off.Paths, err)
	}
	if err := a.stage.seedLedger(ctx, a.ledger); err != nil {
		return nil, err
	}
	host, memory, cpus := loaded.ForHost(config.HostResources{Memory: HostMemory()}), HostMemory(), runtime.NumCPU()
	a.containers = containersBesideGates(host, memory, cpus)
	a.orch, err = orchestrator.Open(ctx, orchestrator.Config{
		Ledger: a.ledger, Clock: officeTime, Office: a.ledgerID(), Pacer: a.stage.orderCommands(), Version: o.Version, Active: loaded.Config.Limits.ConcurrentTasks, Caps: new(loaded.Config.OfficeCaps()), Agents: ListAgentModels(loaded, a.envValue), Logger: log,
		Checks: a.stage.gatesAtOnce(maxParallelGates(host, memory, cpus)), Containers: a.stage.containersAtOnce(a.containers),
		Readers: loaded.Config.Limits.Readers, Writers: loaded.Config.Limits.Writers,
		Projection: announcer{a}, OnLate: a.reportLate, Marks: a.marks, Lines: a,
	})
	if err != nil {
		return nil, addCrashHint(off.Paths, addDamageHint(off.Paths, err))
	}
	a.hub = feed.NewHub(a.orch.View().Seq)
	a.projector.Connect(a.orch, a.ledger, log)
	a.keeper = &upkeep.Keeper{Office: off, State: a.orch, Ledger: a.ledger, RetentionDays: loaded.Config.RetentionDays, KeepImages: loaded.Config.Container.KeepImages, Remote: loaded.Config.Git.Remote, Logger: log, Marks: a.marks}
	a.verifier = &upkeep.Verifier{Ledger: a.ledger, State: a.orch, Office: off, Feed: announcer{a}, Logger: log}
	if len(off.CopiedFrom) > 0 {
		if _, err := a.orch.Do(ctx, company.Company, company.AdoptCopy{Office: off.ID, From: off.CopiedFrom}); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// addDamageHint tells how to go on when the ledger cannot be read, where the
// error itself does not know.
func addDamageHint(p office.Paths, err error) error {
	var e *company.Error
	if !errors.As(err, &e) || e.Code != company.ELedger || e.Hint != "" {
		return err
	}
	return e.Fix("company bus repair; where it refuses, " + restoreHint(p))
}

// addCrashHint tells how to go on when the ledger is not read any more, since the company died of it again and again.
func addCrashHint(p office.Paths, err error) error {
	var e *company.Error
	if !errors.As(err, &e) || e.Code != company.ECrash {
		return err
	}
	return e.Fix(fmt.Sprintf("report it with the last lines of %s; after an update, rm %s tries once more; else %s",
		filepath.Join(p.Logs, companyLog), shell.Quote(filepath.Join(p.State, marks.DeathsFile)), restoreHint(p)))
}

// restoreHint names the remaining way where the records of an office cannot be repaired.
func restoreHint(p office.Paths) string {
	return fmt.Sprintf("%s, or begin anew: mv %s %s.damaged (the branches and pull requests of the repository stay, and so does what was not merged yet, in %s.damaged/git)",
		company.PutCopyBack(p.State), shell.Quote(p.State), shell.Quote(p.State), p.State)
}

// closeParts closes the open parts, the last one first.
func (a *App) closeParts() {
	for i := len(a.closers) - 1; i >= 0; i-- {
		if err := a.closers[i](); err != nil {
			a.log.Warn("not closed cleanly", "err", err)
		}
	}
	a.closers = nil
	a.fail(nil)
}

// envValue is a variable of the environment; empty where it is not set.
func (a *App) envValue(name string) string {
	v, _ := a.env(name)
	return v
}

// ID is the id of the office.
func (a *App) ID() string { return a.office.ID }

// View is the state at this moment.
func (a *App) View() *company.State { return a.orch.View() }

// Now is the office's time.
func (a *App) Now() time.Time { return a.orch.Now() }

// DoID decides a command. A task that it begins or reopens gets the agents of the config, unless the
// command names some.
func (a *App) DoID(ctx context.Context, id, actor string, c company.Command) ([]company.Event, error) {
	c, err := a.bindCommand(ctx, c)
	if err == nil {
		err = a.writeAnsweredLine(ctx, c)
	}
	if err == nil {
		c, err = a.storeAttachments(ctx, c)
	}
	if err != nil {
		return nil, err
	}
	a.noteAgents(ctx, c)
	evs, err := a.orch.DoID(ctx, id, actor, c)
	if err == nil && a.server == nil {
		a.settleRuns(ctx)
	}
	return evs, err
}

// Close closes the office and lets others in.
//
// Where a stop did not wait for something, the lock stays until the process ends: what
// goes on may still write.
func (a *App) Close() {
	if a.unended {
		a.closeWithin(closePatience)
		return
	}
	if a.projector.IsConnected() {
		a.projector.FlushPending(a.lifetime) // decisions that were made without a company at work
	}
	a.closeParts()
	if err := a.lock.Release(); err != nil {
		a.log.Warn("lock not released", "err", err)
	}
	_ = a.office.Close()
}
