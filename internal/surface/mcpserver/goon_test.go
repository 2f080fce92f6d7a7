package mcpserver

import (
	"slices"
	"strings"
	"testing"

	"company/internal/company"
)

// TestAnsweredWorkGoesOn: where no company is at work, an answer and the end of a pause have
// one started, if the task can go on; a pause does not. The error of a start that fails names
// the command for the president.
func TestAnsweredWorkGoesOn(t *testing.T) {
	h := newHost(t, "make the door open")
	s := connect(t, h, Grants{Write: true, Approve: true})
	step := func(tool string, args m, want string, onward ...company.TaskID) {
		t.Helper()
		text, code := call(t, s, tool, args)
		if code != "" || !strings.Contains(text, want) || !slices.Equal(h.onward, onward) {
			t.Errorf("%s: %s, onward %v, want %v\n%s", tool, code, h.onward, onward, text)
		}
	}
	step("pause", m{"id": "t1"}, "No company is running: the president continues with company resume t1")
	step("approve", m{"question": "a1"}, "No company is running") // it is paused still
	step("resume", m{"id": "t1"}, "A company continues t1", "t1")
	step("resume", m{"id": "t1"}, "A company continues t1", "t1", "t1") // it was not paused
	h.goOn = company.E(company.EHeld, "no company continued the task in time")
	step("resume", m{"id": "t1"}, "No company could be started: error[E_HELD]", "t1", "t1", "t1")
	step("cancel", m{"task": "t1"}, "t1 is cancelled", "t1", "t1", "t1")
}
