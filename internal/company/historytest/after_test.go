package historytest_test

import (
	"testing"

	. "company/internal/company"
)

// later is a second task that begins after the first, which is merged. laterBased has no image yet.
func later() *story      { return laterBy(prepared()) }
func laterBased() *story { return laterBy(based()) }

func laterBy(second *story) *story {
	s := delivered().task(&PRSettled{State: PRMerged})
	for _, l := range second.lines[1:] {
		l.task = "t2"
		if d, ok := l.what.(*TaskSubmitted); ok {
			d.After = []TaskID{"t1"}
		}
		s.lines = append(s.lines, l)
	}
	return s
}

// A task begins when those that it was submitted after are merged, or the president lets it.
func TestTaskBeginsAfterOthers(t *testing.T) {
	t.Parallel()
	early := "t2 begins before t1 is merged"
	checkBroken(t, []broken{
		{"its pull request is open", later, func(s *story) { drop[PRSettled](s, 0) }, early},
		{"its pull request is closed", later, func(s *story) { the[PRSettled](s, 0).State = PRClosed }, early},
		{"it goes on", later, func(s *story) { drop[TaskCompleted](s, 0) }, early},
		{"its base is found", laterBased, func(s *story) { drop[PRSettled](s, 0) }, early},
		{"it was never submitted", later, func(s *story) { the[TaskSubmitted](s, 1).After = []TaskID{"t9"} },
			"t2 begins before t9 is merged"},
		{"it was cancelled", later, func(s *story) {
			s.lines = append(submitted().task(&TaskCancelled{}).lines, s.lines[find[TaskSubmitted](s, 1):]...)
		}, early},
	})
	requireKept(t, map[string]func() *story{
		"the president lets it": func() *story {
			s := later()
			drop[PRSettled](s, 0)
			leave := (&story{}).add("t2", "", "", ask("after t2 t1", AskAfter)).add("t2", "", "", yes())
			insert[TaskPrepared](s, 1, leave)
			return s
		},
	})
}
