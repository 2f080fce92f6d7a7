package company_test

import (
	"testing"

	. "company/internal/company"
)

// A preview is of the run that a role would have now: the next one, and the current one once it is there. A role
// without work has none.
func TestPreviewRun(t *testing.T) {
	s := newStory(t, Settings{}).plan(2)
	preview := func(role Role, sub *Subtask) (RunID, *Subtask) {
		t.Helper()
		a, err := s.s.PreviewRun(s.task(), sub, role)
		if err != nil {
			if CodeOf(err) != ENotFound {
				t.Error(err)
			}
			return "", nil
		}
		return a.Claimed.ID, a.Subtask
	}
	next, sub := preview(Worker, s.sub(1))
	if next != s.workRun(1, 1) || sub.Started != 1 || s.sub(1).Started != 0 {
		t.Errorf("the next run is %s, %+v", next, sub)
	}
	if run, _ := s.offer(1); run != next {
		t.Errorf("%s was offered, not %s", run, next)
	}
	if run, sub := preview(Worker, s.sub(1)); run != next || sub != s.sub(1) {
		t.Errorf("the current run is %s", run)
	}
	for _, role := range []Role{Manager, Reviewer, Merger} {
		if run, _ := preview(role, s.sub(1)); run != "" {
			t.Errorf("a %s has the run %s", role, run)
		}
	}
	if _, err := s.s.PreviewRun(s.task(), nil, "boss"); CodeOf(err) != EUsage {
		t.Error(err)
	}
}
