package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"company/internal/company"
)

// beatEvery is how often a stream without news shows that it is alive. Proxies and browsers
// give up connections on which nothing happens.
const beatEvery = 15 * time.Second

// eventStream is an answer of server-sent events, with a comment line each time that
// nothing was sent for a while. It begins with its first event; until then the answer may
// still be an error.
type eventStream struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	every time.Duration

	mu    sync.Mutex
	begun bool
	beat  *time.Ticker
	done  chan struct{}
	over  sync.WaitGroup
}

// newStream makes a stream. It is closed before its handler returns.
func (s *Server) newStream(w http.ResponseWriter) *eventStream {
	return &eventStream{w: w, flush: http.NewResponseController(w), every: s.beatEvery, done: make(chan struct{})}
}

// beginStream sends the head of the answer, and begins the beat. It is called with the lock
// held.
func (e *eventStream) beginStream() {
	e.begun = true
	e.w.Header().Set("Content-Type", "text/event-stream")
	e.w.Header().Set("Cache-Control", "no-store")
	// nginx keeps an answer back until its buffer is full, hours for an idle office
	// (https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_buffering).
	e.w.Header().Set("X-Accel-Buffering", "no")
	e.w.WriteHeader(http.StatusOK)
	_ = e.flush.SetReadDeadline(time.Time{}) // that of the request would end the stream; in process there is none
	e.beat = time.NewTicker(e.every)
	e.over.Go(func() {
		for {
			select {
			case <-e.done:
				return
			case <-e.beat.C:
				if e.sendText(": beat\n\n") != nil {
					return // the handler finds out
				}
			}
		}
	})
}

// sendText sends whole events; an empty text sends the head alone.
func (e *eventStream) sendText(format string, args ...any) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.begun {
		e.beginStream()
	}
	e.beat.Reset(e.every)
	if _, err := fmt.Fprintf(e.w, format, args...); err != nil {
		return err
	}
	return e.flush.Flush()
}

// sendEnd ends a stream that is whole.
func (e *eventStream) sendEnd() {
	_ = e.sendText("%s\ndata: {}\n\n", endLine) // the client is gone, or it has it
}

// sendFailure ends a stream with an error of the company. Another error cuts it.
func (e *eventStream) sendFailure(err error) {
	if coded := (*company.Error)(nil); errors.As(err, &coded) {
		if text, err := json.Marshal(problemOf(coded)); err == nil {
			_ = e.sendText("%s\ndata: %s\n\n", failureLine, text) // the client is gone, or it has it
		}
	}
}

// hasBegun reports whether something was sent.
func (e *eventStream) hasBegun() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.begun
}

// closeStream ends the beat.
func (e *eventStream) closeStream() {
	if e.hasBegun() {
		e.beat.Stop()
		close(e.done)
		e.over.Wait()
	}
}
