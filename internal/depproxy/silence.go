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
	// defaultPatience is how long a registry may be silent, before its answer or in
	// the middle of it.
	defaultPatience = time.Minute
	// silentTTL is how long a registry that was silent is not waited for again.
	silentTTL = time.Minute
	// probeAfter is how long a registry may take for an answer before it is asked whether it
	// answers at all, and probeTimeout how long it may take for that.
	probeAfter   = 5 * time.Second
	probeTimeout = 7 * time.Second
)

// errSilent is a registry that accepts a request and does not go on.
var errSilent = errors.New("the registry is silent")

// noteSilence records that a request of that time got no answer. A host that has
// answered another one since is not silent.
func (o *outages) noteSilence(origin string, began time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := o.stateOf(origin); s.answered.Before(began) {
		s.until, s.why = time.Now().Add(silentTTL), errSilent
	}
}

// watchReply ends a request with errSilent where its host answers neither the request nor a probe.
// A host that is only slow answers the probe. The caller calls stop when the answer has come.
func (o *outages) watchReply(ctx context.Context, to http.RoundTripper, r *http.Request, end context.CancelCauseFunc) (stop func()) {
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

// answersProbe reports whether a host answers a request for its root, whatever the answer is.
func (o *outages) answersProbe(ctx context.Context, to http.RoundTripper, at *url.URL) bool {
	limited, cancel := context.WithTimeout(ctx, o.probeTimeout)
	defer cancel()
	root := url.URL{Scheme: at.Scheme, Host: at.Host, Path: "/"}
	r, err := http.NewRequestWithContext(limited, http.MethodHead, root.String(), nil)
	if err != nil {
		return true
	}
	resp, err := to.RoundTrip(r)
	if err != nil {
		return ctx.Err() != nil // the caller has its answer
	}
	_ = resp.Body.Close()
	return true
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// patientBody ends a download when nothing of it comes for a while.
type patientBody struct {
	io.Reader
	timer    *time.Timer
	patience time.Duration
}

// newPatientBody calls end when the body is silent. The caller stops the timer.
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
