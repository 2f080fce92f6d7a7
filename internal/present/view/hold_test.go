package view

import (
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/present/view/viewtest"
)

// waitingOffice has t12 and a task beside it, neither of which has a base yet.
func waitingOffice(t *testing.T, change func(first, second *company.Task)) Source {
	t.Helper()
	s, first := viewtest.TaskOf(func(s *company.State, t *company.Task) {
		t.Status, t.Ended, t.PR, t.Gate, t.Prepared, t.Head = company.StatusPending, time.Time{}, nil, nil, nil, ""
		t.Subtasks, t.Runs, t.Reason = nil, nil, ""
		s.Office.Epoch = 1
	})
	second := *first
	second.ID = "t13"
	s.Tasks[second.ID] = &second
	s.Open = []company.TaskID{first.ID, second.ID}
	if change != nil {
		change(first, &second)
	}
	return Source{State: s, Now: viewtest.Time.Add(time.Minute), AtWork: true, Active: 1}
}

// A task that waits for one of the places of limits.concurrent_tasks is queued, says so with the reason, and is not
// among what is at work.
func TestQueuedTaskIsNotAtWork(t *testing.T) {
	src := waitingOffice(t, nil)
	overview, err := src.Overview(true)
	if err != nil {
		t.Fatal(err)
	}
	const why = "waits for a slot: 1 task is under way (t12); limits.concurrent_tasks is 1"
	text := overview.RenderText()
	if strings.Count(text, FindsBase) != 1 || !strings.Contains(text, "t13   queued ") || !strings.Contains(text, why) {
		t.Errorf("status:\n%s", text)
	}
	if got := overview.WorkText(); got != "1 task at work, 1 waiting" {
		t.Errorf("%q", got)
	}
	shown, err := src.Show("t13")
	if err != nil || !strings.Contains(shown.Render(Style{}), "t13  queued") ||
		!strings.Contains(shown.Render(Style{}), "  next:   "+why+"\n") {
		t.Errorf("show: %v\n%s", err, shown.Render(Style{}))
	}
	if sum := src.Summary(src.State.Tasks["t13"]); sum.Why != why || sum.Next != "company show t13" {
		t.Errorf("summary: %q, next: %q", sum.Why, sum.Next)
	}
	work, err := src.Work("t12", "t13")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, p := range work.Tasks {
		lines = append(lines, p.ProgressText(src.Now))
	}
	if want := []string{"preparing, $0.41, 1m00s; " + FindsBase, "queued, $0.41, 1m00s; " + why}; !slices.Equal(lines,
		want) {
		t.Errorf("the live lines are\n%q, want\n%q", lines, want)
	}
	for _, state := range []string{"queued", "preparing"} {
		list, err := src.TaskList(TaskFilter{States: []string{state}})
		if err != nil || len(list.Tasks) != 1 || list.Tasks[0].StateText() != state {
			t.Errorf("list --state %s: %v, %+v", state, err, list.Tasks)
		}
	}
	if agents := src.Agents().Render(Style{}); !strings.Contains(agents, "; 1 task queued") {
		t.Errorf("agents:\n%s", agents)
	}
}

// A step that has failed is over: what is shown is when it is tried again, and what happens then.
func TestFailedStepIsTriedAgain(t *testing.T) {
	src := waitingOffice(t, func(first, _ *company.Task) {
		first.Settings.EffectRetries = 4
		first.Failures = map[string]company.Failure{"prepare": {Attempt: 4, Code: company.EImage, Error: "pypi.org is away",
			NotBefore: viewtest.Time.Add(time.Minute + 48*time.Second)}}
	})
	src.Active = 4
	src.Activities = []Activity{{Text: "image: installing the Python packages", Time: viewtest.Time.Add(30 * time.Second)}}
	overview, err := src.Overview(true)
	if err != nil {
		t.Fatal(err)
	}
	const next = "retries in 48s (attempt 5 of 5), then asks you: pypi.org is away"
	if text := overview.RenderText(); len(overview.Steps) != 1 || overview.Steps[0].Task != "t13" ||
		!strings.Contains(text, next) {
		t.Errorf("status:\n%s", text)
	}
	src.Now = viewtest.Time.Add(2 * time.Minute)
	if overview, err = src.Overview(true); err != nil || len(overview.Steps) != 2 || len(overview.Tasks[1].Waits) > 0 {
		t.Errorf("then: %v, %+v", err, overview.Steps)
	}
}

// Each reason has its words.
func TestHoldTexts(t *testing.T) {
	state := company.NewState()
	state.Office.Workers, state.Office.Writers = 2, 1
	now := viewtest.Time
	retry := func(attempt, attempts int, manager bool) company.Hold {
		return company.Hold{Task: "t1", Subtask: "t1-01", Kind: company.HoldRetry, Attempt: attempt, Attempts: attempts,
			Manager: manager, Failure: company.Failure{Error: "no\nway", NotBefore: now.Add(4 * time.Second)}}
	}
	ids := []company.TaskID{"t1", "t2", "t3", "t4", "t5", "t6"}
	for _, c := range []struct {
		hold company.Hold
		want string
	}{
		{company.Hold{Kind: company.HoldTasks, Tasks: ids[:2]}, "waits for t1, t2"},
		{company.Hold{Kind: company.HoldBranch, Tasks: ids[:1]}, "waits for t1, which uses the same branch"},
		{company.Hold{Kind: company.HoldSlot, Tasks: ids}, "waits for a slot: 6 tasks are under way (t1, t2, t3, t4, t5 and 1 " +
			"more); limits.concurrent_tasks is 6"},
		{retry(2, 5, false), `retries in 4s (attempt 2 of 5): no way`},
		{retry(5, 5, false), `retries in 4s (attempt 5 of 5), then asks you: no way`},
		{retry(2, 2, true), `retries in 4s (attempt 2 of 2), then the manager decides: no way`},
		{retry(9, 0, false), `retries in 4s: no way`},
		{company.Hold{Kind: company.HoldAnswer}, "waits for your answer"},
		{company.Hold{Kind: company.HoldMoney}, "waits for budget: a cap of the office is used up"},
		{company.Hold{Kind: company.HoldWorker}, "waits for a free worker (2 workers in all)"},
		{company.Hold{Kind: company.HoldWriters}, "waits for its turn in the project: limits.writers is 1"},
	} {
		if got := NewHold(c.hold, state, 6, now).joinReason(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	var task Task
	for _, id := range []company.SubtaskID{"t1-01", "t1-02", "t1-03", "t1-04", "t1-05"} {
		task.Waits = append(task.Waits, Hold{Subtask: id, Kind: company.HoldWorker, Text: "waits"})
	}
	if got := task.HoldTexts(); !slices.Equal(got, []string{"t1-01, t1-02, t1-03, t1-04 and 1 more: waits"}) {
		t.Errorf("%q", got)
	}
}
