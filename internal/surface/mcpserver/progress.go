package mcpserver

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressEvery is the interval of progress notifications of a call. Many clients cancel a call
// after 60 s without one.
const progressEvery = 10 * time.Second

// reportProgress sends progress notifications during a call if the client requested them, because
// each one restarts the client's timeout. stop ends them. None is sent after stop returns, because
// the client has forgotten the call then.
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
			note := mcp.ProgressNotificationParams{ProgressToken: token, Progress: waited.Seconds(),
				Message: req.Params.Name + " has been running for " + waited.String()}
			if err := req.Session.NotifyProgress(ctx, &note); err != nil && ctx.Err() == nil {
				s.log.Debug("could not send a progress notification", "tool", req.Params.Name, "error", err)
				return
			}
		}
	})
	return func() {
		cancel()
		notes.Wait()
	}
}
