package office

import (
	"net"
	"sync"
	"time"
)

// socketLookEvery is how often the holder looks whether its socket is still there.
const socketLookEvery = 5 * time.Second

// socketListener listens at the office's socket, and at a new one where the socket is gone.
// Open connections stay. Its methods may be called by many goroutines.
type socketListener struct {
	lock  *Lock
	env   func(string) (string, bool)
	watch sync.WaitGroup
	done  chan struct{} // closed by Close
	once  sync.Once

	mu sync.Mutex
	ln boundSocket
}

// open listens, in the place of the listener before, if there was one.
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
		before.SetUnlinkOnClose(false) // another socket may lie at its path
		_ = before.Close()
	}
	return nil
}

// keepReachable opens the socket anew where it is gone, until Close.
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

// openIfGone opens the socket anew where it is gone. What cannot be opened now is tried again at
// the next look: the work does not need it.
func (s *socketListener) openIfGone() {
	s.mu.Lock()
	ln := s.ln
	s.mu.Unlock()
	if ln.isThere() {
		return
	}
	_ = s.open()
}

// Accept waits for a connection. net.ErrClosed: the listener was closed.
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

// Addr is where it listens now.
func (s *socketListener) Addr() net.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ln.Addr()
}
