package mcpserver

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressEvery is the time between two notes of progress of a call. Many clients give a
// call up after 60 s without one.
const progressEvery = 10 * time.Second

// reportProgress sends notes of progress while a call goes on, to a client that asks for
// them: with each of them the client's patience begins anew. The returned function ends
// them; none comes behind it, since the client has forgotten the call then.
func (s *Server) reportProgress(ctx context.Context, req *mcp.CallToolRequest) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var notes sync.WaitGroup
	notes.Go(func() {
		tick := time.NewTicker(s.beat)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			waited := time.Duration(n) * s.beat
			note := mcp.ProgressNotificationParams{ProgressToken: token, Progress: waited.Seconds(), Message: req.Params.Name + " goes on since " + waited.String()}
			if err := req.Session.NotifyProgress(ctx, &note); err != nil && ctx.Err() == nil {
				s.log.Debug("a note of progress was not sent", "tool", req.Params.Name, "error", err)
				return
			}
		}
	})
	return func() {
		cancel()
		notes.Wait()
	}
}
