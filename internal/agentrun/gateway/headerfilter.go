package gateway

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// guard is a listener that checks the single request header of each connection before net/http reads it.
// net/http silently drops Content-Length if Transfer-Encoding is present, so only the raw bytes show such a
// request.
type guard struct {
	net.Listener
	slots chan struct{} // open connections
	onBad func(why string)
}

func (g *guard) Accept() (net.Conn, error) {
	for {
		conn, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case g.slots <- struct{}{}:
			return &headerFilterConn{Conn: conn, g: g}, nil
		default:
			g.onBad("too many connections at a time")
			_ = conn.Close()
		}
	}
}

// headerFilterConn is one connection. The first Read reads the header, in the goroutine of the connection, so a
// slow client delays only itself.
type headerFilterConn struct {
	net.Conn
	g      *guard
	once   sync.Once
	closed sync.Once
	head   []byte // read and checked, not yet returned by Read
	err    error
}

var errBadHeader = errors.New("the request header was refused")

func (c *headerFilterConn) Read(p []byte) (int, error) {
	c.once.Do(c.checkHeader)
	if c.err != nil {
		return 0, c.err
	}
	if len(c.head) > 0 {
		n := copy(p, c.head)
		c.head = c.head[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

func (c *headerFilterConn) Close() error {
	c.closed.Do(func() { <-c.g.slots })
	return c.Conn.Close()
}

// checkHeader reads and checks the header. It answers a refused request itself, and the server sees an ended
// connection.
func (c *headerFilterConn) checkHeader() {
	if err := c.SetReadDeadline(time.Now().Add(headerTimeout)); err != nil {
		c.err = err
		return
	}
	buf := make([]byte, 0, 2048)
	for {
		if i := bytes.Index(buf, []byte("\r\n\r\n")); i >= 0 {
			if reason := badHeader(string(buf[:i])); reason != "" {
				c.refuseHeader("400 Bad Request", reason)
				return
			}
			c.head = buf
			return
		}
		if len(buf) >= maxHeaderBytes {
			c.refuseHeader("431 Request Header Fields Too Large", "the header is longer than 16 KiB")
			return
		}
		if len(buf) == cap(buf) {
			buf = append(buf, make([]byte, len(buf))...)[:len(buf)]
		}
		n, err := c.Conn.Read(buf[len(buf):min(cap(buf), maxHeaderBytes)])
		buf = buf[:len(buf)+n]
		if err != nil {
			c.err = err
			return
		}
	}
}

func (c *headerFilterConn) refuseHeader(status, reason string) {
	c.g.onBad(reason)
	c.err = errBadHeader
	_ = c.SetWriteDeadline(time.Now().Add(headerTimeout))
	_, _ = io.WriteString(c.Conn, "HTTP/1.1 "+status+"\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"+
		reason+"\n")
}

// badHeader returns the fault of a raw request header, or "". It refuses upgrades, and headers that two readers
// could understand differently.
func badHeader(head string) string {
	lines := strings.Split(head, "\r\n")
	if f := strings.Split(lines[0], " "); len(f) != 3 || f[2] != "HTTP/1.1" && f[2] != "HTTP/1.0" ||
		!strings.HasPrefix(f[1], "/") {
		return "the request line is not one of HTTP/1"
	}
	seen := map[string]int{}
	for i, line := range lines {
		if strings.ContainsAny(line, "\r\n\x00") {
			return "the header has a bare line end or NUL"
		}
		if i == 0 {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || name == "" || strings.TrimSpace(name) != name || strings.ContainsAny(name, " \t") {
			return "the header has a folded or malformed line"
		}
		key := strings.ToLower(name)
		seen[key]++
		switch key {
		case "transfer-encoding":
			if !strings.EqualFold(strings.TrimSpace(value), "chunked") {
				return "only the transfer encoding chunked is understood"
			}
		case "content-length":
			v := strings.TrimSpace(value)
			if v == "" || strings.Trim(v, "0123456789") != "" {
				return "the content length is not a number"
			}
		case "upgrade", "http2-settings":
			return "protocol upgrades are not served"
		}
	}
	switch {
	case seen["content-length"] > 0 && seen["transfer-encoding"] > 0:
		return "both a content length and a transfer encoding are given"
	case seen["content-length"] > 1 || seen["transfer-encoding"] > 1 || seen["host"] > 1:
		return "a header that must be single is given twice"
	}
	return ""
}
