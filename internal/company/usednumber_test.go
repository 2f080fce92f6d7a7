package company_test

import (
	"testing"

	. "company/internal/company"
	"company/internal/company/historytest"
)

// A number that a branch of the remote has is taken by no new task, and the event tells which were
// skipped. Smaller numbers of the remote change nothing.
func TestNumbersOfTheRemoteAreSkipped(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	submit := Submit{Instruction: "do it", Project: Project{ID: "p", Path: "/p"}}
	var all []Event
	for _, c := range []struct {
		after   int
		want    TaskID
		skipped int
	}{
		{0, "t1", 0},
		{1, "t2", 0},
		{4, "t5", 3},
		{4, "t6", 0},
		{0, "t7", 0},
		{8, "t9", 8},
		{MaxNumberAfter, NewTaskID(MaxNumberAfter + 1), 10},
		{MaxNumberAfter, NewTaskID(MaxNumberAfter + 2), 0},
	} {
		submit.NumberAfter = c.after
		evs := b.must(President, submit)
		all = append(all, evs...)
		d, err := Decode(evs[0])
		if err != nil || evs[0].Task != c.want || d.(*TaskSubmitted).SkippedFrom != c.skipped ||
			b.s.LastTask != c.want.Number() {
			t.Errorf("after %d: %s, %+v, last %d, %v", c.after, evs[0].Task, d, b.s.LastTask, err)
		}
	}
	if err := historytest.CheckInvariants(b.s); err != nil || len(b.s.SortedTasks()) != len(all) ||
		b.s.SkippedTasks != b.s.LastTask-len(all) {
		t.Errorf("%d of %d skipped: %v", b.s.SkippedTasks, b.s.LastTask, err)
	}
	for _, bad := range []int{-1, MaxNumberAfter + 1} {
		submit.NumberAfter = bad
		if _, err := b.do(President, submit); CodeOf(err) != EInvalid {
			t.Errorf("%d: %v", bad, err)
		}
	}
}
