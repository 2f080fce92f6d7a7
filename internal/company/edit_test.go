package company

import (
	"testing"
	"time"
)

// An event copies the subtask and the run that it changes, and leaves the others where they are. What
// readers hold stays as it was.
func TestEventCopiesWhatItChanges(t *testing.T) {
	m := Meta{Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	for name, c := range map[string]struct {
		data     Data
		subtasks int
		runs     int
	}{
		"run.released":  {&RunReleased{}, 1, 1},
		"run.told":      {&RunTold{Text: "x"}, 0, 1},
		"budget.raised": {&BudgetRaised{}, 0, 0},
		"task.failed":   {&TaskFailed{Reason: "x"}, 20, 0},
	} {
		s := largeTask(20)
		s.Tasks["t1"].Runs["t1-02.1"].Words = []Word{{Text: "first"}}
		view := s.View()
		before := view.Tasks["t1"]
		e := m.newEvent("t1", "t1-02", "t1-02.1", c.data)
		e.Seq = 1
		if err := Apply(s, e); err != nil {
			t.Fatal(err)
		}
		after, subtasks, runs := s.Tasks["t1"], 0, 0
		for i := range before.Subtasks {
			if before.Subtasks[i] != after.Subtasks[i] {
				subtasks++
			}
			if sub := before.Subtasks[i]; sub.Status != SubtaskRunning {
				t.Errorf("%s: %s of the view is %s", name, sub.ID, sub.Status)
			}
		}
		for id, r := range before.Runs {
			if after.Runs[id] != r {
				runs++
			}
			if !r.Held || len(r.Words) > 1 {
				t.Errorf("%s: %s of the view has changed", name, id)
			}
		}
		if subtasks != c.subtasks || runs != c.runs {
			t.Errorf("%s: %d subtasks and %d runs are copies, want %d and %d", name, subtasks, runs, c.subtasks, c.runs)
		}
		if after.own.runs || after.own.subtasks != nil || s.edited != nil {
			t.Errorf("%s: the task can still be changed: %+v", name, after.own)
		}
	}
}

// A subtask that one event changes twice is copied once.
func TestSubtaskIsCopiedOnce(t *testing.T) {
	s := largeTask(3)
	task := s.editTask("t1")
	first := task.editSubtask("t1-02")
	if task.editSubtask("t1-02") != first || task.Subtask("t1-02") != first {
		t.Error("another copy")
	}
	if task.editSubtask("t1-09") != nil || task.editSubtask("") != nil {
		t.Error("a subtask that is not there")
	}
}
