package cli

import (
	"strings"
	"testing"
	"time"

	"company/internal/api"
	"company/internal/company"
)

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
