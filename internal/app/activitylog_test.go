package app

import (
	"testing"
	"time"

	"company/internal/agent"
	"company/internal/company"
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
		d.recordEvent("t12-02.1", x.e, time.Unix(0, 0), func(company.RunID) bool { return true })
		if got := d.byRun["t12-02.1"]; got.Text != x.want || got.Turn != x.e.Turn {
			t.Errorf("after %s it is at %q, turn %d", x.e.Kind, got.Text, got.Turn)
		}
	}
}

// Only a server that named the wait has asked for it. Without that, the text says how long the model is asked.
func TestWaitText(t *testing.T) {
	e := agent.Event{Kind: agent.Waiting, Wait: 1234 * time.Millisecond, Text: "model: unreachable: refused"}
	for want, change := range map[string]func(*agent.Event){
		"the model is asked again: model: unreachable: refused": func(*agent.Event) {},
		"the model is asked again, for up to 15m00s: model: unreachable: refused": func(e *agent.Event) {
			e.Longest = 15 * time.Minute
		},
		"the model's server asks to wait 1.2s: model: unreachable: refused": func(e *agent.Event) { e.Asked = true },
	} {
		of := e
		change(&of)
		if got := waitText(of); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// An outage is one wait, from its beginning, however often the model is asked meanwhile.
func TestOneOutageIsOneWait(t *testing.T) {
	var d activityLog
	record := func(kind agent.EventKind, second int64) bool {
		return d.recordEvent("t1-01.1", agent.Event{Kind: kind, Turn: 1}, time.Unix(second, 0), nil)
	}
	record(agent.TurnStarted, 0)
	if record(agent.Waiting, 1) || !record(agent.Waiting, 2) || !record(agent.Waiting, 4) {
		t.Error("a wait is not told once")
	}
	if at := d.byRun["t1-01.1"].Time; !at.Equal(time.Unix(1, 0)) {
		t.Errorf("it waits since %s", at)
	}
	record(agent.Replied, 5)
	if record(agent.Waiting, 6) {
		t.Error("the next outage is not told")
	}
}

// Activities of runs that have ended are forgotten, asked for or not.
func TestActivitiesAreBounded(t *testing.T) {
	var d activityLog
	const held = company.RunID("t1-01.1")
	for n := range 10 * maxActivities {
		d.recordEvent(company.NewRunID("t2", "", company.Manager, n+1), agent.Event{Kind: agent.TurnStarted}, time.Unix(0, 0),
			func(r company.RunID) bool { return r == held })
		if n == 0 {
			d.recordEvent(held, agent.Event{Kind: agent.TurnStarted}, time.Unix(0, 0), nil)
		}
	}
	if _, known := d.byRun[held]; len(d.byRun) > maxActivities || !known {
		t.Errorf("%d activities are remembered, that of the held run: %v", len(d.byRun), known)
	}
}
