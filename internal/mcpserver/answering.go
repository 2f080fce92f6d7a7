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

// lastCalls is how long calls under way may go on once the client has closed its end.
const lastCalls = 5 * time.Second

// answeringTransport hides the end of a client's requests until they are answered. The SDK
// breaks calls off at that end, and a program that writes its requests and closes would get
// no answers.
type answeringTransport struct {
	mcp.Transport
	server *Server
}

// Connect connects the transport below.
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
	open int           // requests without an answer
	idle chan struct{} // there once the client has gone, and closed when the last request has its answer
}

// Read reads the next message. The end comes when requests are answered, or lastCalls are
// over, or at once where the server is to end.
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
		return nil, err // an interrupt came before, or what came is no protocol
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

// Write writes a message. With the answer to the last request the end may come.
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
