// Package depaccess controls the packages that one run may fetch from registries. It owns the run's policy (the
// base's lock files, the task's additions, and their own dependencies). It also owns the dialogue of
// add_dependency with the company, the president and the registry, and the record of fetched packages.
//
// It promises that a name is sent to a registry only in two cases: the lock files or the ledger contain it, or
// the company has just allowed the request. An allowed package is in the ledger before it can be fetched. The
// package runs no client and does not know the content of images.
package depaccess

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"company/internal/agentrun/runfiles"
	"company/internal/company"
	"company/internal/ecosystem/depproxy"
	"company/internal/gitops"
	"company/internal/lib/safedir"
)

const (
	maxRequests   = 20_000  // per run
	maxBytes      = 4 << 30 // per run
	answerTimeout = 15 * time.Minute
	lookEvery     = 300 * time.Millisecond
	toldEach      = 40 // packages of one run that are reported individually
	maxLog        = 4 << 20
	maxGot        = 5_000 // packages in the journal's record
	recordFor     = 5 * time.Second
)

// Config holds the dependencies that all runs share.
type Config struct {
	Stores      *depproxy.Stores
	Coordinator company.Coordinator
	Runs        *safedir.Folder // of the runs' files
	Logger      *slog.Logger
	Watcher     Watcher `part:"optional"`
	// AnswerTimeout limits the wait for the president. 0 means 15 minutes.
	AnswerTimeout time.Duration
}

// Service opens the access of runs. A nil Service adds and serves no packages (container.deps: off).
type Service struct{ Config }

// New returns an error if a required part of config is missing.
func New(config Config) (*Service, error) {
	if config.Watcher == nil {
		config.Watcher = unwatched{}
	}
	return &Service{config}, company.CheckParts(config)
}

// unwatched is a Watcher that does nothing.
type unwatched struct{}

func (unwatched) WatchFetch(company.RunID, string)       {}
func (unwatched) WatchFile(company.RunID, string, error) {}

// Watcher observes the packages that runs fetch. Its methods must be quick.
type Watcher interface {
	// WatchFetch receives a line about each fetched or refused package, for the feed.
	WatchFetch(run company.RunID, line string)
	// WatchFile receives the result of each write to a run's file: the error, or nil.
	WatchFile(run company.RunID, file string, err error)
}

// Order names the run and its policy.
type Order struct {
	Task   *company.Task
	Run    company.RunID
	Fence  uint64
	Mirror *gitops.Mirror
	// Base is the address of the mirrors inside the container: http://127.0.0.1:8377.
	Base string
	// Waits is called with each wait for a person, so that it does not count as the run's time. It may be nil.
	Waits func(wait func())
	// Record writes the fetched packages into the run's journal. It is called at most once, when the access is
	// closed. It may be nil.
	Record func(ctx context.Context, kind string, data any) (int, error)
}

// Run is the access of one run.
type Run struct {
	office *Service
	store  *depproxy.Store
	order  Order
	policy *depproxy.Policy

	mu           sync.Mutex
	added        map[string]bool // ecosystems
	told         int
	log          io.WriteCloser
	wrote        int
	fetchedItems []Fetched
}

// Open opens the access of a run. The caller closes it.
func (o *Service) Open(ctx context.Context, order Order) (*Run, error) {
	var store *depproxy.Store
	if o != nil {
		store = o.Stores.ForCheckout(ctx, order.Task.Project.Path)
	}
	run := &Run{office: o, store: store, order: order, policy: depproxy.NewPolicy(), added: map[string]bool{}}
	if !run.IsEnabled() {
		return run, nil
	}
	files, err := Locks(ctx, order.Mirror, order.Task.Prepared.Base.OID, order.Task.Prepared.LockTree())
	if err != nil {
		return nil, err
	}
	p, notes := depproxy.LockedPolicy(files)
	for _, n := range notes {
		o.Logger.InfoContext(ctx, "lock file", "run_id", order.Run, "note", n)
	}
	run.policy = p
	for _, dependency := range order.Task.Dependencies {
		run.policy.AllowWithNeeds(dependency)
		run.added[dependency.Ecosystem] = true
	}
	log, err := runfiles.OpenRunLog(o.Runs, order.Run, "fetched.log")
	if err != nil {
		return nil, err
	}
	run.log = safedir.Watch(log, func(err error) { run.reportUnwritten("fetched.log", err) })
	return run, nil
}

func (r *Run) reportUnwritten(file string, err error) {
	r.office.Watcher.WatchFile(r.order.Run, file, err)
}

// Close writes the record of fetched packages into the journal and closes the log. Requests that are still under
// way are no longer recorded. It works even if ctx is done.
func (r *Run) Close(ctx context.Context) {
	r.mu.Lock()
	log, got := r.log, r.fetchedItems
	r.log, r.fetchedItems = nil, nil
	r.mu.Unlock()
	if log != nil {
		_ = log.Close()
	}
	if len(got) == 0 || r.order.Record == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordFor)
	defer cancel()
	if _, err := r.order.Record(ctx, "fetched", got); err != nil {
		r.office.Logger.WarnContext(ctx, "what was fetched is not in the journal", "run_id", r.order.Run, "err", err)
		r.reportUnwritten("journal (what was fetched)", err)
	}
}

// IsEnabled reports whether the office serves registries to the run.
func (r *Run) IsEnabled() bool { return r != nil && r.store != nil }

// Handler returns the handler that serves the registries to the run, or nil if none are served. denied receives
// each refused request. It may be called concurrently.
func (r *Run) Handler(denied func(what string)) http.Handler {
	if !r.IsEnabled() {
		return nil
	}
	return r.store.NewHandler(depproxy.HandlerOptions{
		Policy: r.policy, MaxRequests: maxRequests, MaxBytes: maxBytes, OnFetch: r.onFetched,
		OnRefusal: func(f depproxy.FetchReport) { denied(r.onRefused(f)) },
	})
}

// Environment returns the variables with which the run's package clients use the mirrors.
func (r *Run) Environment() map[string]string {
	if !r.IsEnabled() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.store.ClientEnv(r.order.Base, r.added)
}

// Prepared returns the command to run inside before the agent's first command, or "".
func (r *Run) Prepared() string {
	if !r.IsEnabled() {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for e := range r.added {
		if c := depproxy.SetupCommand(r.order.Base, e); c != "" {
			out = append(out, c)
		}
	}
	return strings.Join(out, " && ")
}
