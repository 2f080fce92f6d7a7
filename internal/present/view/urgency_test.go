package view

import (
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/present/view/viewtest"
)

// What is urgent about a task stands in show, status and list: its deadline, and that it
// has passed; a task with nothing of its own shows nothing of it.
func TestUrgencyIsShown(t *testing.T) {
	s, task := viewtest.TaskOf(viewtest.WithQuestion(company.AskMerge, "?"))
	now := viewtest.Time.Add(5 * time.Hour)
	shown := func() (all string, v Task) {
		src := Source{State: s, Now: now}
		list, err := src.TaskList(TaskFilter{})
		if err != nil {
			t.Fatal(err)
		}
		detail := src.TaskDetail(task)
		return overviewOf(src, false).RenderText() + detail.Render(Style{}) + list.Render(Style{}), detail.Task
	}
	text, v := shown()
	for _, not := range []string{"priority", "PRIORITY", "DEADLINE", "TAGS", "order:", "due"} {
		if strings.Contains(text, not) {
			t.Errorf("%q is shown:\n%s", not, text)
		}
	}
	if v.Priority != company.PriorityMedium || v.Tags == nil || v.Deadline != nil || v.DueInMS != nil {
		t.Errorf("%+v", v)
	}

	task.Priority, task.Tags, task.Deadline = company.PriorityHigh, []string{"api", "ui"}, now.Add(2*time.Hour)
	at := task.Deadline.Local().Format("2006-01-02 15:04")
	for _, c := range []struct {
		after time.Duration
		ended bool
		want  []string
		due   time.Duration
	}{
		{0, false,
			[]string{"high priority; due " + at + ", in 2h00m; tagged api, ui\n", "  order:  high priority; due ",
				"PRIORITY  DEADLINE          TAGS     WHAT\n", "high      " + at + "  api, ui  "}, 2 * time.Hour},
		{3 * time.Hour, false,
			[]string{"high priority; was due " + at + ", LATE by 1h00m; tagged api, ui\n", at + " LATE  api, ui"}, -time.Hour},
		{74 * time.Hour, false, []string{"LATE by 3d; tagged"}, -72 * time.Hour},
		{1 * time.Hour, true, []string{"  order:  high priority; was due " + at + ", in time; tagged api, ui\n"}, time.Hour},
		{4 * time.Hour, true, []string{"was due " + at + ", ended 2h00m LATE; tagged"}, -2 * time.Hour},
	} {
		now, task.Ended, task.Status = viewtest.Time.Add(5*time.Hour+c.after), time.Time{}, company.StatusExecuting
		if c.ended {
			task.Ended, task.Status = now, company.StatusCancelled
			now = now.Add(time.Hour)
		}
		text, v := shown()
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("after %s, ended %v: no %q in\n%s", c.after, c.ended, want, text)
			}
		}
		if v.DueInMS == nil || *v.DueInMS != c.due.Milliseconds() {
			t.Errorf("after %s, ended %v: due in %v ms", c.after, c.ended, v.DueInMS)
		}
	}
}

// A list is narrowed by priorities, of which one is enough, and tags, of which all must be
// there.
func TestListIsNarrowed(t *testing.T) {
	s := company.NewState()
	for id, task := range map[company.TaskID]*company.Task{
		"t1": {Priority: company.PriorityMedium, Tags: []string{"api"}},
		"t2": {Priority: company.PriorityHigh, Tags: []string{"api", "ui"}},
		"t3": {Priority: company.PriorityLow, Tags: []string{"ui"}},
	} {
		task.ID, task.Submitted = id, viewtest.Time
		s.Tasks[id] = task
	}
	for _, c := range []struct {
		filter TaskFilter
		want   string
	}{
		{TaskFilter{}, "t3 t2 t1"},
		{TaskFilter{Tags: []string{"api"}}, "t2 t1"},
		{TaskFilter{Tags: []string{"ui", "api"}}, "t2"},
		{TaskFilter{Tags: []string{"a"}}, ""},
		{TaskFilter{Priorities: []string{"high", "low"}}, "t3 t2"},
		{TaskFilter{Priorities: []string{"medium"}}, "t1"},
		{TaskFilter{Priorities: []string{"high"}, Tags: []string{"ui"}, States: []string{"ended"}}, ""},
	} {
		v, err := Source{State: s, Now: viewtest.Time}.TaskList(c.filter)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, task := range v.Tasks {
			ids = append(ids, string(task.ID))
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%+v: %s, want %s", c.filter, got, c.want)
		}
	}
	if _, err := (Source{State: s}).TaskList(TaskFilter{Priorities: []string{"urgent"}}); company.CodeOf(
		err) != company.EUsage {
		t.Errorf("urgent: %v", err)
	}
}
