package company_test

import (
	"testing"

	. "company/internal/company"
)

// Work that was cut off with its task was never handed in: it goes to a worker, also where the task
// ends again before one takes it.
func TestReopenedTwice(t *testing.T) {
	s := newStory(t, Settings{}).plan(1)
	run, fence := s.offer(1)
	s.must(President, Cancel{Task: s.id})
	s.must(string(run),
		EndRun{Run: run, Fence: fence,
			Outcome: RunEnded{Status: RunError, Error: "the task has ended", Head: s.oid(), Branch: "agent/x",
				Changes: []Change{{Path: "a", Action: "modified"}}}})
	for range 3 {
		s.must(President, Retry{Task: s.id})
		s.checkSubStatus(1, SubtaskPending)
		if sub := s.sub(1); sub.Head == "" || sub.Input == "" {
			t.Errorf("the worker is not told where to go on: head %q, input %q", sub.Head, sub.Input)
		}
		s.must(President, Cancel{Task: s.id})
	}
}
