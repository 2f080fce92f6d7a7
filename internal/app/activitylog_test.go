package app

import (
	"testing"
	"time"

	"company/internal/agent"
)

// An agent is at the call that began last, not at the one that ended last, nor
// at its reply while a call runs.
func TestActivities(t *testing.T) {
	var d activityLog
	for _, x := range []struct {
		e    agent.Event
		want string
	}{
		{agent.Event{Kind: agent.TurnStarted, Turn: 1}, "thinks"},
		{agent.Event{Kind: agent.Replied, Turn: 1}, "replied"},
		{agent.Event{Kind: agent.ToolStarted, Turn: 1, Tool: "read_file", Args: "a.go"}, "reads a.go"},
		{agent.Event{Kind: agent.ToolDone, Turn: 1, Tool: "read_file", Args: "a.go"}, "reads a.go"},
		{agent.Event{Kind: agent.ToolStarted, Turn: 1, Tool: "run_command", Args: "sleep 60"}, "runs sleep 60"},
		{agent.Event{Kind: agent.TurnStarted, Turn: 2}, "thinks"},
	} {
		d.recordEvent("t12-02.1", x.e, time.Unix(0, 0))
		if got := d.byRun["t12-02.1"]; got.Text != x.want || got.Turn != x.e.Turn {
			t.Errorf("after %s it is at %q, turn %d", x.e.Kind, got.Text, got.Turn)
		}
	}
}
