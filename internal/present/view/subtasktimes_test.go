package view

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/present/view/viewtest"
)

// A subtask whose merge is asked about waits for the president, and says so; with the answer
// it merges.
func TestAskedMergeNeedsYou(t *testing.T) {
	s, task := viewtest.TaskOf(viewtest.WithQuestion(company.AskMerge, "Merge t12-02 (x)?"))
	sub, src := task.Subtasks[1], Source{State: s, Now: viewtest.Time}
	sub.Status = company.SubtaskMerging
	if v := src.Subtask(task, sub); v.StateText() != "merging" || v.Question != "" {
		t.Errorf("a question of another subtask: %s, %q", v.StateText(), v.Question)
	}
	s.Approvals["a3"].Subtask = sub.ID
	if v := src.Subtask(task, sub); v.StateText() != "needs you" || v.Question != "a3" ||
		v.Status != company.SubtaskMerging {
		t.Errorf("%s, %q, %s", v.StateText(), v.Question, v.Status)
	}
	s.Approvals["a3"].Answered = viewtest.Time
	if v := src.Subtask(task, sub); v.StateText() != "merging" {
		t.Errorf("it is answered: %s", v.StateText())
	}
}

// SUB-7: show and -o json tell when a subtask was planned, started and ended.
func TestTimesOfASubtaskAreShown(t *testing.T) {
	useUTC(t)
	s, task := viewtest.TaskOf(nil)
	at := func(minutes int) time.Time { return viewtest.Time.Add(time.Duration(minutes) * time.Minute) }
	sub := task.Subtasks[0]
	sub.Status = company.SubtaskCompleted
	sub.Times = company.SubtaskTimes{Created: at(0), Started: at(1), Updated: at(9), Ended: at(9)}
	v := Source{State: s, Now: at(20)}.Subtask(task, sub)
	want := "times:  planned " + at(0).Format(time.DateTime) + ", started " + at(1).Format(time.TimeOnly) + ", merged " +
		at(9).Format(time.TimeOnly)
	if text := v.Render(Style{}); !strings.Contains(text, want) {
		t.Errorf("show lacks %q:\n%s", want, text)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Created, Updated time.Time
		Started, Ended   *time.Time
	}
	if err := json.Unmarshal(raw, &got); err != nil || got.Started == nil || got.Ended == nil {
		t.Fatalf("%v: %s", err, raw)
	}
	if !got.Created.Equal(at(0)) || !got.Started.Equal(at(1)) || !got.Updated.Equal(at(9)) || !got.Ended.Equal(at(9)) {
		t.Errorf("-o json: %+v", got)
	}
	sub.Times.Started, sub.Times.Ended = time.Time{}, time.Time{}
	if raw, err = json.Marshal(Source{State: s, Now: at(20)}.Subtask(task, sub)); err != nil ||
		!strings.Contains(string(raw), `"started":null`) {
		t.Errorf("of one that no worker claimed: %v: %s", err, raw)
	}
}
