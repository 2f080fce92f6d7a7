package office

import (
	"net"
	"sync"
	"time"
)

// socketLookEvery is how often the holder checks that its socket still exists.
const socketLookEvery = 5 * time.Second

// socketListener listens on the office's socket, and opens a new one if the socket is removed. Open connections stay.
// Its methods are safe for concurrent use.
type socketListener struct {
	lock  *Lock
	env   func(string) (string, bool)
	watch sync.WaitGroup
	done  chan struct{} // closed by Close
	once  sync.Once

	mu sync.Mutex
	ln boundSocket
}

// open opens the socket and replaces the previous listener, if any.
func (s *socketListener) open() error {
	ln, err := bindSocket(s.lock, s.env)
	if err != nil {
		return err
	}
	s.mu.Lock()
	before := s.ln
	s.ln = ln
	s.mu.Unlock()
	if before.UnixListener != nil {
		before.SetUnlinkOnClose(false) // another socket may be at its path
		_ = before.Close()
	}
	return nil
}

// keepReachable reopens the socket whenever it is removed, until Close.
func (s *socketListener) keepReachable() {
	look := time.NewTicker(socketLookEvery)
	defer look.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-look.C:
			s.openIfGone()
		}
	}
}

// openIfGone reopens the socket if it is gone. A failure is retried at the next check, because the work does not need
// the socket.
func (s *socketListener) openIfGone() {
	s.mu.Lock()
	ln := s.ln
	s.mu.Unlock()
	if ln.isThere() {
		return
	}
	_ = s.open()
}

// Accept waits for a connection. It returns net.ErrClosed after Close.
func (s *socketListener) Accept() (net.Conn, error) {
	for {
		s.mu.Lock()
		ln := s.ln
		s.mu.Unlock()
		conn, err := ln.Accept()
		if err == nil {
			return conn, nil
		}
		s.mu.Lock()
		replaced := s.ln.UnixListener != ln.UnixListener
		s.mu.Unlock()
		if !replaced {
			return nil, err
		}
	}
}

// Close stops listening and removes the socket.
func (s *socketListener) Close() error {
	s.once.Do(func() { close(s.done) })
	s.watch.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ln.Close()
}

// Addr returns the current address.
func (s *socketListener) Addr() net.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ln.Addr()
}
