// Package depaccess controls the packages that one run may fetch from
// registries. It owns the run's policy (the base's lock files, the task's
// additions, and their own dependencies), the dialogue of add_dependency with
// the company, the president and the registry, and the record of fetched
// packages.
//
// It promises that a name goes out to a registry only when the lock files or
// the ledger have it, or when the company has just allowed the request, and
// that an allowed package is in the ledger before it can be fetched. It runs no
// client and does not know what an image holds.
package depaccess

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/depproxy"
	"company/internal/folder"
	"company/internal/gitops"
	"company/internal/runfiles"
)

const (
	maxRequests   = 20_000  // of one run
	maxBytes      = 4 << 30 // of one run
	answerTimeout = 15 * time.Minute
	lookEvery     = 300 * time.Millisecond
	toldEach      = 40 // packages of one run that are reported one by one
	maxLog        = 4 << 20
	maxGot        = 5_000 // packages of the journal's record
	recordFor     = 5 * time.Second
)

// Config is what the access of all runs shares.
type Config struct {
	Stores      *depproxy.Stores
	Coordinator company.Coordinator
	Runs        *folder.Folder // of the runs' files
	Logger      *slog.Logger
	Watcher     Watcher `part:"optional"`
	// AnswerTimeout is how long a run waits for the president; 0: 15 minutes.
	AnswerTimeout time.Duration
}

// Service opens the access of runs. A nil Service adds and serves nothing
// (container.deps: off).
type Service struct{ Config }

// New checks that nothing is missing that the access needs.
func New(c Config) (*Service, error) {
	if c.Watcher == nil {
		c.Watcher = unwatched{}
	}
	return &Service{c}, company.CheckParts(c)
}

// unwatched is a Watcher that keeps nothing of what it is given.
type unwatched struct{}

func (unwatched) WatchFetch(company.RunID, string)       {}
func (unwatched) WatchFile(company.RunID, string, error) {}

// Watcher follows what runs fetch. Its methods must be quick.
type Watcher interface {
	// WatchFetch gets each fetched or refused package, for the feed.
	WatchFetch(run company.RunID, line string)
	// WatchFile gets the error of a run's file that could not be written, and
	// nil for one that was.
	WatchFile(run company.RunID, file string, err error)
}

// Order names the run and its policy.
type Order struct {
	Task   *company.Task
	Run    company.RunID
	Fence  uint64
	Mirror *gitops.Mirror
	// Base is where the mirrors are reached inside: http://127.0.0.1:8377.
	Base string
	// Waits is called around a wait for a person, which takes none of the
	// run's time. It may be nil.
	Waits func(wait func())
	// Record puts the fetched packages into the run's journal, once, when the
	// access is closed. It may be nil.
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

// Open makes the access of a run. The caller closes it.
func (o *Service) Open(ctx context.Context, order Order) (*Run, error) {
	var store *depproxy.Store
	if o != nil {
		store = o.Stores.ForCheckout(ctx, order.Task.Project.Path)
	}
	r := &Run{office: o, store: store, order: order, policy: depproxy.NewPolicy(), added: map[string]bool{}}
	if !r.isEnabled() {
		return r, nil
	}
	files, err := Locks(ctx, order.Mirror, order.Task.Prepared.LockTree())
	if err != nil {
		return nil, err
	}
	p, notes := depproxy.LockedPolicy(files)
	for _, n := range notes {
		o.Logger.InfoContext(ctx, "lock file", "run_id", order.Run, "note", n)
	}
	r.policy = p
	for _, d := range order.Task.Dependencies {
		r.policy.AllowWithNeeds(d)
		r.added[d.Ecosystem] = true
	}
	log, err := runfiles.OpenRunLog(o.Runs, order.Run, "fetched.log")
	if err != nil {
		return nil, err
	}
	r.log = folder.Watch(log, func(err error) { r.reportUnwritten("fetched.log", err) })
	return r, nil
}

func (r *Run) reportUnwritten(file string, err error) {
	r.office.Watcher.WatchFile(r.order.Run, file, err)
}

// Close writes the journal's record and closes the other one. Requests that are
// still under way are no longer recorded. It does its work when ctx is over.
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

func (r *Run) isEnabled() bool { return r != nil && r.store != nil }

// Handler serves the registries to the run; nil where none are served. denied
// gets each refused request. It is called from many goroutines.
func (r *Run) Handler(denied func(what string)) http.Handler {
	if !r.isEnabled() {
		return nil
	}
	return r.store.NewHandler(depproxy.HandlerOptions{
		Policy: r.policy, MaxRequests: maxRequests, MaxBytes: maxBytes, OnFetch: r.onFetched,
		OnRefusal: func(f depproxy.FetchReport) { denied(r.onRefused(f)) },
	})
}

// Environment is what commands of the run get, so that the clients ask the
// mirrors.
func (r *Run) Environment() map[string]string {
	if !r.isEnabled() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.store.ClientEnv(r.order.Base, r.added)
}

// Prepared is the command that has to run inside before the first one of the
// agent's, or "".
func (r *Run) Prepared() string {
	if !r.isEnabled() {
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
