package cli

import (
	"strings"
	"testing"
	"time"

	"company/internal/agent"
	"company/internal/api"
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
		{agent.Event{Kind: agent.ToolStarted, Turn: 1, Tool: "read_file", Args: "a.go"}, "read_file a.go"},
		{agent.Event{Kind: agent.ToolDone, Turn: 1, Tool: "read_file", Args: "a.go"}, "read_file a.go"},
		{agent.Event{Kind: agent.ToolStarted, Turn: 1, Tool: "run_command", Args: "sleep 60"}, "run_command sleep 60"},
		{agent.Event{Kind: agent.TurnStarted, Turn: 2}, "thinks"},
	} {
		d.recordEvent("t12-02.1", x.e, testTime)
		if got := d.byRun["t12-02.1"]; got.Text != x.want || got.Turn != x.e.Turn {
			t.Errorf("after %s it is at %q, turn %d", x.e.Kind, got.Text, got.Turn)
		}
	}
}

// What is shown of a run that is under way is what the agents say, since the
// ledger learns of turns at the end.
func TestLiveRunView(t *testing.T) {
	s, task := taskOf(withQuestion(company.AskMerge, "?"))
	task.Runs = map[company.RunID]*company.Run{
		"t12-02.1": {ID: "t12-02.1", Role: company.Worker, Subtask: "t12-02", Held: true, Claimed: time.Now().UTC()},
		"t12-01.1": {ID: "t12-01.1", Role: company.Worker, Subtask: "t12-01", Ended: true, Turns: 7, Claimed: testTime, EndedAt: testTime},
	}
	doings := []api.Activity{{Run: "t12-02.1", Turn: 3, Text: "run_command sleep 60"}, {Run: "t12-01.1", Turn: 9, Text: "thinks"}}
	for id, want := range map[string]string{
		"t12":      "PLAN",
		"t12-02":   "3 turns  0 tokens  run_command sleep 60",
		"t12-02.1": "3 turns, 0 tokens\n  now:    run_command sleep 60\n",
		"t12-01.1": "7 turns, 0 tokens\n",
	} {
		_, v, err := viewTarget(s, newPaths(t), id, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		text := withActivities(v, doings).renderText()
		if !strings.Contains(text, want) || strings.Contains(text, "thinks") {
			t.Errorf("%s:\n%s", id, text)
		}
	}
}

// A task that has not ended grows older without an event.
func TestTaskAgeGrows(t *testing.T) {
	s, task := taskOf(withQuestion(company.AskMerge, "?"))
	task.Updated = task.Submitted
	if got := viewTask(s, task, time.Now()).DurationMS; got < time.Since(testTime).Milliseconds()-60_000 {
		t.Errorf("it is %d ms old", got)
	}
}
