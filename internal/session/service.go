// Package session has agents do runs: it is the frame that a run of every role
// goes through. A session is one holding of a run, from its claim until the run
// ends or is let go: the journal under the claim's fence, the allowance, the
// mirror, what may be fetched, the sandbox with the image of its tree, the
// agent's work, and at last the sealed journal, the transcript and result.json.
//
// It promises that a run which is cut off (cancelled, superseded, crashed)
// lets go of its claim without a verdict, and that a run which ends is
// recorded with what it spent, once. It does not know what an agent works on:
// a Role brings where the work starts, the prompt and tools of its own, and
// says what the outcome means.
package session

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"company/internal/agent"
	"company/internal/bus"
	"company/internal/company"
	"company/internal/depaccess"
	"company/internal/folder"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/ledger"
	"company/internal/marks"
	"company/internal/runfiles"
	"company/internal/sandbox"
)

// Config is what the sessions of all runs share.
type Config struct {
	Coordinator company.Coordinator
	Ledger      *ledger.Ledger
	Agents      Agents
	Mirrors     gitops.MirrorSource
	// Images are the images of trees, which may name other dependencies than
	// the base. Nil: the task's own serves every tree.
	Images    gates.ImageSource `part:"optional"`
	Sandboxes *sandbox.Factory
	// Dependencies is what runs may fetch of package registries. Nil: nothing.
	Dependencies *depaccess.Service `part:"optional"`
	Runs         *folder.Folder     // of the runs' logs
	Files        *runfiles.Writer   // of the runs' transcripts and results
	// Now is the office's time, which stands in records.
	// Nil: the wall clock's.
	Now     func() time.Time `part:"optional"`
	Logger  *slog.Logger
	Watcher Watcher `part:"optional"`
	// Marks knows at which records earlier processes died. Nil: nothing is known.
	Marks *marks.Book `part:"optional"`
}

// Agents opens the agents that tasks are bound to.
type Agents interface {
	// Driver returns the agent that asks the model of a profile of the bindings. An E_CONFIG error
	// says that the office's config has no such model any more.
	Driver(ctx context.Context, b company.Bindings, profile string) (agent.Driver, error)
}

// Watcher follows runs while they are under way. Its methods must be quick.
type Watcher interface {
	// WatchAgent receives the events of a run's agent, for the feed.
	WatchAgent(run company.RunID, e agent.Event)
	// WatchOutput receives what a run's calls under way print, and their ends. It may be
	// called concurrently.
	WatchOutput(run company.RunID, o agent.LiveOutput)
	// WatchFile gets the error of a run's log that could not be written, and
	// nil for one that was.
	WatchFile(run company.RunID, file string, err error)
}

// Service has agents do runs.
type Service struct {
	Config
	purging chan struct{} // has room for the journals that are purged at a time
}

// mostPurging is how many journals are purged behind their runs at a time.
const mostPurging = 64

// New checks that nothing is missing that a session needs.
func New(c Config) (*Service, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Watcher == nil {
		c.Watcher = unwatched{}
	}
	return &Service{c, make(chan struct{}, mostPurging)}, company.CheckParts(c)
}

// purgeBehind forgets the records of a journal that the ledger names as sealed: they are of
// no more use. Its holder does not wait for that, unless many journals are being purged. The
// goroutine lives until the bus answers or closes: the bus's end is its own. A process that dies
// before purges at its next start.
func (svc *Service) purgeBehind(ctx context.Context, j *ledger.Journal, run company.RunID) {
	report := func(err error) {
		if err != nil && !errors.Is(err, bus.ErrClosed) {
			svc.Logger.WarnContext(ctx, "journal not purged", "run_id", run, "err", err)
		}
	}
	select {
	case svc.purging <- struct{}{}:
		go func() {
			defer func() { <-svc.purging }()
			report(company.Guard("forgetting a journal", func() error { return j.Purge(ctx) }))
		}()
	default:
		report(j.Purge(ctx))
	}
}

// unwatched is a Watcher that keeps nothing of what it is given.
type unwatched struct{}

func (unwatched) WatchAgent(company.RunID, agent.Event)       {}
func (unwatched) WatchOutput(company.RunID, agent.LiveOutput) {}
func (unwatched) WatchFile(company.RunID, string, error)      {}

// Execute claims the run of an effect of the company's own (of the manager, a reviewer, the
// merger) and does it.
//
// Its effect is under way once at a time. So a run that was held when the effect began has a holder in this process that
// has ended and could not let go of its claim, as while a disk stood still. That is done first.
func (svc *Service) Execute(ctx context.Context, e company.Effect, r Role) error {
	if e.Fence > 0 {
		_, err := svc.Coordinator.Decide(ctx, company.Release{Run: e.Run, Fence: e.Fence, Why: "its holder ended and could not let go of it"})
		if err != nil && company.CodeOf(err) != company.EStale {
			return err
		}
	}
	a, err := svc.Coordinator.Claim(ctx, e.Claim)
	if err != nil {
		return err
	}
	return svc.ExecuteClaimed(ctx, a, r)
}
