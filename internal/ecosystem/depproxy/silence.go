package depproxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"company/internal/company"
)

const (
	// defaultPatience is the timeout for a silent registry, before its answer or during the body.
	defaultPatience = time.Minute
	// silentTTL is how long a silent registry is not contacted again.
	silentTTL = time.Minute
	// probeAfter is how long an answer may take before the registry is probed. probeTimeout limits how long the probe
	// may take.
	probeAfter   = 5 * time.Second
	probeTimeout = 7 * time.Second
)

// errSilent means that a registry accepts a request but does not answer or stops sending.
var errSilent = errors.New("the registry is silent")

// noteSilence records that a request that started at began got no answer. It has no effect if the host has answered
// since.
func (o *outages) noteSilence(origin string, began time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := o.stateOf(origin); s.answered.Before(began) {
		s.until, s.why = time.Now().Add(silentTTL), errSilent
	}
}

// watchReply cancels a request with errSilent if its host answers neither the request nor a probe. A slow host
// answers the probe. The caller calls stop when the answer arrives.
func (o *outages) watchReply(
	ctx context.Context, to http.RoundTripper, r *http.Request, end context.CancelCauseFunc,
) (stop func()) {
	began, origin := time.Now(), originOf(r.URL)
	ended := make(chan struct{})
	var watcher sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	watcher.Go(func() {
		_ = company.Guard("watching a registry", func() error {
			select {
			case <-ended:
				return nil
			case <-time.After(o.probeAfter):
			}
			if o.hasAnswered(origin, began) || o.answersProbe(ctx, to, r.URL) || o.hasAnswered(origin, began) {
				return nil
			}
			end(errSilent)
			return nil
		})
	})
	return func() {
		close(ended)
		cancel()
		watcher.Wait()
	}
}

// answersProbe reports whether a host answers a request for its root, with any status.
func (o *outages) answersProbe(ctx context.Context, to http.RoundTripper, address *url.URL) bool {
	limited, cancel := context.WithTimeout(ctx, o.probeTimeout)
	defer cancel()
	root := url.URL{Scheme: address.Scheme, Host: address.Host, Path: "/"}
	r, err := http.NewRequestWithContext(limited, http.MethodHead, root.String(), nil)
	if err != nil {
		return true
	}
	resp, err := to.RoundTrip(r)
	if err != nil {
		return ctx.Err() != nil // the caller already has its answer
	}
	_ = resp.Body.Close()
	return true
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// patientBody cancels a download if no data arrives for a while.
type patientBody struct {
	io.Reader
	timer    *time.Timer
	patience time.Duration
}

// newPatientBody returns a body that calls end after a silence. The caller must stop the timer.
func newPatientBody(body io.Reader, patience time.Duration, end context.CancelCauseFunc) *patientBody {
	return &patientBody{Reader: body, patience: patience, timer: time.AfterFunc(patience, func() { end(errSilent) })}
}

func (b *patientBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if n > 0 {
		b.timer.Reset(b.patience)
	}
	return n, err
}
