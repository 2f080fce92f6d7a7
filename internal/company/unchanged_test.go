package company_test

import (
	"slices"
	"testing"

	. "company/internal/company"
	"company/internal/company/historytest"
)

// A task whose workers found nothing to change is gated and reviewed like any other, and then complete: nothing is
// asked about a pull request, and none is opened. One subtask with a change is delivered.
func TestTaskThatChangesNothing(t *testing.T) {
	for name, changes := range map[string][]Change{
		"nothing at all": nil, "a part of it": {{Path: "a.go", Action: "modified"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, Settings{PR: Ask}).plan(2)
			for n, changes := range [][]Change{nil, changes} {
				run, fence := s.offer(n + 1)
				s.must(string(run), EndRun{Run: run, Fence: fence, Outcome: RunEnded{Status: RunSuccess, Head: s.oid(),
					Branch: "agent/x", Changes: changes, Unchanged: len(changes) == 0}})
				s.must(Company, s.gated(n+1, true))
				s.reviewed(n+1, Approve)
				s.merged(n + 1)
			}
			s.checked()
			asks := slices.ContainsFunc(s.s.RequiredApprovals(s.task()),
				func(q PendingQuestion) bool { return q.Kind == AskPR })
			s.must(Company, IntendDelivery{s.id})
			task, isDone := s.task(), changes == nil
			if (task.Status == StatusCompleted) != isDone || asks == isDone || task.PR != nil || task.Delivery != nil {
				t.Errorf("status %s, asks %v, %+v", task.Status, asks, task.Delivery)
			}
			if _, err := historytest.Replay(s.log); err != nil {
				t.Error(err)
			}
			if err := historytest.CheckInvariants(s.s); err != nil {
				t.Error(err)
			}
		})
	}
}
