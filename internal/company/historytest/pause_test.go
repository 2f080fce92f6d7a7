package historytest_test

import (
	"testing"

	. "company/internal/company"
)

// While a subtask is paused nothing of it begins, and it is not merged.
func TestPausedSubtasksRest(t *testing.T) {
	t.Parallel()
	pause := func(n int, on bool) func(s *story) {
		return func(s *story) { s.ticket(n, &SubtaskPaused{Paused: on}) }
	}
	lifted := with(planned, pause(1, true), pause(1, false), func(s *story) { s.offer(worker(1)).claim(worker(1)) })
	claimed := with(planned, func(s *story) { s.offer(worker(1)) }, pause(1, true), pause(1, false),
		func(s *story) { s.claim(worker(1)) })
	merged := func() *story { return reviewed().merge(1, base) }
	checkBroken(t, []broken{
		{"not offered", lifted, func(s *story) { drop[SubtaskPaused](s, 1) }, "run.offered of t1-01.1 while t1-01 is paused"},
		{"not claimed", claimed, func(s *story) { drop[SubtaskPaused](s, 1) },
			"run.claimed of t1-01.1 while t1-01 is paused"},
		{"paused once", lifted, func(s *story) { the[SubtaskPaused](s, 1).Paused = true },
			"the pause of \"t1-01\" changes nothing"},
		{"lifted once", lifted, func(s *story) { the[SubtaskPaused](s, 0).Paused = false },
			"the pause of \"t1-01\" changes nothing"},
		{"a ticket", lifted, func(s *story) { lineOf[SubtaskPaused](s, 0).sub = "" }, "the pause of \"\" changes nothing"},
		{"not merged", merged, func(s *story) {
			insert[MergeIntentRecorded](s, 0, (&story{}).ticket(1, &SubtaskPaused{Paused: true}))
		}, "t1-01 is merged while it is paused"},
		{"not when it is being merged", intended, pause(1, true), "t1-01 is paused when it is being merged, or is"},
		{"not when it is merged", merged, pause(1, true), "t1-01 is paused when it is being merged, or is"},
	})
}
