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
	// resendPause is the pause before a failed request is sent again, and resends is the number of retries. Clients must
	// not retry themselves, because their pauses take minutes.
	resendPause = time.Second
	resends     = 2
	// unreachableTTL is how long an unreachable host is not contacted again.
	unreachableTTL = 10 * time.Second
	// failingPaths is the number of different files for which a registry must fail before it counts as away. If only one
	// package fails, it is reported and the others are fetched.
	failingPaths = 3
)

// outages tracks which hosts do not answer. Otherwise a client with a thousand files would wait for each of them.
type outages struct {
	pause, probeAfter, probeTimeout time.Duration

	mu    sync.Mutex
	hosts map[string]*hostState // by origin
}

// hostState holds the results of the last requests to a host.
type hostState struct {
	answered time.Time       // time of its last answer
	until    time.Time       // no request is sent before this time
	why      error           // the reason for until
	failing  map[string]bool // paths answered with 5xx, since the last success
}

func newOutages(pause time.Duration) *outages {
	return &outages{pause: pause, probeAfter: probeAfter, probeTimeout: probeTimeout, hosts: map[string]*hostState{}}
}

// stateOf returns the state of a host. The caller must hold the lock.
func (o *outages) stateOf(origin string) *hostState {
	s := o.hosts[origin]
	if s == nil {
		s = &hostState{failing: map[string]bool{}}
		o.hosts[origin] = s
	}
	return s
}

// refuseAway returns an error if a host did not answer a moment ago.
func (o *outages) refuseAway(origin string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := o.stateOf(origin); time.Now().Before(s.until) {
		return s.why
	}
	return nil
}

// noteAnswer records an answer of a host.
func (o *outages) noteAnswer(origin string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	hostState := o.stateOf(origin)
	hostState.answered, hostState.until = time.Now(), time.Time{}
	clear(hostState.failing)
}

// noteServerError records a 5xx answer.
func (o *outages) noteServerError(origin, path string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	hostState := o.stateOf(origin)
	hostState.answered, hostState.until = time.Now(), time.Time{}
	if len(hostState.failing) < failingPaths {
		hostState.failing[path] = true
	}
}

// noteUnreachable records that a request that started at began did not reach its host. It has no effect if the host
// has answered since.
func (o *outages) noteUnreachable(origin string, began time.Time, why error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := o.stateOf(origin); s.answered.Before(began) {
		s.until, s.why = time.Now().Add(unreachableTTL), why
	}
}

// hasAnswered reports whether a host has answered since a time.
func (o *outages) hasAnswered(origin string, since time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stateOf(origin).answered.After(since)
}

// isAway reports whether a host cannot be reached, is silent, or fails for all requests.
func (o *outages) isAway(origin string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.stateOf(origin)
	return time.Now().Before(s.until) || len(s.failing) >= failingPaths
}

// sendWithRetry sends a request for one hop. It retries after a connection error or a 5xx answer. It fails at once if
// the host is known to be away.
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

// sendOnce sends a request and gives up if the host is silent.
func (o *outages) sendOnce(to http.RoundTripper, r *http.Request) (*http.Response, error) {
	// The context ends with the request's context, which the reader of the body ends.
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

// CheckRegistry sends a request to the registries of a kind. It returns a Failure if all of them are away. It is for
// clients that use the operator's registries directly.
func (s *Store) CheckRegistry(ctx context.Context, kind string) *Failure {
	var last *Failure
	for _, e := range s.upstreams.Registries[kind].Endpoints {
		r, err := http.NewRequestWithContext(withKind(ctx, kind), http.MethodHead, e.URL+"/", nil)
		if err != nil || r.URL.Host == "" { // the endpoint is a folder of this host
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
