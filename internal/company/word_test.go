package company_test

import (
	"strings"
	"testing"

	. "company/internal/company"
)

// A message reaches the run that a worker has or is about to have, and no other
// subtask.
func TestTellRefusals(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(2)
	s.mustRefuse(EConflict, Tell{Subtask: s.subID(1), Text: "use the other one"}) // not on offer yet
	s.offer(1)
	s.must(President, Tell{Subtask: s.subID(1), Text: "use the other one"})
	s.mustRefuse(EInvalid, Tell{Subtask: s.subID(1), Text: " \n"})
	s.mustRefuse(EInvalid, Tell{Subtask: s.subID(1), Text: strings.Repeat("x", MaxWord+1)})
	s.mustRefuse(EInvalid, Tell{Subtask: s.subID(1), Text: "\xff"})
	s.mustRefuse(EInvalid, Tell{Subtask: "t1", Text: "x"})
	s.mustRefuse(ENotFound, Tell{Subtask: "t1-09", Text: "x"})
	s.mustRefuse(ENotFound, Tell{Subtask: "t9-01", Text: "x"})
	for range MaxWords - 1 {
		s.must(President, Tell{Subtask: s.subID(1), Text: "and this"})
	}
	s.mustRefuse(EConflict, Tell{Subtask: s.subID(1), Text: "one too many"})
	s.queued(2)
	s.mustRefuse(EConflict, Tell{Subtask: s.subID(2), Text: "too late"}) // in the merge queue
	s.must(President, Cancel{Task: s.id})
	s.mustRefuse(EConflict, Tell{Subtask: s.subID(1), Text: "too late"})
}

// What a run did not read is not lost: a run that ended well has one more after
// it, which begins with the message; what was read causes nothing.
func TestWordsThatComeTooLate(t *testing.T) {
	t.Parallel()
	for heard, want := range []SubtaskStatus{SubtaskPending, SubtaskPending, SubtaskInGate} {
		s := newStory(t, Settings{}).plan(1)
		run, fence := s.offer(1)
		s.must(President, Tell{Subtask: s.subID(1), Text: "use the other one"})
		s.must(President, Tell{Subtask: s.subID(1), Text: "and mind the tests"})
		s.must(string(run),
			EndRun{Run: run, Fence: fence, Outcome: RunEnded{Status: RunSuccess, Head: s.oid(), Heard: heard}})
		s.checkSubStatus(1, want)
		input := s.sub(1).Input
		if strings.Contains(input, "use the other one") != (heard < 1) ||
			strings.Contains(input, "mind the tests") != (heard < 2) {
			t.Errorf("%d were read, and the next run is told %q", heard, input)
		}
	}
	s := newStory(t, Settings{}).plan(1)
	run, fence := s.offer(1)
	s.must(President, Tell{Subtask: s.subID(1), Text: "use the other one"})
	s.must(string(run),
		EndRun{Run: run, Fence: fence, Outcome: RunEnded{Status: RunError, Error: "it gives up", Escalate: true}})
	if !strings.Contains(s.sub(1).Escalation, "The president says: use the other one") {
		t.Errorf("the manager is told %q", s.sub(1).Escalation)
	}
}
