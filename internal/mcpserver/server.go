package mcpserver

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"company/internal/client"
	"company/internal/company"
)

// errClientGone ends the calls under way for a client that has closed the connection.
var errClientGone = errors.New("the client has closed the connection")

// Server is the tools and resources of an office for one client.
type Server struct {
	host Host
	log  *slog.Logger
	turn chan struct{} // held while this process has an office that no other one serves
	mcp  *mcp.Server

	withheld map[string]string // the flag that a refused tool needs, by the tool's name
	beat     time.Duration     // between two notes of progress

	gone  context.Context // done when the client has closed its end
	leave context.CancelCauseFunc
}

// New makes a server for one connection. version is the program's. log gets what goes wrong
// beside the answers.
func New(h Host, g Grants, version string, log *slog.Logger) *Server {
	s := &Server{host: h, log: log, turn: make(chan struct{}, 1), withheld: map[string]string{}, beat: progressEvery}
	s.gone, s.leave = context.WithCancelCause(context.Background())
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "company", Title: "company", Version: version}, &mcp.ServerOptions{
		Instructions: g.describeUse(), Logger: log, Capabilities: &mcp.ServerCapabilities{},
	})
	s.mcp.AddReceivingMiddleware(s.refuseWithheld)
	toolset{Server: s}.addReadingTools()
	toolset{s, findLack(g.Write, flagWrite)}.addWritingTools()
	toolset{s, findLack(g.Approve, flagApprove)}.addApprovingTools()
	s.addResources()
	return s
}

// ServeIO serves a client that writes to in and reads out, until it closes in, or ctx ends:
// then it returns the cause. in is closed on return where it can be.
func (s *Server) ServeIO(ctx context.Context, in io.Reader, out io.Writer) error {
	return s.Serve(ctx, &mcp.IOTransport{Reader: closing{in}, Writer: keptOpen{out}, MaxLineLength: maxSubmission + maxArguments})
}

// Serve serves the client of a transport until it closes the connection, or ctx ends: then
// it returns the cause.
func (s *Server) Serve(ctx context.Context, t mcp.Transport) error {
	defer s.leave(errClientGone)
	stop := context.AfterFunc(ctx, func() { s.leave(context.Cause(ctx)) })
	defer stop()
	err := s.mcp.Run(ctx, &answeringTransport{t, s})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil && !errors.Is(context.Cause(s.gone), errClientGone) { //nolint:contextcheck // the client's end, not that of ctx
		return company.E(company.EInvalid, "the client does not speak the Model Context Protocol").Wrap(err).Fix("start company mcp from an MCP client; docs/mcp.md has examples")
	}
	return nil
}

// withOffice does something at the office as it is now. Where no other process serves it,
// this one holds it for the while, and one call at a time does so.
func (s *Server) withOffice(ctx context.Context, do func(*client.Office) error) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	o, err := s.host.Connect(ctx)
	if err != nil {
		<-s.turn
		return err
	}
	if o.IsServed() {
		<-s.turn
		defer o.Close()
		return do(o)
	}
	defer func() {
		o.Close()
		<-s.turn
	}()
	return do(o)
}

// closing is the stream from a client, which is closed with the connection where it can be.
type closing struct{ io.Reader }

// Close closes the stream where it can be closed.
func (s closing) Close() error {
	if c, ok := s.Reader.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// keptOpen is a stream that its owner closes.
type keptOpen struct{ io.Writer }

// Close leaves the stream open.
func (keptOpen) Close() error { return nil }
