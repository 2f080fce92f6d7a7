package mcpserver

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"company/internal/company"
)

// TestProgressOfLongCalls: a client that asks for notes of progress gets them while a wait
// goes on, each further than the one before, and none behind the answer. One that does not
// ask gets none.
func TestProgressOfLongCalls(t *testing.T) {
	h := newHost(t, "make the door open")
	h.waits, h.over = make(chan struct{}, 2), make(chan struct{})
	here, there := mcp.NewInMemoryTransports()
	ended := make(chan error, 1)
	server := New(h, Grants{}, "test", slog.New(slog.DiscardHandler))
	server.beat = time.Millisecond
	go func() { ended <- server.Serve(t.Context(), there) }()
	notes := make(chan *mcp.ProgressNotificationParams, 1000)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			select {
			case notes <- r.Params:
			default: // enough of them are there
			}
		},
	}).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	wait := func(token any) <-chan *mcp.CallToolResult {
		p := &mcp.CallToolParams{Name: "wait", Arguments: m{"tasks": []company.TaskID{"t1"}, "timeout_seconds": 600}}
		if token != nil {
			p.SetProgressToken(token)
		}
		done := make(chan *mcp.CallToolResult, 1)
		go func() {
			r, err := session.CallTool(t.Context(), p)
			if err != nil {
				t.Error(err)
			}
			done <- r
		}()
		<-h.waits
		return done
	}
	silent, asked := wait(nil), wait("mine")
	was := 0.0
	for range 3 {
		n := <-notes
		if n.ProgressToken != "mine" || n.Progress <= was || !strings.HasPrefix(n.Message, "wait has been running") {
			t.Errorf("after %v: %+v", was, n)
		}
		was = n.Progress
	}
	close(h.over)
	for _, done := range []<-chan *mcp.CallToolResult{silent, asked} {
		if r := <-done; r == nil || r.IsError {
			t.Errorf("the wait: %+v", r)
		}
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
