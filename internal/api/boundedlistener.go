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

// boundedListener has a bounded number of connections open. A further one takes the place of
// the oldest stranger, so that clients without a token cannot keep others out, neither by heads
// that never end nor by silence. Where there is no stranger it waits until a connection ends. A
// client that takes nothing of its answer for some time is cut off.
type boundedListener struct {
	net.Listener
	free  chan struct{} // holds a value for each open connection
	write time.Duration
	done  chan struct{}
	end   sync.Once
	stop  atomic.Int64 // Unix nanoseconds; no write waits beyond, 0: none is set

	mu        sync.Mutex
	strangers []*boundedConn // open connections whose last request had no token, oldest first
}

func newBoundedListener(l net.Listener, connections int, write time.Duration) *boundedListener {
	return &boundedListener{Listener: l, free: make(chan struct{}, connections), write: write, done: make(chan struct{})}
}

// Accept waits for a connection and for room. net.ErrClosed: the listener was closed.
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

// closeStranger ends the oldest connection of a stranger, where there is one.
func (l *boundedListener) closeStranger() {
	var oldest *boundedConn
	l.mu.Lock()
	if len(l.strangers) > 0 {
		oldest = l.strangers[0]
	}
	l.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close() // what it was served ends with it
	}
}

// Close ends the listener; connections stay.
func (l *boundedListener) Close() error {
	l.end.Do(func() { close(l.done) })
	return l.Listener.Close()
}

// endWrites has no write that begins from now on wait beyond a time from now. The end of TLS
// has a message to send, and a server that stops ends one connection after the other.
func (l *boundedListener) endWrites(in time.Duration) { l.stop.Store(time.Now().Add(in).UnixNano()) }

// boundedConn gives its place back when it is closed.
type boundedConn struct {
	net.Conn
	listener *boundedListener
	end      sync.Once
	closed   bool // under the listener's mu: it is no stranger again

	mu    sync.Mutex
	until time.Time // the deadline that its user has set; zero: none
}

// SetWriteDeadline bounds the writes to come. TLS sets one before its last message.
func (c *boundedConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	c.until = t
	c.mu.Unlock()
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline is SetWriteDeadline, for reads too.
func (c *boundedConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// nextDeadline is when a write that begins now fails.
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

// writePiece is how many bytes a client takes in the time of one write. A long answer is
// sent in such pieces, so that a slow client gets it whole.
const writePiece = 32 << 10

// Write sends p, and fails where the client takes no piece of it in time.
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

// setStranger notes whether the newest request of the connection had no token.
func (c *boundedConn) setStranger(stranger bool) {
	l := c.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.Index(l.strangers, c)
	switch {
	case stranger && at < 0 && !c.closed:
		l.strangers = append(l.strangers, c)
	case !stranger && at >= 0:
		l.strangers = slices.Delete(l.strangers, at, at+1)
	}
}

// Close ends the connection.
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

// connKey finds the connection of a request in its context.
type connKey struct{}

// keepConn is the ConnContext of the server: each request can then find its connection.
func keepConn(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// markConn notes whether a request has a token, for the connection that it came by.
func markConn(r *http.Request, has bool) {
	if c, ok := r.Context().Value(connKey{}).(*boundedConn); ok {
		c.setStranger(!has)
	}
}
