package depproxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// resendPause is the pause before a failed request is sent again, and resends how often
	// that happens. Clients do not repeat requests: their pauses take minutes.
	resendPause = time.Second
	resends     = 2
	// unreachableTTL is how long a host that could not be reached is not asked again.
	unreachableTTL = 10 * time.Second
	// failingPaths is how many different files a registry must fail for before it counts as
	// away. One package that fails is named, and the others are fetched.
	failingPaths = 3
)

// outages knows which hosts do not answer. A client that asks for a thousand files
// would else wait for each of them.
type outages struct {
	pause, probeAfter, probeTimeout time.Duration

	mu    sync.Mutex
	hosts map[string]*hostState // by origin
}

// hostState is what the last requests of a host came to.
type hostState struct {
	answered time.Time       // when it last answered
	until    time.Time       // it is not asked before
	why      error           // of until
	failing  map[string]bool // paths answered with 5xx, and with nothing else meanwhile
}

func newOutages(pause time.Duration) *outages {
	return &outages{pause: pause, probeAfter: probeAfter, probeTimeout: probeTimeout, hosts: map[string]*hostState{}}
}

// stateOf is called with the lock held.
func (o *outages) stateOf(origin string) *hostState {
	s := o.hosts[origin]
	if s == nil {
		s = &hostState{failing: map[string]bool{}}
		o.hosts[origin] = s
	}
	return s
}

// refuseAway returns the error of a host that did not answer a moment ago.
func (o *outages) refuseAway(origin string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := o.stateOf(origin); time.Now().Before(s.until) {
		return s.why
	}
	return nil
}

// noteAnswer records that a host speaks.
func (o *outages) noteAnswer(origin string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.stateOf(origin)
	s.answered, s.until = time.Now(), time.Time{}
	clear(s.failing)
}

// noteServerError records an answer of 5xx.
func (o *outages) noteServerError(origin, path string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.stateOf(origin)
	s.answered, s.until = time.Now(), time.Time{}
	if len(s.failing) < failingPaths {
		s.failing[path] = true
	}
}

// noteUnreachable records that a request of that time did not reach its host.
func (o *outages) noteUnreachable(origin string, began time.Time, why error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := o.stateOf(origin); s.answered.Before(began) {
		s.until, s.why = time.Now().Add(unreachableTTL), why
	}
}

// hasAnswered reports whether a host has answered since.
func (o *outages) hasAnswered(origin string, since time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stateOf(origin).answered.After(since)
}

// isAway reports whether a host cannot be reached, is silent, or fails for all that it is asked.
func (o *outages) isAway(origin string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.stateOf(origin)
	return time.Now().Before(s.until) || len(s.failing) >= failingPaths
}

// sendWithRetry is RoundTrip of one hop. A request that fails on its way or is answered with 5xx is
// sent again; one to a host that is known to be away fails at once.
func (o *outages) sendWithRetry(to http.RoundTripper, r *http.Request) (*http.Response, error) {
	origin, began := originOf(r.URL), time.Now()
	for try := 0; ; try++ {
		if err := o.refuseAway(origin); err != nil {
			return nil, err
		}
		resp, err := o.sendOnce(to, r)
		switch {
		case err == nil && resp.StatusCode < http.StatusInternalServerError:
			o.noteAnswer(origin)
			return resp, nil
		case err == nil && try > 0:
			o.noteServerError(origin, r.URL.EscapedPath())
			return resp, nil
		case err == nil:
			_ = resp.Body.Close()
		case r.Context().Err() != nil, errors.Is(err, errPrivateAddress):
			return nil, err
		case isTimeout(err), errors.Is(err, errSilent):
			o.noteSilence(origin, began)
			return nil, fmt.Errorf("%w: %w", errSilent, err)
		case try == resends:
			o.noteUnreachable(origin, began, err)
			return nil, err
		}
		select {
		case <-time.After(o.pause):
		case <-r.Context().Done():
			return nil, context.Cause(r.Context())
		}
	}
}

// sendOnce sends a request, and gives up on a host that is silent.
func (o *outages) sendOnce(to http.RoundTripper, r *http.Request) (*http.Response, error) {
	// The context ends with that of the request, which the reader of the body ends.
	ctx, end := context.WithCancelCause(r.Context())
	stop := o.watchReply(r.Context(), to, r, end)
	resp, err := to.RoundTrip(r.WithContext(ctx))
	stop()
	if err != nil {
		if errors.Is(context.Cause(ctx), errSilent) {
			err = errSilent
		}
		end(nil)
		return nil, err
	}
	return resp, nil
}

// CheckRegistry asks the registries of a kind whether they answer, and returns a Failure
// where each is away. It is for clients that ask the operator's registries themselves.
func (s *Store) CheckRegistry(ctx context.Context, kind string) *Failure {
	var last *Failure
	for _, e := range s.upstreams.Registries[kind].Endpoints {
		r, err := http.NewRequestWithContext(withKind(ctx, kind), http.MethodHead, e.URL+"/", nil)
		if err != nil || r.URL.Host == "" { // a folder of this host
			return nil
		}
		resp, err := s.client.Do(r)
		if err == nil {
			_ = resp.Body.Close()
			return nil
		}
		if ctx.Err() != nil {
			return nil
		}
		failure := s.explainFailure(kind, err)
		if !failure.Away {
			return nil
		}
		last = &failure
	}
	return last
}
