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
	"company/internal/dockerapi"
)

// Time limits. A healthy daemon answers in milliseconds; these are for one
// that hangs, and generous for one that is busy.
const (
	openTimeout    = 10 * time.Second
	requestTimeout = 60 * time.Second
	cleanupTimeout = 60 * time.Second // where Options say nothing
)

// Options configure a Runtime. The zero value is good.
type Options struct {
	Host  string           // the daemon's address; empty: DOCKER_HOST, else the standard socket
	Allow []dockerapi.Word // allowed commands to the daemon. Nil means dockerapi.Words.
	Log   *slog.Logger     // nil: no log
	// Cleanup bounds a kill, and a removal (CTR-5); 0: a minute.
	Cleanup time.Duration
}

// Runtime is the "dod" driver.
type Runtime struct {
	api     *dockerapi.Client
	log     *slog.Logger
	cleanup time.Duration
	host    string
	info    system.Info // as of Open
	sized   atomic.Bool // the storage driver bounds a layer, as far as is known

	mu     sync.Mutex
	closed bool
	held   map[*instance]struct{} // started and not yet removed
	starts sync.WaitGroup         // Starts under way
}

var _ container.Runtime = (*Runtime)(nil)

// Open connects to the daemon and reads what it can do. A daemon that does not
// answer within 10 s is an EDocker error with a hint (CTR-11): there is no
// other place where work could run instead.
func Open(ctx context.Context, o Options) (*Runtime, error) {
	if o.Allow == nil {
		o.Allow = dockerapi.Words
	}
	for _, w := range o.Allow {
		if !slices.Contains(dockerapi.Words, w) {
			return nil, company.E(company.EConfig, fmt.Sprintf("%q is no Docker command that can be allowed", w)).
				Fix(fmt.Sprintf("the most is %v", dockerapi.Words))
		}
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	a, err := dockerapi.Open(dockerapi.Options{Use: dockerapi.Containers, Host: o.Host, Allow: o.Allow, Log: o.Log})
	if err != nil {
		return nil, err
	}
	r := &Runtime{api: a, log: o.Log, cleanup: cmp.Or(o.Cleanup, cleanupTimeout), host: a.DaemonHost(), held: map[*instance]struct{}{}}

	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if err := r.negotiateVersion(ctx); err != nil {
		_ = a.Close()
		return nil, err
	}
	return r, nil
}

// negotiateVersion negotiates the API version, with an error of its own: the client's
// negotiation swallows a dead daemon and goes on with a version of 2015.
func (r *Runtime) negotiateVersion(ctx context.Context) error {
	op := "reach the Docker daemon at " + r.host
	ping, err := r.api.Ping(ctx)
	if err != nil {
		e := dockerapi.WrapError(op, err)
		if ce := (*company.Error)(nil); errors.As(e, &ce) {
			if ce.Code == company.ETimeout {
				ce.Code = company.EDocker // silent is as absent as refused
				ce.Hint = "start Docker, or point DOCKER_HOST to it; check with: docker version"
			}
			ce.Class = company.HumanRequired // nothing is under way that could wait for it
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
			Fix("a daemon with Linux containers is needed")
	}
	return nil
}

// Kind is dod.
func (r *Runtime) Kind() string { return "dod" }

// Close kills and removes the containers of this Runtime that are left.
func (r *Runtime) Close() error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.closed = true
	r.mu.Unlock()

	r.starts.Wait() // each is bounded, and adds to held or cleans up
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

// beginStart counts a Start in, so that Close can wait for it.
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

// inParallel calls do for all items, at most 8 at once: the daemon removes ten
// containers in parallel six times as fast as in a row. It tells for which do
// succeeded, in order, and the first error.
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
