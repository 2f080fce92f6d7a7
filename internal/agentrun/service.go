// Package agentrun runs agents: it is the frame for the runs of all roles. A session covers one holder's work on
// a run, from its claim until the run ends or is released. It manages the journal under the claim's fence, the
// allowance, the mirror, and fetchable dependencies. It also opens the sandbox with the image of its tree, and
// runs the agent in it. At the end it seals the journal and writes the transcript and result.json.
//
// It promises that a run that is cut off (cancelled, superseded, crashed) releases its claim without a verdict.
// A run that ends is recorded once, with its spending. The package does not know the task of an agent. A Role
// provides the start of the work, the prompt and its own tools, and interprets the outcome.
package agentrun

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"company/internal/agent"
	"company/internal/agentrun/depaccess"
	"company/internal/agentrun/runfiles"
	"company/internal/agentrun/sandbox"
	"company/internal/bus"
	"company/internal/company"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/ledger"
	"company/internal/ledger/crashes"
	"company/internal/lib/safedir"
	"company/internal/lib/secretscan"
)

// Config holds the dependencies of all sessions.
type Config struct {
	Coordinator company.Coordinator
	Ledger      *ledger.Ledger
	Agents      Agents
	Mirrors     gitops.MirrorSource
	// Images finds the images of trees whose dependencies differ from the base's. If it is nil, the task's own
	// image serves every tree.
	Images    gates.ImageSource `part:"optional"`
	Sandboxes *sandbox.Factory
	// Dependencies controls the packages that runs may fetch from registries. If it is nil, runs fetch none.
	Dependencies *depaccess.Service `part:"optional"`
	Runs         *safedir.Folder    // of the runs' logs
	Files        *runfiles.Writer   // of the runs' transcripts and results
	// Now returns the office's time, which is used in records. A nil Now means the system clock.
	Now     func() time.Time `part:"optional"`
	Logger  *slog.Logger
	Watcher Watcher `part:"optional"`
	// Crashes knows during which runs earlier processes died. If it is nil, no such run is known.
	Crashes *crashes.Tally `part:"optional"`
	// Secrets finds what agents are not shown. If it is nil, the office has no secrets of its own.
	Secrets *secretscan.Scanner `part:"optional"`
}

// Agents opens the agents of a task's bindings.
type Agents interface {
	// Driver returns the agent for a model profile of the bindings. It returns an E_CONFIG error if the office's
	// config no longer has such a model.
	Driver(ctx context.Context, b company.Bindings, profile string) (agent.Driver, error)
}

// Watcher observes runs while they are under way. Its methods must be quick.
type Watcher interface {
	// WatchAgent receives the events of a run's agent, for the feed.
	WatchAgent(run company.RunID, e agent.Event)
	// WatchOutput receives the output of a run's calls, and their ends. It may be called concurrently.
	WatchOutput(run company.RunID, o agent.LiveOutput)
	// WatchFile receives the result of each write to a run's log: the error, or nil.
	WatchFile(run company.RunID, file string, err error)
}

// Service executes runs.
type Service struct {
	Config
	purging chan struct{} // limits concurrent purges of journals
}

// mostPurging limits the journals that are purged in the background at the same time.
const mostPurging = 64

// New returns an error if a required part of config is missing.
func New(config Config) (*Service, error) {
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Watcher == nil {
		config.Watcher = unwatched{}
	}
	return &Service{config, make(chan struct{}, mostPurging)}, company.CheckParts(config)
}

// purgeBehind deletes the records of a sealed journal, which are no longer needed. It does so in the background,
// unless too many journals are being purged. The goroutine ends when the bus answers or closes. If the process
// dies before that, its next start purges the journal.
func (svc *Service) purgeBehind(ctx context.Context, journal *ledger.Journal, run company.RunID) {
	report := func(err error) {
		if err != nil && !errors.Is(err, bus.ErrClosed) {
			svc.Logger.WarnContext(ctx, "journal not purged", "run_id", run, "err", err)
		}
	}
	select {
	case svc.purging <- struct{}{}:
		go func() {
			defer func() { <-svc.purging }()
			report(company.Guard("forgetting a journal", func() error { return journal.Purge(ctx) }))
		}()
	default:
		report(journal.Purge(ctx))
	}
}

// unwatched is a Watcher that does nothing.
type unwatched struct{}

func (unwatched) WatchAgent(company.RunID, agent.Event)       {}
func (unwatched) WatchOutput(company.RunID, agent.LiveOutput) {}
func (unwatched) WatchFile(company.RunID, string, error)      {}

// Execute claims and executes the run of one of the company's own effects (of the manager, a reviewer, the
// merger).
//
// Such an effect is under way only once at a time. If the run was still held when the effect began, its holder
// in this process ended without releasing the claim, as after a disk hang. That claim is released first.
func (svc *Service) Execute(ctx context.Context, effect company.Effect, role Role) error {
	if effect.Fence > 0 {
		_, err := svc.Coordinator.Decide(
			ctx, company.Release{Run: effect.Run, Fence: effect.Fence, Why: "its holder ended without releasing it"})
		if err != nil && company.CodeOf(err) != company.EStale {
			return err
		}
	}
	assignment, err := svc.Coordinator.Claim(ctx, effect.Claim)
	if err != nil {
		return err
	}
	return svc.ExecuteClaimed(ctx, assignment, role)
}
