// Package orchestrator is the one loop of the company: it keeps the state,
// has commands decided, appends the events to the ledger, and sees to it that
// exactly the effects that are due are under way.
//
// It is the only writer of the ledger. Commands that come while an append is being
// synced are decided one after the other on the state that those before them will
// leave, and share the next append (commit.go). It promises that an event is
// synced before it has any effect, is seen or is answered, that an effect whose key
// is no longer due is cancelled, and that everything it started has ended when Run
// returns. It does not know how an effect is done: handlers are registered, one
// per kind.
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

	"company/internal/clock"
	"company/internal/company"
	"company/internal/ledger"
	"company/internal/marks"
)

// Causes that a handler's context ends with.
var (
	ErrNotDue   = errors.New("orchestrator: the effect is no longer due")
	ErrShutdown = errors.New("orchestrator: shutting down")
	ErrStopped  = fmt.Errorf("%w: the office is being stopped", ErrNotDue)
)

// Config is what an orchestrator needs.
type Config struct {
	Ledger  *ledger.Ledger
	Office  string // the office's id
	Version string
	Active  int // tasks that work at once; 0: 4
	// Caps hold for all tasks together, from the next Start on; nil: those that held.
	Caps *company.OfficeCaps `part:"optional"`
	// Agents are the models of the config, noted at the next Start; none: they are not known.
	Agents []company.AgentModels `part:"optional"`
	// Checks is how many gates may run at once, of all tasks; each has a
	// container beside those of the workers. 0: as many as there are workers.
	Checks int
	// Containers is how many containers of workers and of agents that look at a tree the
	// host's memory holds beside those of gates. Agents that look at a tree wait for what
	// workers have left, and one of them waits for none. 0: memory bounds none.
	Containers int
	// Readers is how many managers and reviewers may be at work at once, of all tasks;
	// 0: as many as are due. One that waits for a person is not counted.
	Readers int
	// Writers is how many workers and mergers may be at work at once in one project,
	// from the next Start on; 0: as many as there are workers.
	Writers int
	// Pacer gives each command its turn. Nil: a command is decided when it comes.
	Pacer  Pacer `part:"optional"`
	Logger *slog.Logger
	// Clock is the office's time. It is moved up to the ledger's last event;
	// nil: one of this machine.
	Clock      *clock.Clock
	Projection Projection `part:"optional"`
	// Marks knows at which events earlier processes died. Nil: nothing is known.
	Marks *marks.Book `part:"optional"`
	// SnapshotEvery is how many events lie between two snapshots at least;
	// 0: 1000. A long ledger has them rarer: after a tenth of its events.
	SnapshotEvery int
	// BusPatience is how long an append is tried again while the bus gives no
	// answer; 0: a minute. Then the office ends.
	BusPatience time.Duration
	// LatePatience is how long an effect may take to return once its context has ended;
	// 0: ten seconds.
	LatePatience time.Duration
	// Lines places lines of the config that errors name. Nil: no question offers to write one.
	Lines LinePlacer `part:"optional"`
	// OnLate is called once when an effect takes longer, and once more when it returns.
	OnLate func(LateEffect) `part:"optional"`
}

// LinePlacer finds the file that a line of the config for a task belongs into.
type LinePlacer interface {
	// PlaceLine gives the line with its file, or nil where it cannot be written.
	PlaceLine(ctx context.Context, t company.TaskID, l company.ConfigLine) *company.ConfigLine
}

// Projection is made from what happens.
type Projection interface {
	// MarkChanged gets, in order and after the append, every event and the task
	// after it (nil for events of the office). It must be quick.
	MarkChanged(e company.Event, t *company.Task)
}

// Pacer decides when commands are decided, and which time their events bear: a replay
// brings them into the order of a record.
type Pacer interface {
	// Pace waits for the command's turn and has commit decide it, or another command in
	// its place. at is the time that the events bear; zero: the office's. view is the
	// state that commit decides on while no other commit is under way. The answer is
	// commit's, or an error that keeps the command from being decided.
	Pace(ctx context.Context, actor string, c company.Command, view func() *company.State,
		commit func(c company.Command, at time.Time) ([]company.Event, error)) ([]company.Event, error)
}

// Orchestrator runs one office.
type Orchestrator struct {
	cfg   Config
	token string // makes command ids of this process unique

	commands atomic.Uint64 // that got an id here

	mu         sync.Mutex // guards what follows; never held over anything slow
	queue      []*request // not taken up yet, oldest first
	committing bool       // the committer is at work
	failed     error      // an append that went wrong: nothing may be decided after it

	ahead      *company.State // with what is not stored yet; the committer's
	current    atomic.Pointer[publishedView]
	publishing sync.Mutex              // guards what follows, and a new view together with it; held for a moment
	changed    map[company.TaskID]bool // tasks of events that the loop has not looked at yet

	archives archiveCache

	agenda company.Agenda     // what is due; the loop's
	open   context.Context    // ends when the loop is told to end
	leave  context.CancelFunc // ends it

	snapSeq uint64 // of the newest snapshot; the loop's

	worked time.Time // when the company before is last known to have worked; of Open and Start

	cutting sync.Mutex // guards what follows; never held over anything slow
	halted  bool       // a stop is on its way into the ledger: nothing is started
	under   context.Context
	cutOff  context.CancelCauseFunc // ends everything that is under way

	handlers map[company.EffectKind]company.EffectHandler
	wake     chan struct{} // of capacity 1: something changed
	jobs     map[string]*job
	done     chan string // keys of jobs that have ended
	rested   chan string // keys of tests ahead whose verdict is there
	ending   sync.Map    // by key, a LateEffect for each whose context has ended and which has not returned

	waiting, merging []company.Effect // room for the lists of a look
	called           map[string]bool  // of a look: the keys of what is due
}

// Open folds the ledger into the state. People's commands may be decided from
// then on; nothing is under way before Start and Run.
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
	o := &Orchestrator{
		cfg: cfg, token: hex.EncodeToString(tok[:]), ahead: company.NewState(), changed: map[company.TaskID]bool{},
		wake: make(chan struct{}, 1), jobs: map[string]*job{}, handlers: map[company.EffectKind]company.EffectHandler{}, done: make(chan string), rested: make(chan string), called: map[string]bool{},
	}
	if err := o.load(ctx); err != nil {
		return nil, err
	}
	o.open, o.leave = context.WithCancel(context.WithoutCancel(ctx))
	return o, nil
}

// Register sets the handler of a kind of effect. It is called before Run.
func (o *Orchestrator) Register(k company.EffectKind, h company.EffectHandler) { o.handlers[k] = h }

// Start begins a new epoch with so many workers (0: it is not known): the
// claims of earlier processes are void from here on. The caller holds the
// office's lock and will call Run.
func (o *Orchestrator) Start(ctx context.Context, workers int) error {
	start := company.StartOffice{Office: o.cfg.Office, Version: o.cfg.Version, Workers: workers, Writers: o.cfg.Writers, LastWorked: o.worked, Agents: o.cfg.Agents}
	if ahead := o.Ahead(); ahead.Abs() >= time.Second {
		start.Wall = o.Now().Add(-ahead).Truncate(time.Second)
	}
	_, err := o.Do(ctx, company.Company, start)
	if err == nil && o.cfg.Caps != nil {
		_, err = o.Do(ctx, company.Company, company.SetOfficeCaps{Caps: *o.cfg.Caps})
	}
	return err
}

// load rebuilds the state from the newest snapshot that fits the chain and
// the events after it.
func (o *Orchestrator) load(ctx context.Context) error {
	if err := o.loadSnapshot(ctx); err != nil {
		return err
	}
	o.worked = o.ahead.Time
	if err := o.checkEventSetAside(); err != nil {
		return err
	}
	place := marks.Place{Owner: marks.Ledger, Doing: marks.Event, N: int(o.ahead.Seq) + 1} //nolint:gosec // a sequence of events
	mark := o.cfg.Marks.Enter(place)
	defer mark.Pass()
	err := o.cfg.Ledger.Read(ctx, o.ahead.Seq+1, func(e company.Event) error {
		if e.Actor != company.President { // whose commands need no company at work
			o.worked = e.Time
		}
		err := company.Apply(o.ahead, e)
		place.N++
		mark.Move(place)
		return err
	})
	if err != nil {
		return err
	}
	mark.Pass() // what follows reads no event
	o.publishView(o.ahead.View(), o.cfg.Ledger.Head(), nil)
	o.advanceClock(ctx)
	return nil
}

// advanceClock moves the clock up to the newest time that the office has recorded: in
// its ledger, and in the journals of runs that go on.
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

// publishedView is the state as of the newest event that is stored.
type publishedView struct {
	state *company.State
	at    ledger.Head // that event
}

// publishView lets everybody see a state, and the loop which tasks its events are of.
func (o *Orchestrator) publishView(s *company.State, at ledger.Head, events []appliedEvent) {
	o.publishing.Lock()
	defer o.publishing.Unlock()
	o.current.Store(&publishedView{s, at})
	for _, a := range events {
		o.changed[a.event.Task] = true
	}
}

// takeChanges gives the state, and the tasks of the events since the last call.
func (o *Orchestrator) takeChanges() (*company.State, []company.TaskID) {
	o.publishing.Lock()
	defer o.publishing.Unlock()
	changed := slices.Collect(maps.Keys(o.changed))
	clear(o.changed)
	return o.View(), changed
}

// View is the state at this moment. It may be kept and read freely. It waits for
// nothing, and holds stored events only.
func (o *Orchestrator) View() *company.State { return o.current.Load().state }

// Now is the office's time.
func (o *Orchestrator) Now() time.Time { return o.cfg.Clock.Now() }

// Ahead is how far the office's time is ahead of the wall clock; negative:
// behind it.
func (o *Orchestrator) Ahead() time.Duration { return o.cfg.Clock.Ahead() }

// Do decides a command under an id of its own.
func (o *Orchestrator) Do(ctx context.Context, actor string, c company.Command) ([]company.Event, error) {
	return o.DoID(ctx, "", actor, c)
}

// DoID decides a command under the caller's id. The id is the actor's own: it
// makes a repeat harmless, which gets the events of the first time and changes
// nothing. EConflict: the actor used the id for another command. An empty id
// gets a fresh one. A command that changed nothing left no events, and is
// decided anew.
//
// A stop cuts first: everything under way is cancelled before the ledger is
// asked, which may be slow, or full. If the stop cannot be stored, the cut
// stands.
func (o *Orchestrator) DoID(ctx context.Context, id, actor string, c company.Command) ([]company.Event, error) {
	if _, stop := c.(company.Stop); stop {
		o.haltEffects()
	}
	var evs []company.Event
	var err error
	if o.cfg.Pacer == nil {
		evs, err = o.commitWithArchives(ctx, id, actor, c, time.Time{})
	} else {
		evs, err = o.cfg.Pacer.Pace(ctx, actor, c, o.View, func(c company.Command, at time.Time) ([]company.Event, error) {
			return o.commitWithArchives(ctx, id, actor, c, at)
		})
	}
	switch c.(type) {
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
