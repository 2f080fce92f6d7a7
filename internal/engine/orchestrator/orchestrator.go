// Package orchestrator runs the company's main loop. It keeps the state, has commands decided, appends their events
// to the ledger, and keeps exactly the due effects running.
//
// It is the only writer of the ledger. Commands that arrive while an append is being synced are decided one after the
// other, each on the state that its predecessors will leave. They share the next append (commit.go). The package
// guarantees that an event is synced before it has any effect, is seen or is answered. It cancels an effect whose key
// is no longer due, and everything it started has ended when Run returns. It does not know how an effect is carried
// out: one handler is registered per kind.
package orchestrator

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"company/internal/company"
	"company/internal/ledger"
	"company/internal/ledger/crashes"
	"company/internal/lib/clock"
	"company/internal/lib/secretscan"
)

// Cancellation causes of a handler's context.
var (
	ErrNotDue   = errors.New("orchestrator: the effect is no longer due")
	ErrShutdown = errors.New("orchestrator: shutting down")
	ErrStopped  = fmt.Errorf("%w: the office is being stopped", ErrNotDue)
)

// Config holds the dependencies and settings of an orchestrator.
type Config struct {
	Ledger  *ledger.Ledger
	Office  string // the office's id
	Version string
	Active  int // maximum number of tasks that work at once; 4 if 0
	// Caps apply to all tasks together from the next Start on. Nil keeps the previous caps.
	Caps *company.OfficeCaps `part:"optional"`
	// Agents are the configured models, recorded at the next Start. If empty, the models are unknown.
	Agents []company.AgentModels `part:"optional"`
	// Checks limits how many gates run at once, over all tasks. Each has a container beside those of the workers. 0
	// means as many as there are workers.
	Checks int
	// Containers is how many containers of workers and tree-reading agents fit into the host's memory beside those of
	// gates. Agents that read a tree get the capacity that workers leave, but always at least one container. 0 means no
	// limit by memory.
	Containers int
	// Readers limits how many managers and reviewers work at once, over all tasks. 0 means no limit. An agent that waits
	// for a person does not count.
	Readers int
	// Writers limits how many workers and mergers work at once in one project, from the next Start on. 0 means as many
	// as there are workers.
	Writers int
	// Pacer orders the commands. A nil Pacer decides each command as it arrives.
	Pacer  Pacer `part:"optional"`
	Logger *slog.Logger
	// Clock is the office's time. It is advanced to the ledger's last event. A nil Clock means a new clock of this
	// machine.
	Clock      *clock.Clock
	Projection Projection `part:"optional"`
	// Crashes knows during which work earlier processes died. A nil Crashes means that no such work is known.
	Crashes *crashes.Tally `part:"optional"`
	// Takeover describes the process from which the office was taken over. Nil means that it was free.
	Takeover *company.Takeover `part:"optional"`
	// SnapshotEvery is the minimum number of events between two snapshots. 0 means 1000. In a long ledger the interval
	// is a tenth of its events.
	SnapshotEvery int
	// BusPatience is how long an append is retried while the bus does not answer. 0 means one minute. After that, the
	// office ends.
	BusPatience time.Duration
	// LatePatience is how long an effect may take to return after its context has ended. 0 means 30 seconds.
	LatePatience time.Duration
	// Secrets finds what the ledger does not get. If it is nil, the office has no secrets of its own.
	Secrets *secretscan.Scanner `part:"optional"`
	// Lines finds the config lines that errors name. If nil, no question offers to write one.
	Lines LinePlacer `part:"optional"`
	// OnHold is called when work of a task begins to wait, with the reason, and when a task that waited for its turn
	// begins, without one. It is not called for what waits when the office opens. It must be quick.
	OnHold func(id company.TaskID, hold *company.Hold) `part:"optional"`
	// OnLate is called once when an effect exceeds LatePatience, and again when it returns.
	OnLate func(LateEffect) `part:"optional"`
}

// LinePlacer finds the config file that a line for a task belongs in.
type LinePlacer interface {
	// PlaceLine returns the line with its file, or nil if it cannot be written.
	PlaceLine(ctx context.Context, t company.TaskID, l company.ConfigLine) *company.ConfigLine
}

// Projection is derived from the events.
type Projection interface {
	// MarkChanged receives every event, in order and after its append, with the task as it is after the event. The task
	// is nil for events of the office. MarkChanged must be quick.
	MarkChanged(e company.Event, t *company.Task)
}

// Pacer decides when commands are decided and which time their events carry. A replay uses it to restore the order of
// a record.
type Pacer interface {
	// Pace waits for the command's turn and has commit decide it, or another command in its place. at is the time of the
	// events; zero means the office's time. view returns the state that commit decides on, as long as no other commit is
	// running. Pace returns commit's result, or an error that prevents the decision.
	Pace(ctx context.Context, actor string, c company.Command, view func() *company.State,
		commit func(c company.Command, at time.Time) ([]company.Event, error)) ([]company.Event, error)
}

// Orchestrator runs one office.
type Orchestrator struct {
	cfg   Config
	token string // makes command ids of this process unique

	commands atomic.Uint64 // number of command ids made here

	mu         sync.Mutex // guards the fields below; never held during slow work
	queue      []*request // not yet taken, oldest first
	committing bool       // the committer is running
	failed     error      // the error of a failed append; no command may be decided after it

	ahead      *company.State // includes events that are not stored yet; used by the committer only
	current    atomic.Pointer[publishedView]
	publishing sync.Mutex              // guards changed, and keeps it consistent with a new view; held briefly
	changed    map[company.TaskID]bool // tasks with events that the loop has not processed yet

	archives archiveCache

	agenda company.Agenda     // the due effects; used by the loop only
	holds  heldWork           // what was passed to OnHold; used by the loop only
	open   context.Context    // ends when the loop is asked to stop
	leave  context.CancelFunc // cancels open

	snapSeq uint64 // number of the newest snapshot; used by the loop only

	worked time.Time // the last known working time of the previous process; used by Open and Start

	cutting sync.Mutex // guards the fields below; never held during slow work
	halted  bool       // a stop is being written to the ledger: no effect is started
	under   context.Context
	cutOff  context.CancelCauseFunc // cancels all running effects

	handlers map[company.EffectKind]company.EffectHandler
	wake     chan struct{} // of capacity 1: signals a change
	jobs     map[string]*job
	done     chan string // keys of jobs that have ended
	ending   sync.Map    // a LateEffect by key for each effect that has not returned although its context has ended

	waiting []company.Effect // buffer for a list of one pass
	called  map[string]bool  // the keys that are due in one pass
}

// Open folds the ledger into the state. From then on, commands of people may be decided. No effect runs before Start
// and Run.
func Open(ctx context.Context, cfg Config) (*Orchestrator, error) {
	if cfg.Active == 0 {
		cfg.Active = 4
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.New(clock.Machine())
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.BusPatience == 0 {
		cfg.BusPatience = busPatience
	}
	if cfg.LatePatience == 0 {
		cfg.LatePatience = LatePatience
	}
	if cfg.SnapshotEvery == 0 {
		cfg.SnapshotEvery = 1000
	}
	if err := errors.Join(company.CheckParts(cfg), checkLimits(company.EffectKinds()...)); err != nil {
		return nil, err
	}
	var tok [8]byte
	if _, err := rand.Read(tok[:]); err != nil {
		return nil, err
	}
	orchestrator := &Orchestrator{
		cfg: cfg, token: hex.EncodeToString(tok[:]), ahead: company.NewState(), changed: map[company.TaskID]bool{},
		wake: make(chan struct{}, 1), jobs: map[string]*job{}, handlers: map[company.EffectKind]company.EffectHandler{},
		done: make(chan string), called: map[string]bool{},
	}
	if err := orchestrator.load(ctx); err != nil {
		return nil, err
	}
	orchestrator.open, orchestrator.leave = context.WithCancel(context.WithoutCancel(ctx))
	return orchestrator, nil
}

// Register sets the handler for a kind of effect. It must be called before Run.
func (o *Orchestrator) Register(k company.EffectKind, h company.EffectHandler) { o.handlers[k] = h }

// Start begins a new epoch with the given number of workers; 0 means unknown. It voids the claims of earlier
// processes. The caller must hold the office's lock and then call Run.
func (o *Orchestrator) Start(ctx context.Context, workers int) error {
	start := company.StartOffice{Office: o.cfg.Office, Version: o.cfg.Version, Workers: workers, Writers: o.cfg.Writers,
		LastWorked: o.worked, Agents: o.cfg.Agents, Takeover: o.cfg.Takeover}
	if ahead := o.Ahead(); ahead.Abs() >= time.Second {
		start.Wall = o.Now().Add(-ahead).Truncate(time.Second)
	}
	_, err := o.Do(ctx, company.Company, start)
	if err == nil && o.cfg.Caps != nil {
		_, err = o.Do(ctx, company.Company, company.SetOfficeCaps{Caps: *o.cfg.Caps})
	}
	return err
}

// load rebuilds the state from the newest snapshot that fits the chain and the events after it.
func (o *Orchestrator) load(ctx context.Context) error {
	leave, err := o.cfg.Crashes.Enter("reading the ledger", "")
	if err != nil {
		return err
	}
	defer leave()
	if err := o.loadSnapshot(ctx); err != nil {
		return err
	}
	o.worked = o.ahead.Time
	err = o.cfg.Ledger.Read(ctx, o.ahead.Seq+1, func(event company.Event) error {
		if event.Actor != company.President { // the president's commands do not show that the company was running
			o.worked = event.Time
		}
		return company.Apply(o.ahead, event)
	})
	if err != nil {
		return err
	}
	o.publishView(o.ahead.View(), o.cfg.Ledger.Head(), nil)
	o.advanceClock(ctx)
	return nil
}

// advanceClock advances the clock to the newest time that the office has recorded, in its ledger or in the journals
// of unfinished runs.
func (o *Orchestrator) advanceClock(ctx context.Context) {
	o.cfg.Clock.NotBefore(o.ahead.Time)
	for _, id := range o.ahead.Open {
		for run, r := range o.ahead.Tasks[id].Runs {
			if r.Ended {
				continue
			}
			at, err := o.cfg.Ledger.LastRecorded(ctx, run)
			if err != nil {
				// The run's next holder reports it.
				o.cfg.Logger.WarnContext(ctx, "time of a journal not read", "run_id", run, "err", err)
				continue
			}
			o.cfg.Clock.NotBefore(at)
			if at.After(o.worked) {
				o.worked = at
			}
		}
	}
}

// publishedView holds the state as of the newest stored event.
type publishedView struct {
	state *company.State
	at    ledger.Head // that event
}

// publishView publishes a state to all readers, and marks the tasks of its events as changed for the loop.
func (o *Orchestrator) publishView(state *company.State, at ledger.Head, events []appliedEvent) {
	o.publishing.Lock()
	defer o.publishing.Unlock()
	o.current.Store(&publishedView{state, at})
	for _, a := range events {
		o.changed[a.event.Task] = true
	}
}

// takeChanges returns the state and the tasks with events since the last call.
func (o *Orchestrator) takeChanges() (*company.State, []company.TaskID) {
	o.publishing.Lock()
	defer o.publishing.Unlock()
	changed := slices.Collect(maps.Keys(o.changed))
	clear(o.changed)
	return o.View(), changed
}

// View returns the current state. Callers may keep it and read it concurrently. View never blocks, and the state
// includes stored events only.
func (o *Orchestrator) View() *company.State { return o.current.Load().state }

// Now returns the office's time.
func (o *Orchestrator) Now() time.Time { return o.cfg.Clock.Now() }

// Ahead returns how far the office's time is ahead of the wall clock. It is negative if the office is behind.
func (o *Orchestrator) Ahead() time.Duration { return o.cfg.Clock.Ahead() }

// Do decides a command under a fresh id.
func (o *Orchestrator) Do(ctx context.Context, actor string, c company.Command) ([]company.Event, error) {
	return o.DoID(ctx, "", actor, c)
}

// DoID decides a command under the caller's id. Ids are unique per actor. A repeat with the same id returns the
// events of the first time and changes nothing. If the actor used the id for another command, it fails with
// EConflict. An empty id means a fresh one. A command that changed nothing left no events, so a repeat of it is
// decided again.
//
// A stop cancels all running effects before it is appended to the ledger, because the ledger may be slow or full.
// They stay cancelled even if the stop cannot be stored.
func (o *Orchestrator) DoID(ctx context.Context, id, actor string, command company.Command) ([]company.Event, error) {
	if _, stop := command.(company.Stop); stop {
		o.haltEffects()
	}
	var evs []company.Event
	var err error
	if o.cfg.Pacer == nil {
		evs, err = o.commitWithArchives(ctx, id, actor, command, time.Time{})
	} else {
		evs, err = o.cfg.Pacer.Pace(ctx, actor, command, o.View,
			func(c company.Command, at time.Time) ([]company.Event, error) {
				return o.commitWithArchives(ctx, id, actor, c, at)
			})
	}
	switch command.(type) {
	case company.Stop, company.Resume:
		if err == nil {
			o.resumeEffects() // from here on the state decides what is due
		}
	}
	return evs, err
}

func (o *Orchestrator) wakeLoop() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}
