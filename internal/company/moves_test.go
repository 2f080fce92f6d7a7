package company_test

import (
	"strings"
	"testing"

	. "company/internal/company"
)

// The committer applies what Decide returned before it stores it. An event that moves a task
// or a subtask in a way that the tables do not list is refused there (STA-1).
func TestApplyRefusesOtherMoves(t *testing.T) {
	t.Parallel()
	gated := newStory(t, Settings{}).plan(1)
	gated.work(1)
	cancelled := newStory(t, Settings{})
	cancelled.must(President, Cancel{Task: cancelled.id})
	for _, c := range []struct {
		name  string
		in    *story
		event Event
		want  string
	}{
		{"a task that was cancelled fails", cancelled, Event{Kind: (*TaskFailed)(nil).Kind()},
			"t1 moves from cancelled to failed"},
		{"a subtask that is in its gates is offered again", gated,
			Event{Subtask: gated.subID(1), Run: gated.workRun(1, 2), Kind: (*RunOffered)(nil).Kind()},
			"t1-01 moves from quality_check to assigned"},
	} {
		e := c.event
		e.Seq, e.Task, e.Time, e.Data = c.in.s.Seq+1, c.in.id, c.in.s.Time, []byte("{}")
		err := Apply(c.in.s.View(), e)
		if CodeOf(err) != ELedger || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
