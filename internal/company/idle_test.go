package company_test

import (
	"testing"
	"time"

	. "company/internal/company"
)

// The time in which no company worked on a task is told apart from its work: after an
// interruption, under a pause, under a stop, and between an end and a retry. What lies
// under two of them counts once.
func TestIdleTime(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1)
	last := s.task().Idle
	idle := func(what string, want time.Duration) {
		t.Helper()
		now := s.task().Idle
		if got := now - last; got < want || got > want+time.Minute { // the bench's clock ticks with each command
			t.Errorf("%s: %s are idle, want %s", what, got, want)
		}
		last = now
	}
	start := func(worked time.Time) {
		t.Helper()
		s.must(Company, StartOffice{Office: s.s.Office.ID, LastWorked: worked})
	}
	s.later(time.Hour)
	idle("work", 0)
	s.must(President, Pause{Task: s.id})
	s.later(2 * time.Hour)
	s.must(President, Pause{Task: s.id, Off: true})
	idle("a pause", 2*time.Hour)
	s.must(President, Stop{})
	s.later(3 * time.Hour)
	s.must(President, Resume{})
	idle("a stop", 3*time.Hour)
	s.later(time.Hour)
	worked := s.now
	s.later(4 * time.Hour)
	start(worked)
	idle("an interruption", 4*time.Hour)
	s.later(time.Hour)
	start(time.Time{})
	idle("a start of which nothing is known", 0)
	s.must(President, Pause{Task: s.id})
	s.later(time.Hour)
	worked = s.now
	s.must(President, Stop{})
	s.later(time.Hour)
	start(worked)
	s.later(time.Hour)
	s.must(President, Resume{})
	s.later(time.Hour)
	s.must(President, Pause{Task: s.id, Off: true})
	idle("a stop and an interruption under a pause", 4*time.Hour)
	s.must(President, Cancel{Task: s.id})
	s.later(5 * time.Hour)
	s.must(President, Retry{Task: s.id})
	idle("an end that was taken back", 5*time.Hour)

	s.queued(1)
	s.merged(1)
	s.checked()
	s.must(Company, IntendDelivery{s.id})
	s.must(Company, s.delivered())
	s.checkStatus(StatusCompleted)
	if took := s.task().WorkedFor(); took < 3*time.Hour || took > 4*time.Hour {
		t.Errorf("a company worked for %s", took)
	}
	start(s.now.Add(-time.Hour))
	idle("what has ended", 0)
}

// The time in which a task waits for the president alone is idle. A run at work beside a
// question is work, and an interruption counts once.
func TestWaitsForThePresidentAreIdle(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{Plan: Ask, Merge: Ask}).plan(2)
	last := s.task().Idle
	idle := func(what string, want time.Duration) {
		t.Helper()
		now := s.task().Idle
		if got := now - last; got < want || got > want+time.Minute {
			t.Errorf("%s: %s are idle, want %s", what, got, want)
		}
		last = now
	}
	plan := s.ask(AskPlan)
	s.later(time.Hour)
	s.must(President, Answer{Approval: plan.ID, Option: OptApprove})
	idle("a question about the plan", time.Hour)

	s.queued(1)
	first := s.ask(AskMerge)
	run, fence := s.offer(2)
	s.later(2 * time.Hour)
	s.must(President, Answer{Approval: first.ID, Option: OptApprove})
	idle("a question beside a run", 0)
	s.merged(1)
	head := s.oid()
	s.must(string(run),
		EndRun{Run: run, Fence: fence, Outcome: RunEnded{Status: RunSuccess, Head: head, Branch: "agent/x"}})
	s.must(Company, s.gated(2, true))
	s.reviewed(2, Approve)

	second := s.ask(AskMerge)
	s.later(time.Hour)
	s.must(President, Pause{Task: s.id})
	s.later(time.Hour)
	s.must(President, Pause{Task: s.id, Off: true})
	idle("a pause under a question", time.Hour)
	worked := s.now
	s.later(3 * time.Hour)
	s.must(Company, StartOffice{Office: s.s.Office.ID, LastWorked: worked})
	idle("an interruption under a question", 3*time.Hour)
	s.later(4 * time.Hour)
	s.must(President, Answer{Approval: second.ID, Option: OptApprove})
	idle("the rest of it", 4*time.Hour)
}
