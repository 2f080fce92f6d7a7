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

// beatEvery is the keep-alive interval of an idle stream. Proxies and browsers close idle
// connections.
const beatEvery = 15 * time.Second

// eventStream is an answer with server-sent events. It sends a comment line after each idle
// interval. It starts with its first event, and until then the answer may still be an error.
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

// newStream returns a stream. Close it before its handler returns.
func (s *Server) newStream(w http.ResponseWriter) *eventStream {
	return &eventStream{w: w, flush: http.NewResponseController(w), every: s.beatEvery, done: make(chan struct{})}
}

// beginStream sends the header of the answer and starts the keep-alive. The caller holds the lock.
func (e *eventStream) beginStream() {
	e.begun = true
	e.w.Header().Set("Content-Type", "text/event-stream")
	e.w.Header().Set("Cache-Control", "no-cache, no-store")
	e.w.Header().Set("Connection", "keep-alive") // left out where the protocol has no such header
	// nginx buffers an answer until its buffer is full, which takes hours for an idle office
	// (https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_buffering).
	e.w.Header().Set("X-Accel-Buffering", "no")
	e.w.WriteHeader(http.StatusOK)
	_ = e.flush.SetReadDeadline(time.Time{}) // the request's deadline would end the stream; there is none in process
	e.beat = time.NewTicker(e.every)
	e.over.Go(func() {
		for {
			select {
			case <-e.done:
				return
			case <-e.beat.C:
				if e.sendText(": beat\n\n") != nil {
					return // the handler gets the error, too
				}
			}
		}
	})
}

// sendText sends complete events. An empty text sends only the header.
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

// sendEnd ends a complete stream.
func (e *eventStream) sendEnd() {
	_ = e.sendText("%s\ndata: {}\n\n", endLine) // an error means that the client is gone
}

// sendFailure ends a stream with an error of the company. Other errors cut the stream.
func (e *eventStream) sendFailure(err error) {
	if coded := (*company.Error)(nil); errors.As(err, &coded) {
		if text, err := json.Marshal(NewProblem(coded)); err == nil {
			if shown, ok := e.w.(shownWriter); ok {
				text = shown.secrets.MaskJSON(text)
			}
			_ = e.sendText("%s\ndata: %s\n\n", failureLine, text) // an error means that the client is gone
		}
	}
}

// hasBegun reports whether any data was sent.
func (e *eventStream) hasBegun() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.begun
}

// closeStream stops the keep-alive.
func (e *eventStream) closeStream() {
	if e.hasBegun() {
		e.beat.Stop()
		close(e.done)
		e.over.Wait()
	}
}
