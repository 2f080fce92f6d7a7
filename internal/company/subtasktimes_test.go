package company_test

import (
	"testing"

	. "company/internal/company"
)

// SUB-7: a subtask has the times at which it was planned, first claimed, last changed
// and ended; a retry of its task clears the end.
func TestSubtaskHasTimes(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(2)
	planned := s.sub(1).Times
	if planned.Created.IsZero() || planned.Updated != planned.Created || !planned.Started.IsZero() ||
		!planned.Ended.IsZero() {
		t.Fatalf("of a planned subtask: %+v", planned)
	}
	s.work(1)
	worked := s.sub(1).Times
	if worked.Created != planned.Created || !worked.Started.After(worked.Created) ||
		!worked.Updated.After(worked.Started) || !worked.Ended.IsZero() {
		t.Errorf("of one that was worked on: %+v", worked)
	}
	if other := s.sub(2).Times; other != planned {
		t.Errorf("of another one: %+v, was %+v", other, planned)
	}
	s.must(President, Cancel{Task: s.id})
	if got := s.sub(1).Times; got.Ended != s.now || got.Updated != s.now || got.Started != worked.Started {
		t.Errorf("of a cancelled one at %s: %+v", s.now, got)
	}
	s.must(President, Retry{Task: s.id})
	if got := s.sub(1).Times; !got.Ended.IsZero() || got.Updated != s.now {
		t.Errorf("of one that goes on: %+v", got)
	}
	s.queued(2)
	s.merged(2)
	if got := s.sub(2).Times; got.Ended.IsZero() || got.Ended != got.Updated || got.Created != planned.Created {
		t.Errorf("of a merged one: %+v", got)
	}
}
