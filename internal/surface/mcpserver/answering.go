package mcpserver

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lastCalls limits how long running calls may continue after the client closes its end.
const lastCalls = 5 * time.Second

// answeringTransport delays the end of a client's requests until all are answered. At that end the
// SDK cancels running calls, so a program that writes its requests and closes its end would get no
// answers.
type answeringTransport struct {
	mcp.Transport
	server *Server
}

// Connect connects the wrapped transport.
func (t *answeringTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &answeringConn{Connection: c, server: t.server}, nil
}

// answeringConn is a connection of an answeringTransport.
type answeringConn struct {
	mcp.Connection
	server *Server

	mu   sync.Mutex
	open int           // number of requests without an answer
	idle chan struct{} // set once the client has closed its end; closed when the last request is answered
}

// Read reads the next message. It reports the end of input once all requests are answered, after
// lastCalls, or at once if the server must end.
func (c *answeringConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if err == nil {
		if r, ok := msg.(*jsonrpc.Request); ok && r.IsCall() {
			c.mu.Lock()
			c.open++
			c.mu.Unlock()
		}
		return msg, nil
	}
	cause := err
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
		cause = errClientGone
	}
	c.server.leave(cause)
	if !errors.Is(context.Cause(c.server.gone), errClientGone) { //nolint:contextcheck // the client's end, not the call's
		return nil, err // an interrupt came first, or the input is not a protocol message
	}
	c.mu.Lock()
	c.idle = make(chan struct{})
	idle := c.idle
	if c.open == 0 {
		close(idle)
	}
	c.mu.Unlock()
	late := time.NewTimer(lastCalls)
	defer late.Stop()
	select {
	case <-idle:
	case <-late.C:
	case <-ctx.Done():
	}
	return nil, err
}

// Write writes a message. The answer to the last request permits Read to report the end.
func (c *answeringConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if _, ok := msg.(*jsonrpc.Response); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.open--; c.open == 0 && c.idle != nil {
			close(c.idle)
		}
	}
	return err
}
