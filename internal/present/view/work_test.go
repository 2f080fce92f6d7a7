package view

import (
	"slices"
	"testing"

	"company/internal/company"
	"company/internal/present/view/viewtest"
)

// TestPausedWork: a paused task stands for its subtasks; of another the paused subtasks
// are named.
func TestPausedWork(t *testing.T) {
	s, task := viewtest.TaskOf(viewtest.WithQuestion(company.AskMerge, "?"))
	for _, c := range []struct {
		task, subtask bool
		want          []string
	}{
		{false, false, nil},
		{false, true, []string{"t12-02"}},
		{true, true, []string{"t12"}},
	} {
		task.Paused, task.Subtasks[1].Paused = c.task, c.subtask
		work, err := Source{State: s, Now: viewtest.Time}.Work()
		if err != nil {
			t.Fatal(err)
		}
		if got := work.PausedIDs(); !slices.Equal(got, c.want) {
			t.Errorf("paused: task %v, subtask %v: %q, want %q", c.task, c.subtask, got, c.want)
		}
	}
}
