package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"company/internal/agentrun/sandbox"
	"company/internal/api"
	"company/internal/bus"
	"company/internal/company"
	"company/internal/container"
	"company/internal/engine/dispatch"
	"company/internal/engine/orchestrator"
	"company/internal/gitops"
	"company/internal/ledger"
	"company/internal/ledger/crashes"
	"company/internal/lib/clock"
	"company/internal/lib/secretscan"
	"company/internal/lib/shellquote"
	"company/internal/office"
	"company/internal/office/config"
	"company/internal/present/feed"
	"company/internal/upkeep"
	"company/internal/upkeep/notify"
	"company/internal/upkeep/projection"
)

// App is an office with its lock held by this process. It has the ledger, the state and, once work
// has started, the parts with effects.
type App struct {
	office  *office.Office
	loaded  config.Loaded
	lock    *office.Lock
	env     func(string) (string, bool)
	version string
	log     *slog.Logger

	crashes   *crashes.Tally
	bus       bus.Bus
	ledger    *ledger.Ledger
	orch      *orchestrator.Orchestrator
	hub       *feed.Hub
	projector *projection.Projector
	keeper    *upkeep.Keeper
	verifier  *upkeep.Verifier
	git       *gitops.Store // nil until work starts
	sandboxes *sandbox.Factory
	runtime   container.Runtime
	pool      *dispatch.Pool

	kind          Kind
	fault         error // why the config did not load, or nil
	setup         string
	configWorkers int // number of workers in the config for this machine
	poolSize      int // current size of the pool
	containers    int // number of containers besides those of gates that fit in memory, 0 if unknown
	jobs          []upkeep.Job
	webhooks      upkeep.Webhooks
	repackJob     upkeep.Job // also runs once when work starts
	archiveJob    upkeep.Job // like repackJob
	imagesJob     upkeep.Job // runs with or without serving
	imagesDue     chan struct{}
	imagesAtWork  []string // images of tasks when imagesJob was last triggered
	configs       ConfigSource
	lines         LineWriter // may be nil, and then no config line is written
	desk          api.Desk
	notices       notify.Loop // notifies the president
	stage         *stage      // set in a replay
	secrets       *secretscan.Scanner
	activities    activityLog
	interrupted   interruptedRuns
	outputs       liveOutputs

	server  *api.Server // set by Serve
	address string      // address of the server for browsers, empty if it has none

	serverEnds atomic.Bool // the server was stopped

	starting   sync.Mutex      // held while work starts, and for what may only be done before
	atWork     atomic.Bool     // work has started, and was not stopped
	working    context.Context // of the work; ended by cancelWork
	cancelWork context.CancelFunc
	worked     chan struct{} // closed when the work has returned; nil before it has started
	failed     error         // of the work; read it after worked
	unended    bool          // a part had not returned when work was stopped

	endOnce sync.Once
	ended   chan struct{} // closed by RequestEnd
	// stacksFiles counts the stack files, because two may be created in the same second.
	stacksFiles atomic.Int64
	// stopPatience limits how long a stop waits. Zero means the constant stopPatience. Tests set it.
	stopPatience time.Duration
	closers      []func() error // in the order of opening

	// lifetime ends with the cause when the company fails because of its ledger. Followers get the
	// cause instead of waiting forever.
	lifetime context.Context
	fail     context.CancelCauseFunc
}

// Kind is the kind of a process that holds an office. It decides how the process ends.
type Kind int

const (
	Background Kind = iota // ends on request, or when it is no longer used
	Foreground             // ends with the command that opened the office, and works for it
	Passing                // the same for a command that does no work
	Serving                // company serve, which runs until it is stopped; it has the page and the jobs
)

// ConfigSource reads the config for tasks of a checkout.
type ConfigSource interface {
	ConfigFor(ctx context.Context, project string) (config.Loaded, error)
}

// Options holds the parameters of Open.
type Options struct {
	Office  *office.Office // closed with the app, or if Open fails
	Lock    *office.Lock   // released with Office
	Config  config.Loaded
	Configs ConfigSource
	Lines   LineWriter // writes config lines; if nil, no question offers to write one
	Desk    api.Desk   // for the API; may be nil
	Kind    Kind
	Fault   error  // why the config did not load; the office then refuses commands and work
	Setup   string // hash of the program, the config and the environment, for clients
	Env     func(string) (string, bool)
	Clocks  clock.Sources // clocks of the machine
	Version string        // version of the program
	Logger  *slog.Logger

	stage *stage
}

// Open opens the ledger and computes the state. It starts no work, and needs neither Docker nor a
// model.
func Open(ctx context.Context, options Options) (_ *App, err error) {
	off := options.Office
	loaded := options.Config
	log := options.Logger
	app := &App{office: off, desk: options.Desk, kind: options.Kind, fault: options.Fault, setup: options.Setup,
		loaded: loaded, lock: options.Lock, env: options.Env, version: options.Version,
		configs: options.Configs, lines: options.Lines, stage: options.stage, log: log, ended: make(chan struct{})}
	app.imagesDue = make(chan struct{}, 1)
	app.imagesDue <- struct{}{} // one round when work starts
	officeTime := clock.New(options.Clocks)
	app.lifetime, app.fail = context.WithCancelCause(context.WithoutCancel(ctx))
	app.working, app.cancelWork = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			app.closeParts()
			err = errors.Join(err, app.lock.Release(), off.Close())
		}
	}()
	app.projector = projection.New(off)
	app.secrets = secretscan.New(maskedSecrets(loaded.Config, options.Env), off.ID)
	log, closeLog, err := newFileLog(
		off.LogsFolder, log, loaded.Config.Log, app.secrets, func(err error) {
			app.projector.NoteOfficeFile("logs/"+companyLog, err)
		})
	if err != nil {
		return nil, err
	}
	app.log = log
	app.closers = append(app.closers, closeLog)
	app.crashes = crashes.Open(off.StateFolder, log)
	app.closers = append(app.closers, app.crashes.Close)
	if options.Fault == nil { // otherwise the config has only defaults, and the recorded folder is used
		if err := off.SettleBusFolder(loaded.Config.Bus.Path, busRecords()); err != nil {
			return nil, err
		}
	}
	if app.bus, err = openBus(ctx, off, loaded.Config, log); err != nil {
		return nil, addDamageHint(off.Paths, err)
	}
	app.closers = append(app.closers, app.bus.Close)
	app.ledger, err = ledger.Open(
		ctx, app.bus, ledger.Options{Folder: off.StateFolder, Logger: log, Clock: officeTime.Now})
	if err != nil {
		return nil, addDamageHint(off.Paths, err)
	}
	if err := app.stage.seedLedger(ctx, app.ledger); err != nil {
		return nil, err
	}
	host := loaded.ForHost(config.HostResources{Memory: HostMemory()})
	memory := HostMemory()
	cpus := runtime.NumCPU()
	app.containers = containersBesideGates(host, memory, cpus)
	app.orch, err = orchestrator.Open(ctx, orchestrator.Config{
		Ledger: app.ledger, Clock: officeTime, Office: app.ledgerID(), Pacer: app.stage.orderCommands(),
		Version: options.Version,
		Active:  loaded.Config.Limits.ConcurrentTasks, Caps: new(loaded.Config.OfficeCaps()),
		Agents: ListAgentModels(loaded, app.envValue), Logger: log,
		Checks:     app.stage.gatesAtOnce(maxParallelGates(host, memory, cpus)),
		Containers: app.stage.containersAtOnce(app.containers),
		Readers:    loaded.Config.Limits.Readers, Writers: loaded.Config.Limits.Writers,
		Projection: announcer{app}, OnLate: app.reportLate, OnHold: app.reportHold, Crashes: app.crashes, Lines: app,
		Secrets: app.secrets, Takeover: options.Lock.Takeover(),
	})
	if err != nil {
		return nil, addCrashHint(off.Paths, addDamageHint(off.Paths, err))
	}
	app.hub = feed.NewHub(app.orch.View().Seq)
	app.projector.Connect(app.orch, app.ledger, app.secrets, log)
	app.keeper = &upkeep.Keeper{Office: off, State: app.orch, Ledger: app.ledger,
		RetentionDays: loaded.Config.RetentionDays,
		KeepImages:    loaded.Config.Container.KeepImages, Remote: loaded.Config.Git.Remote, Logger: log,
		Crashes: app.crashes}
	app.verifier = &upkeep.Verifier{Ledger: app.ledger, State: app.orch, Office: off}
	return app, nil
}

// addDamageHint adds a fix to an error of a damaged ledger that has none.
func addDamageHint(paths office.Paths, err error) error {
	var fault *company.Error
	if !errors.As(err, &fault) || fault.Code != company.ELedger || fault.Hint != "" {
		return err
	}
	return fault.Fix(restoreHint(paths))
}

// addCrashHint adds a fix to the error for a ledger that is not opened because it crashed the
// company repeatedly.
func addCrashHint(paths office.Paths, err error) error {
	var fault *company.Error
	if !errors.As(err, &fault) || fault.Code != company.ECrash {
		return err
	}
	return fault.Fix(fmt.Sprintf("report it with the last lines of %s; start again after an update; else %s",
		filepath.Join(paths.Logs, companyLog), restoreHint(paths)))
}

// restoreHint returns the ways out if the records of an office cannot be read.
func restoreHint(paths office.Paths) string {
	return fmt.Sprintf("%s, or start again: mv %s %s.damaged (the branches and pull requests of the repository stay, and "+
		"so does what was not merged yet, in %s.damaged/git)",
		company.PutCopyBack(paths.State), shellquote.Quote(paths.State), shellquote.Quote(paths.State), paths.State)
}

// closeParts closes the open parts in reverse order.
func (a *App) closeParts() {
	a.closeSince(0)
	a.fail(nil)
}

// closeSince closes the parts that were opened after the first n, in reverse order.
func (a *App) closeSince(n int) {
	for i := len(a.closers) - 1; i >= n; i-- {
		if err := a.closers[i](); err != nil {
			a.log.Warn("not closed cleanly", "err", err)
		}
	}
	a.closers = a.closers[:n]
}

// envValue returns the value of an environment variable, or "" if it is not set.
func (a *App) envValue(name string) string {
	v, _ := a.env(name)
	return v
}

// ID returns the id of the office.
func (a *App) ID() string { return a.office.ID }

// Fault returns why the config did not load, or nil.
func (a *App) Fault() error { return a.fault }

// View returns the current state.
func (a *App) View() *company.State { return a.orch.View() }

// Now returns the office's time.
func (a *App) Now() time.Time { return a.orch.Now() }

// DoID runs a command. A task that it creates or reopens gets the agents of the config, unless the
// command names agents.
func (a *App) DoID(ctx context.Context, id, actor string, command company.Command) ([]company.Event, error) {
	if a.fault != nil {
		return nil, a.fault
	}
	command, err := a.bindCommand(ctx, command)
	if err == nil {
		err = a.writeAnsweredLine(ctx, command)
	}
	if err == nil {
		command, err = a.storeAttachments(ctx, command)
	}
	if err != nil {
		return nil, err
	}
	a.noteAgents(ctx, command)
	evs, err := a.orch.DoID(ctx, id, actor, command)
	if err == nil {
		a.settleRuns(ctx)
	}
	return evs, err
}

// Close stops the server and the work, closes the office and releases its lock. It returns the error
// of Stop.
//
// If a stop timed out, the lock stays held until the process ends, because the remaining work may
// still write.
func (a *App) Close() error {
	err := a.End()
	if err != nil {
		a.log.Error("the work ended with an error", "err", err)
	}
	if a.unended {
		a.closeWithin(closePatience)
		return err
	}
	if a.projector.IsConnected() {
		a.projector.FlushPending(a.lifetime) // decisions made without a running company
	}
	a.closeParts()
	if err := a.lock.Release(); err != nil {
		a.log.Warn("lock not released", "err", err)
	}
	_ = a.office.Close()
	return err
}
