package mcpserver

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"company/internal/api/client"
	"company/internal/company"
)

// errClientGone cancels running calls after the client has closed the connection.
var errClientGone = errors.New("the client has closed the connection")

// Server serves the tools and resources of an office to one client.
type Server struct {
	host Host
	log  *slog.Logger
	mcp  *mcp.Server

	withheld map[string]string // by tool, the flag that a withheld tool needs
	beat     time.Duration     // interval of progress notifications

	gone  context.Context // done when the client has closed its end
	leave context.CancelCauseFunc
}

// New returns a server for one connection. version is the program's version. log gets errors that
// no answer reports.
func New(h Host, grants Grants, version string, log *slog.Logger) *Server {
	server := &Server{host: h, log: log, withheld: map[string]string{}, beat: progressEvery}
	server.gone, server.leave = context.WithCancelCause(context.Background())
	server.mcp = mcp.NewServer(&mcp.Implementation{Name: "company", Title: "company", Version: version},
		&mcp.ServerOptions{
			Instructions: grants.describeUse(), Logger: log, Capabilities: &mcp.ServerCapabilities{},
		})
	server.mcp.AddReceivingMiddleware(server.refuseWithheld)
	toolset{Server: server}.addReadingTools()
	toolset{server, findLack(grants.Write, flagWrite)}.addWritingTools()
	toolset{server, findLack(grants.Approve, flagApprove)}.addApprovingTools()
	server.addResources()
	return server
}

// ServeIO serves a client that writes to in and reads out. It returns when the client closes in,
// or the cause of ctx when ctx ends. It closes in on return if in is an io.Closer.
func (s *Server) ServeIO(ctx context.Context, in io.Reader, out io.Writer) error {
	return s.Serve(
		ctx, &mcp.IOTransport{Reader: closing{in}, Writer: keptOpen{out}, MaxLineLength: maxSubmission + maxArguments})
}

// Serve serves the client of a transport. It returns when the client closes the connection, or the
// cause of ctx when ctx ends.
func (s *Server) Serve(ctx context.Context, t mcp.Transport) error {
	defer s.leave(errClientGone)
	stop := context.AfterFunc(ctx, func() { s.leave(context.Cause(ctx)) })
	defer stop()
	err := s.mcp.Run(ctx, &answeringTransport{t, s})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	//nolint:contextcheck // the client's end, not that of ctx
	if err != nil && !errors.Is(context.Cause(s.gone), errClientGone) {
		return company.E(company.EInvalid, "the client does not speak the Model Context Protocol").Wrap(err).
			Fix("start company mcp from an MCP client; docs/mcp.md has examples")
	}
	return nil
}

// withOffice calls do with the office in its current state.
func (s *Server) withOffice(ctx context.Context, do func(*client.Office) error) error {
	office, err := s.host.Connect(ctx)
	if err != nil {
		return err
	}
	defer office.Close()
	return do(office)
}

// closing is the stream from a client. Closing the connection closes it if possible.
type closing struct{ io.Reader }

// Close closes the stream if it is an io.Closer.
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
