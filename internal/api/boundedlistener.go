package api

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// boundedListener limits the number of open connections. When it is full, a new connection
// replaces the oldest stranger, a connection whose last request had no token. So clients without a
// token cannot block others with endless headers or by idling. Without strangers, the new
// connection waits until another one ends. A client that stops reading its answer is disconnected
// after a time limit.
type boundedListener struct {
	net.Listener
	free  chan struct{} // holds a value for each open connection
	write time.Duration
	done  chan struct{}
	end   sync.Once
	stop  atomic.Int64 // Unix nanoseconds; no write waits longer (0 means no limit)

	mu        sync.Mutex
	strangers []*boundedConn // open connections whose last request had no token, oldest first
}

func newBoundedListener(l net.Listener, connections int, write time.Duration) *boundedListener {
	return &boundedListener{Listener: l, free: make(chan struct{}, connections), write: write, done: make(chan struct{})}
}

// Accept waits for a connection and a free slot. It returns net.ErrClosed if the listener was
// closed.
func (l *boundedListener) Accept() (net.Conn, error) {
	under, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if len(l.free) == cap(l.free) {
		l.closeStranger()
	}
	select {
	case l.free <- struct{}{}:
	case <-l.done:
		return nil, errors.Join(net.ErrClosed, under.Close())
	}
	c := &boundedConn{Conn: under, listener: l}
	c.setStranger(true)
	return c, nil
}

// closeStranger closes the oldest connection of a stranger, if any.
func (l *boundedListener) closeStranger() {
	var oldest *boundedConn
	l.mu.Lock()
	if len(l.strangers) > 0 {
		oldest = l.strangers[0]
	}
	l.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close() // its requests end with it
	}
}

// Close closes the listener. Open connections stay.
func (l *boundedListener) Close() error {
	l.end.Do(func() { close(l.done) })
	return l.Listener.Close()
}

// endWrites limits all later writes to a time from now. Closing TLS sends a message, and a
// stopping server closes one connection after the other.
func (l *boundedListener) endWrites(in time.Duration) { l.stop.Store(time.Now().Add(in).UnixNano()) }

// boundedConn frees its slot when it is closed.
type boundedConn struct {
	net.Conn
	listener *boundedListener
	end      sync.Once
	closed   bool // guarded by the listener's mu; a closed connection is never a stranger again

	mu    sync.Mutex
	until time.Time // deadline set by its user; the zero time means none
}

// SetWriteDeadline limits later writes. TLS sets a deadline before its last message.
func (c *boundedConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	c.until = t
	c.mu.Unlock()
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline sets the read deadline and the write deadline.
func (c *boundedConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// nextDeadline returns the deadline of a write that starts now.
func (c *boundedConn) nextDeadline() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := time.Now().Add(c.listener.write)
	if !c.until.IsZero() && c.until.Before(at) {
		at = c.until
	}
	if stop := c.listener.stop.Load(); stop != 0 && time.Unix(0, stop).Before(at) {
		at = time.Unix(0, stop)
	}
	return at
}

// writePiece is the number of bytes written within one write timeout. Long answers are sent in
// such pieces, so that slow clients receive them completely.
const writePiece = 32 << 10

// Write sends p. It fails if the client does not accept a piece in time.
func (c *boundedConn) Write(p []byte) (n int, err error) {
	for {
		if err := c.Conn.SetWriteDeadline(c.nextDeadline()); err != nil {
			return n, err
		}
		sent, err := c.Conn.Write(p[n:min(n+writePiece, len(p))])
		if n += sent; err != nil || n == len(p) {
			return n, err
		}
	}
}

// setStranger records whether the connection's newest request had no token.
func (c *boundedConn) setStranger(stranger bool) {
	listener := c.listener
	listener.mu.Lock()
	defer listener.mu.Unlock()
	index := slices.Index(listener.strangers, c)
	switch {
	case stranger && index < 0 && !c.closed:
		listener.strangers = append(listener.strangers, c)
	case !stranger && index >= 0:
		listener.strangers = slices.Delete(listener.strangers, index, index+1)
	}
}

// Close closes the connection.
func (c *boundedConn) Close() error {
	c.end.Do(func() {
		c.listener.mu.Lock()
		c.closed = true
		c.listener.mu.Unlock()
		c.setStranger(false)
		<-c.listener.free
	})
	return c.Conn.Close()
}

// connKey is the context key of a request's connection.
type connKey struct{}

// keepConn is the server's ConnContext. It stores the connection in the context of each request.
func keepConn(ctx context.Context, conn net.Conn) context.Context {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	return context.WithValue(ctx, connKey{}, conn)
}

// markConn records on a request's connection whether the request has a token.
func markConn(r *http.Request, has bool) {
	if c, ok := r.Context().Value(connKey{}).(*boundedConn); ok {
		c.setStranger(!has)
	}
}
