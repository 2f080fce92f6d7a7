// Package mux turns one stdio stream into many connections, in both directions,
// with yamux. It carries bytes only: the toolbox and the gateway define the
// protocols above it.
//
// One end is the Host (ours), the other the Guest (a worker's container, which
// is hostile). Both may Open and Accept. A Session promises:
//
//   - the peer never holds more than MaxStreams streams open; one more, a ping
//     flood or a malformed frame closes the session, and Err tells why;
//   - memory for the peer's data is at most MaxStreams windows of 256 KiB;
//   - a peer that stops answering is noticed within two keepalives, and a
//     write that the peer does not take within writeTimeout;
//   - an honest Session never breaks the peer's limit: Open waits for a slot.
//
// The stream handed in must come back from Read and Write once it is closed.
// Where it cannot promise that (a blocking standard input), set it to
// non-blocking mode first; Done is closed in any case.
package mux

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/hashicorp/yamux"
)

const (
	// MaxStreams is how many streams each side may hold open at once.
	MaxStreams = 64
	// window is what a peer may send on one stream before we have read it.
	// Larger ones are no faster and delay small calls beside bulk transfers.
	window = 256 << 10

	keepalive    = 10 * time.Second
	writeTimeout = 10 * time.Second
	// closeTimeout ends a stream that we closed and the peer did not.
	closeTimeout = 2 * time.Minute
	// closeWait bounds Close on a stream whose Read does not come back.
	closeWait = 5 * time.Second
)

// Session is one end of the stream. It is a net.Listener for the peer's
// streams. All methods may be called by many goroutines at once.
type Session struct {
	mux   *yamux.Session
	guard *frameLimiter
}

var _ net.Listener = (*Session)(nil)

// Host starts our end on rwc and takes it over: Close closes it.
func Host(rwc io.ReadWriteCloser) (*Session, error) { return openSession(rwc, true) }

// Guest starts the container's end on rwc and takes it over.
func Guest(rwc io.ReadWriteCloser) (*Session, error) { return openSession(rwc, false) }

func openSession(rwc io.ReadWriteCloser, host bool) (*Session, error) {
	config := yamux.DefaultConfig()
	// Twice the limit: the guard speaks up first, with a reason, and streams
	// that were opened and reset at once still leave room in the backlog.
	config.AcceptBacklog = 2 * MaxStreams
	config.KeepAliveInterval = keepalive
	config.ConnectionWriteTimeout = writeTimeout
	config.MaxStreamWindowSize = window
	config.StreamCloseTimeout = closeTimeout
	config.LogOutput = nil
	// What yamux logs is what a hostile peer makes it log.
	config.Logger = log.New(io.Discard, "", 0)

	g := newGuard(rwc, host)
	open := yamux.Server
	if host {
		open = yamux.Client
	}
	mux, err := open(g, config)
	if err != nil {
		return nil, fmt.Errorf("start the pipe: %w", err)
	}
	return &Session{mux: mux, guard: g}, nil
}

// Open makes a new connection to the peer. It waits until fewer than
// MaxStreams of ours are open, or ctx ends, or the session does; handing the
// request to the link then takes at most the write timeout of 10 s.
func (s *Session) Open(ctx context.Context) (net.Conn, error) {
	select {
	case s.guard.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-s.mux.CloseChan():
		return nil, s.closedError()
	}
	// The guard gives the slot back when it has seen both ends of the stream.
	conn, err := s.mux.Open()
	if err != nil {
		if s.mux.IsClosed() {
			return nil, s.closedError()
		}
		// A link that does not take twelve bytes in 10 s is dead, and the slot
		// could not be accounted for.
		s.guard.setError(fmt.Errorf("open a stream: %w", err))
		_ = s.Close()
		return nil, s.closedError()
	}
	return conn, nil
}

// Accept waits for the peer's next connection. After the session's end it
// returns Err.
func (s *Session) Accept() (net.Conn, error) {
	conn, err := s.mux.Accept()
	if err == nil {
		return conn, nil
	}
	if s.mux.IsClosed() {
		return nil, s.closedError()
	}
	return nil, err
}

// Addr is there for net.Listener and says nothing.
func (s *Session) Addr() net.Addr { return s.mux.Addr() }

// Close ends the session, all its connections and the stream below. It is safe
// to call twice.
func (s *Session) Close() error {
	s.guard.setError(errClosedHere)
	done := make(chan error, 1)
	go func() { done <- s.mux.Close() }()
	select {
	case err := <-done:
		return err
	case <-time.After(closeWait):
		return errors.New("close the pipe: the stream below does not come back from Read")
	}
}

// Done is closed when the session is over, for whatever reason.
func (s *Session) Done() <-chan struct{} { return s.mux.CloseChan() }

// Err tells why the session is over: a breach of the limits (*ProtocolViolation), the
// stream's own error, net.ErrClosed after Close. It is nil while the session
// lives.
func (s *Session) Err() error {
	if !s.mux.IsClosed() {
		return nil
	}
	return s.closedError()
}

func (s *Session) closedError() error {
	if err := s.guard.firstError(); err != nil {
		return err
	}
	// yamux ended it: a protocol error of its own, or a missed keepalive.
	// Accept is the only way to its reason.
	if _, err := s.mux.Accept(); err != nil {
		return fmt.Errorf("the pipe broke: %w", err)
	}
	return net.ErrClosed
}

// Transport makes an HTTP transport whose connections are streams of the
// session, whatever host a URL names. Connections are kept for reuse; they end
// with the session or by CloseIdleConnections.
func (s *Session) Transport() *http.Transport {
	return &http.Transport{
		DialContext:           func(ctx context.Context, _, _ string) (net.Conn, error) { return s.Open(ctx) },
		DisableCompression:    true,
		MaxIdleConns:          MaxStreams / 4,
		MaxIdleConnsPerHost:   MaxStreams / 4,
		IdleConnTimeout:       time.Minute,
		ExpectContinueTimeout: time.Second,
		// What the peer may make us hold before a handler sees it.
		MaxResponseHeaderBytes: 16 << 10,
	}
}
