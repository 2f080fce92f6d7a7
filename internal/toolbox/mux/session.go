// Package mux multiplexes one stdio stream into many connections in both directions, with yamux. It only transports
// bytes: the toolbox and the gateway define the protocols above it.
//
// One end is the Host (our side), the other the Guest (a worker's container, which is hostile). Both may Open and
// Accept. A Session guarantees:
//
//   - The peer never holds more than MaxStreams streams open. One more, a ping flood or a malformed frame closes the
//     session, and Err returns the reason.
//   - Memory for the peer's data is at most MaxStreams windows of 256 KiB.
//   - A peer that stops answering is detected within two keepalives, and a write that the peer does not accept within
//     writeTimeout.
//   - A correct Session never exceeds the peer's limit: Open waits for a slot.
//
// Read and Write of the given stream must return once it is closed. If they might not (a blocking standard input), set
// it to non-blocking mode first. Done is closed in any case.
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
	// window is how many bytes a peer may send on one stream before they are read. Larger windows are no faster, and
	// delay small calls beside bulk transfers.
	window = 256 << 10

	keepalive    = 10 * time.Second
	writeTimeout = 10 * time.Second
	// closeTimeout ends a stream that we closed and the peer did not.
	closeTimeout = 2 * time.Minute
	// closeWait limits Close on a stream whose Read does not return.
	closeWait = 5 * time.Second
)

// Session is one end of the stream. It is a net.Listener for the peer's streams. Its methods are safe for concurrent
// use.
type Session struct {
	mux   *yamux.Session
	guard *frameLimiter
}

var _ net.Listener = (*Session)(nil)

// Host starts the host's end on rwc and takes ownership: Close closes it.
func Host(rwc io.ReadWriteCloser) (*Session, error) { return openSession(rwc, true) }

// Guest starts the container's end on rwc and takes ownership.
func Guest(rwc io.ReadWriteCloser) (*Session, error) { return openSession(rwc, false) }

func openSession(rwc io.ReadWriteCloser, host bool) (*Session, error) {
	config := yamux.DefaultConfig()
	// Twice the limit, so that the guard reports a breach first, with a reason. Streams that were opened and reset at
	// once also need room in the backlog.
	config.AcceptBacklog = 2 * MaxStreams
	config.KeepAliveInterval = keepalive
	config.ConnectionWriteTimeout = writeTimeout
	config.MaxStreamWindowSize = window
	config.StreamCloseTimeout = closeTimeout
	config.LogOutput = nil
	// A hostile peer controls yamux's log messages, so drop them.
	config.Logger = log.New(io.Discard, "", 0)

	frameLimiter := newGuard(rwc, host)
	open := yamux.Server
	if host {
		open = yamux.Client
	}
	mux, err := open(frameLimiter, config)
	if err != nil {
		return nil, fmt.Errorf("start the pipe: %w", err)
	}
	return &Session{mux: mux, guard: frameLimiter}, nil
}

// Open opens a connection to the peer. It waits until fewer than MaxStreams of our streams are open, or ctx or the
// session ends. Sending the request then takes at most the write timeout of 10 s.
func (s *Session) Open(ctx context.Context) (net.Conn, error) {
	select {
	case s.guard.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-s.mux.CloseChan():
		return nil, s.closedError()
	}
	// The guard frees the slot after it has seen both ends of the stream.
	conn, err := s.mux.Open()
	if err != nil {
		if s.mux.IsClosed() {
			return nil, s.closedError()
		}
		// A link that does not accept twelve bytes in 10 s is dead, and the slot could not be accounted for.
		s.guard.setError(fmt.Errorf("open a stream: %w", err))
		_ = s.Close()
		return nil, s.closedError()
	}
	return conn, nil
}

// Accept waits for the peer's next connection. After the session ends it returns Err.
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

// Addr implements net.Listener. The address has no meaning.
func (s *Session) Addr() net.Addr { return s.mux.Addr() }

// Close ends the session, all its connections and the underlying stream. It may be called more than once.
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

// Done is closed when the session ends for any reason.
func (s *Session) Done() <-chan struct{} { return s.mux.CloseChan() }

// Err returns the reason why the session ended: a breach of the limits (*ProtocolViolation), the stream's own error,
// or net.ErrClosed after Close. It returns nil while the session is open.
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
	// yamux ended it because of a protocol error or a missed keepalive. Only Accept returns its reason.
	if _, err := s.mux.Accept(); err != nil {
		return fmt.Errorf("the pipe broke: %w", err)
	}
	return net.ErrClosed
}

// Transport returns an HTTP transport whose connections are streams of the session, whatever host a URL names.
// Connections are kept for reuse until the session ends or CloseIdleConnections is called.
func (s *Session) Transport() *http.Transport {
	return &http.Transport{
		DialContext:           func(ctx context.Context, _, _ string) (net.Conn, error) { return s.Open(ctx) },
		DisableCompression:    true,
		MaxIdleConns:          MaxStreams / 4,
		MaxIdleConnsPerHost:   MaxStreams / 4,
		IdleConnTimeout:       time.Minute,
		ExpectContinueTimeout: time.Second,
		// Limits memory that the peer can make us use before a handler runs.
		MaxResponseHeaderBytes: 16 << 10,
	}
}
