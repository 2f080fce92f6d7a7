package historytest_test

import (
	"testing"

	. "company/internal/company"
)

// A task is reopened when it has failed or was cancelled, with its runs over; a dry run
// when it was completed, once.
func TestReopened(t *testing.T) {
	t.Parallel()
	again := func() *story {
		return cancelledStory().task(&TaskReopened{}).offer(NewRunID("t1", "t1-01", Worker, 2))
	}
	failed := func() *story {
		return prepared().task(&TaskFailed{Reason: "no"}).task(&TaskReopened{}).task(&TaskCancelled{Reason: "no"}).task(
			&TaskReopened{})
	}
	carriedOut := func() *story { return dryRun().task(&TaskReopened{Plan: true}).offer(worker(1)) }
	goesOn, pausedBefore := "t1 is reopened, and goes on or is done", func(s *story) {
		s.ticket(1, &SubtaskPaused{Paused: true})
	}
	requireKept(t, map[string]func() *story{
		"cancelled": again, "failed": failed, "a dry run": carriedOut,
		"pauses are of the time before": func() *story {
			return with(planned, pausedBefore)().task(&TaskFailed{Reason: "no"}).task(&TaskReopened{}).offer(worker(1))
		},
	})
	checkBroken(t, []broken{
		{"it has ended", again, func(s *story) { drop[TaskCancelled](s, 0) }, goesOn},
		{"it is not done", delivered, func(s *story) { s.task(&TaskReopened{}) }, "t1 moves from completed to reviewing"},
		{"it has no pull request", func() *story { return until[TaskCompleted](delivered(), 0).task(&TaskCancelled{}) },
			func(s *story) { s.task(&TaskReopened{}) }, goesOn},
		{"a plan was asked for", dryRun, func(s *story) { s.task(&TaskReopened{}) }, goesOn},
		{"a plan alone was asked for", again, func(s *story) { the[TaskReopened](s, 0).Plan = true }, goesOn},
		{"a dry run is one no longer", carriedOut, func(s *story) {
			s.task(&TaskCancelled{Reason: "no"}).task(&TaskReopened{Plan: true})
		}, goesOn},
		{"its runs are over", again, func(s *story) { drop[RunEnded](s, 1) }, "t1 is reopened while t1-01.1 is open"},
	})
	requireBroken(t, observed(t, cancelledStory(), &TaskPaused{}, func(task *Task) { task.Status = StatusExecuting }),
		"t1 goes on after its end, and nobody reopened it")
	requireBroken(t, observed(t, dryRun(), &TaskPaused{}, func(task *Task) { task.Status = StatusFailed }),
		"t1 moves from completed to failed")
}

// A word reaches a run that is under way, and a run has read no more words than it was given.
func TestWordsOfThePresident(t *testing.T) {
	t.Parallel()
	id := worker(1)
	told := func() *story {
		return planned().offer(id).claim(id).runOf(id, &RunTold{Text: "Look."}).runOf(
			id, &RunEnded{Status: RunSuccess, Head: headOf(1), Heard: 1})
	}
	nobodyWorks, tooMuch := "t1-01.1 is told something, and nobody works in it", "t1-01.1 is told nothing, or too much"
	checkBroken(t, []broken{
		{"it has begun", told, func(s *story) { lineOf[RunTold](s, 0).run = "t1-01.2" },
			"t1-01.2 is told something, and nobody works in it"},
		{"it goes on", told, func(s *story) { s.runOf(id, &RunTold{Text: "Look."}) }, nobodyWorks},
		{"its task goes on", told, func(s *story) { insert[RunTold](s, 0, (&story{}).task(&TaskCancelled{Reason: "no"})) },
			nobodyWorks},
		{"it is a word", told, func(s *story) { the[RunTold](s, 0).Text = " " }, tooMuch},
		{"it is short", told, func(s *story) { the[RunTold](s, 0).Text = string(make([]byte, MaxWord+1)) }, tooMuch},
		{"there are few", told, func(s *story) {
			for range MaxWords {
				insert[RunTold](s, 0, (&story{}).runOf(id, &RunTold{Text: "Look."}))
			}
		}, tooMuch},
		{"no more is read", told, func(s *story) { the[RunEnded](s, 1).Heard = 2 }, "t1-01.1 has read 2 messages of 1"},
		{"none is unread", told, func(s *story) { the[RunEnded](s, 1).Heard = -1 }, "t1-01.1 has read -1 messages of 1"},
	})
}

// No grant passes a cap of the office or of its day.
func TestCapsOfTheOffice(t *testing.T) {
	t.Parallel()
	id := RunID("t1-plan.1")
	none := Amount{MicroUSD: NoCap, Tokens: NoCap}
	granted := func(caps OfficeCaps) func() *story {
		return func() *story {
			s := prepared()
			s.office(&OfficeCapsSet{Caps: caps})
			return s.claim(id).runOf(id, &BudgetReserved{Amount: Amount{MicroUSD: 10, Tokens: 10}, Day: "2026-01-02"})
		}
	}
	day := granted(OfficeCaps{Day: Amount{MicroUSD: 10, Tokens: 10}, Office: none})
	ever := granted(OfficeCaps{Day: none, Office: Amount{MicroUSD: 10, Tokens: 10}})
	checkBroken(t, []broken{
		{"of the day", day, func(s *story) { the[BudgetReserved](s, 0).Amount.Tokens++ }, "and the day has used"},
		{"of the office", ever, func(s *story) { the[BudgetReserved](s, 0).Amount.MicroUSD++ }, "and the office has used"},
	})
	five := Amount{MicroUSD: 5, Tokens: 5}
	more := func(day string) func(s *story) {
		return func(s *story) { s.runOf(id, &BudgetReserved{Amount: five, Day: day}) }
	}
	raise := func(scope BudgetScope) func(s *story) {
		return func(s *story) { s.office(&OfficeBudgetRaised{Scope: scope, By: five, Day: "2026-01-02"}) }
	}
	raised := with(day, raise(ScopeDay), more("2026-01-02"))
	raisedEver := with(ever, raise(ScopeOffice), more("2026-01-02"))
	next := with(day, raise(ScopeDay), more("2026-01-03"), more("2026-01-03"))
	givenBack := with(day, func(s *story) { s.runOf(id, &BudgetWaiting{Back: five}) }, more("2026-01-02"))
	unlike := "the books say"
	checkBroken(t, []broken{
		{"of the day after a raise", raised, func(s *story) { drop[OfficeBudgetRaised](s, 0) }, "and the day has used"},
		{"of the office after a raise", raisedEver, func(s *story) { drop[OfficeBudgetRaised](s, 0) },
			"and the office has used"},
		{"of the day, raised for it alone", next, more("2026-01-03"), "and the day has used"},
		{"of the day after some was given back", givenBack, func(s *story) { drop[BudgetWaiting](s, 0) },
			"and the day has used"},
	})
	requireKept(t, map[string]func() *story{
		"the day after": with(day, func(s *story) {
			s.runOf(id, &BudgetExhausted{Scope: ScopeDay, Day: "2026-01-03"})
		}, more("2026-01-03")),
		"a raise on the day after": with(day, func(s *story) {
			s.office(&OfficeBudgetRaised{Scope: ScopeOffice, By: five, Day: "2026-01-03"})
		}),
		"given back for the day before": with(day, more("2026-01-03"), func(s *story) {
			s.runOf(id, &BudgetWaiting{Back: Amount{MicroUSD: 7, Tokens: 7}})
		}, more("2026-01-03")),
		"spent beyond the grant": with(day, func(s *story) {
			s.runOf(id, &RunEnded{Status: RunError, Spent: Amount{MicroUSD: 12, Tokens: 12}})
		}),
	})
	for _, spoil := range []func(*OfficeSpending){
		func(s *OfficeSpending) { s.Today.Tokens++ }, func(s *OfficeSpending) { s.Total.Tokens++ },
	} {
		requireBroken(t, observedState(t, raised(), &OfficeBudgetRaised{Scope: ScopeDay, By: five, Day: "2026-01-02"},
			func(state *State) { spoil(&state.Spending) }), unlike)
	}
}
