package foreground

import (
	"testing"

	"company/internal/company"
	"company/internal/present/view"
	"company/internal/present/view/viewtest"
)

// An interrupt that comes when all is done interrupts nothing.
func TestAllEnded(t *testing.T) {
	state, task := viewtest.TaskOf(nil)
	state.Tasks["t13"] = &company.Task{ID: "t13", Status: company.StatusExecuting}
	work, err := view.Source{State: state}.Work(task.ID, "t13")
	if err != nil {
		t.Fatal(err)
	}
	s := &work
	if end := (jobEnd{work: s, tasks: []company.TaskID{task.ID}}); !end.allEnded() {
		t.Error("a task that has ended is interrupted")
	}
	for name, ended := range map[string]bool{
		"one of two": jobEnd{work: s, tasks: []company.TaskID{task.ID, "t13"}}.allEnded(),
		"no state":   jobEnd{work: nil, tasks: []company.TaskID{task.ID}}.allEnded(),
		"no task":    jobEnd{work: s, tasks: nil}.allEnded(),
		"unknown":    jobEnd{work: s, tasks: []company.TaskID{"t14"}}.allEnded(),
	} {
		if ended {
			t.Errorf("%s: nothing is left to interrupt", name)
		}
	}
}
