package cli

import (
	"testing"

	"company/internal/company"
	"company/internal/view"
	"company/internal/view/viewtest"
)

// A question is cut between words.
func TestWrapText(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"", ""},
		{"one", "one"},
		{"one two", "one two"},
		{"one two three", "one two\n  three"},
		{"  one\ttwo \n\nthree four five\n", "one two\n  \n  three\n  four five"},
		{"a-word-that-is-too-long b", "a-word-that-is-too-long\n  b"},
		{"ééééééé é", "ééééééé é"},
	} {
		if got := wrapText(x.text, 9, "  "); got != x.want {
			t.Errorf("%q: %q, want %q", x.text, got, x.want)
		}
	}
}

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
