package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docker/docker/api/types/system"

	"company/internal/company"
	"company/internal/container"
	"company/internal/container/dockerapi"
)

// Timeouts. A healthy daemon answers in milliseconds. These limits detect a
// hanging daemon and tolerate a busy one.
const (
	openTimeout    = 10 * time.Second
	requestTimeout = 60 * time.Second
	cleanupTimeout = 60 * time.Second // default of Options.Cleanup
)

// Options configures a Runtime. The zero value works.
type Options struct {
	Host  string           // container.docker_host; empty means the address that Docker's own client uses
	Allow []dockerapi.Word // allowed commands; nil means dockerapi.Words
	Log   *slog.Logger     // nil disables logging
	// Cleanup is the timeout of a kill and of a removal (CTR-5). Zero means a minute.
	Cleanup time.Duration
}

// Runtime is the "dod" driver.
type Runtime struct {
	api     *dockerapi.Client
	log     *slog.Logger
	cleanup time.Duration
	host    string
	info    system.Info // read by Open
	sized   atomic.Bool // whether the storage driver can limit a layer, as far as known

	mu     sync.Mutex
	closed bool
	held   map[*instance]struct{} // started instances that are not removed yet
	starts sync.WaitGroup         // calls of Start in progress
}

var _ container.Runtime = (*Runtime)(nil)

// Open connects to the daemon and reads its capabilities. If the daemon does not answer within 10 s,
// Open returns an EDocker error with a hint (CTR-11), because work cannot run elsewhere.
func Open(ctx context.Context, options Options) (*Runtime, error) {
	if options.Allow == nil {
		options.Allow = dockerapi.Words
	}
	for _, word := range options.Allow {
		if !slices.Contains(dockerapi.Words, word) {
			return nil, company.E(company.EConfig, fmt.Sprintf("unknown Docker command %q", word)).
				Fix(fmt.Sprintf("use any of %v", dockerapi.Words))
		}
	}
	options.Log = cmp.Or(options.Log, slog.New(slog.DiscardHandler))
	client, err := dockerapi.Open(
		dockerapi.Options{Use: dockerapi.Containers, Host: options.Host, Allow: options.Allow, Log: options.Log})
	if err != nil {
		return nil, err
	}
	runtime := &Runtime{api: client, log: options.Log, cleanup: cmp.Or(options.Cleanup, cleanupTimeout),
		host: client.DescribeDaemon(),
		held: map[*instance]struct{}{}}

	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if err := runtime.negotiateVersion(ctx); err != nil {
		_ = client.Close()
		return nil, err
	}
	return runtime, nil
}

// negotiateVersion negotiates the API version and reports a dead daemon. The client's own negotiation
// would ignore that error and continue with a version of 2015.
func (r *Runtime) negotiateVersion(ctx context.Context) error {
	op := "reach the Docker daemon at " + r.host
	ping, err := r.api.Ping(ctx)
	if err != nil {
		e := dockerapi.WrapError(op, err)
		if ce := (*company.Error)(nil); errors.As(e, &ce) {
			if ce.Code == company.ETimeout {
				ce.Code = company.EDocker // treat a silent daemon like an absent one
				ce.Hint = "start Docker, or point DOCKER_HOST to it; check with: docker version"
			}
			ce.Class = company.HumanRequired // no work is in progress that could wait for the daemon
		}
		return e
	}
	r.api.NegotiateAPIVersionPing(ping)
	if r.info, err = r.api.Info(ctx); err != nil {
		return dockerapi.WrapError(op, err)
	}
	r.sized.Store(sizeOption(r.info))
	if r.info.OSType != "linux" {
		return company.E(company.EDocker, fmt.Sprintf("the Docker daemon at %s runs %q containers", r.host, r.info.OSType)).
			Fix("use a daemon with Linux containers")
	}
	return nil
}

// Kind returns "dod".
func (r *Runtime) Kind() string { return "dod" }

// Close kills and removes the remaining containers of this Runtime.
func (r *Runtime) Close() error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.closed = true
	r.mu.Unlock()

	r.starts.Wait() // each Start has a timeout, and adds to held or cleans up
	r.mu.Lock()
	left := make([]*instance, 0, len(r.held))
	for c := range r.held {
		left = append(left, c)
	}
	r.mu.Unlock()
	_, err := inParallel(left, func(c *instance) error { return c.Remove(context.Background()) })
	if cerr := r.api.Close(); err == nil && cerr != nil {
		err = dockerapi.WrapError("close the Docker client", cerr)
	}
	return err
}

// beginStart registers a Start, so that Close can wait for it.
func (r *Runtime) beginStart() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return company.E(company.EStopped, "the container runtime is closed")
	}
	r.starts.Add(1)
	return nil
}

func (r *Runtime) trackInstance(c *instance) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held[c] = struct{}{}
}

func (r *Runtime) untrackInstance(c *instance) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.held, c)
}

// inParallel calls do for all items, at most 8 at once. The daemon removes ten containers six times as
// fast in parallel as one by one. inParallel returns the items for which do succeeded, in order, and
// the first error.
func inParallel[T any](items []T, do func(T) error) (done []T, first error) {
	errs := make([]error, len(items))
	slots := make(chan struct{}, 8)
	var wg sync.WaitGroup
	for i, item := range items {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = do(item)
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err == nil {
			done = append(done, items[i])
		} else if first == nil {
			first = err
		}
	}
	return done, first
}
