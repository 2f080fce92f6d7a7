package depproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// defaultPatience is how long a registry may be silent, before its answer or in
	// the middle of it.
	defaultPatience = time.Minute
	// silentTTL is how long a registry that was silent is not waited for again.
	silentTTL = time.Minute
)

// errSilent is a registry that accepts a request and does not go on.
var errSilent = errors.New("the registry is silent")

// silences knows which hosts do not answer. A client that asks for a thousand files
// would else wait for each of them.
type silences struct {
	mu       sync.Mutex
	answered map[string]time.Time // origin → when it last answered
	until    map[string]time.Time // origin → how long it is not waited for
}

func newSilences() *silences {
	return &silences{answered: map[string]time.Time{}, until: map[string]time.Time{}}
}

// check is errSilent for a host that was silent a moment ago.
func (s *silences) check(origin string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Now().Before(s.until[origin]) {
		return errSilent
	}
	return nil
}

// noteAnswer records that a host speaks.
func (s *silences) noteAnswer(origin string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered[origin] = time.Now()
	delete(s.until, origin)
}

// noteSilence records that a request of that time got no answer. A host that has
// answered another one since is not silent.
func (s *silences) noteSilence(origin string, began time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answered[origin].Before(began) {
		s.until[origin] = time.Now().Add(silentTTL)
	}
}

// send is RoundTrip of one hop, which does not wait for a silent host.
func (s *silences) send(to *http.Transport, r *http.Request) (*http.Response, error) {
	origin, began := originOf(r.URL), time.Now()
	if err := s.check(origin); err != nil {
		return nil, err
	}
	resp, err := to.RoundTrip(r)
	switch {
	case err == nil:
		s.noteAnswer(origin)
	case isTimeout(err) && r.Context().Err() == nil:
		s.noteSilence(origin, began)
		err = fmt.Errorf("%w: %w", errSilent, err)
	}
	return resp, err
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
