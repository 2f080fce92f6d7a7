package historytest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "company/internal/company"
)

// A run is offered, claimed, let go and ended by one holder at a time.
func TestRunsHaveOneHolder(t *testing.T) {
	t.Parallel()
	id := worker(1)
	offered := func() *story { return planned().offer(id) }
	held := func() *story { return offered().claim(id) }
	released := func() *story { return held().runOf(id, &RunReleased{}) }
	again := func() *story { return released().offer(id).claim(id) }
	sentBack := func() *story {
		s := planned().work(1).gate(1, base)
		the[TaskSubmitted](s, 0).Settings.GateRetries = 1
		the[GateFinished](s, 0).Result.Passed = false
		return s.offer("t1-01.2")
	}
	claim := func(change func(*RunClaimed)) func(s *story) {
		return func(s *story) { change(the[RunClaimed](s, 1)) }
	}
	badClaim := "is claimed while it is held, or without owner, deadline or a higher fence"
	checkBroken(t, []broken{
		{"not offered while held", again, func(s *story) { drop[RunReleased](s, 0) },
			"t1-01.1 is offered while it is held or ended"},
		{"not offered after its end", sentBack, func(s *story) { lineOf[RunOffered](s, 1).run = id },
			"t1-01.1 is offered while it is held or ended"},
		{"claimed in an epoch", held, func(s *story) { drop[OfficeStarted](s, 0); the[RunOffered](s, 0).Epoch = 0 },
			"t1-01.1 is claimed without an offer of epoch 0"},
		{"claimed after a new offer", again, func(s *story) { drop[RunOffered](s, 1) },
			"t1-01.1 is claimed without an offer of epoch 1"},
		{"claimed after an offer of this epoch", held, func(s *story) { the[RunOffered](s, 0).Epoch = 7 },
			"t1-01.1 is claimed without an offer of epoch 1"},
		{"claimed once", held, func(s *story) { s.claim(id) }, badClaim},
		{"not claimed after its end", prepared().planOnly, func(s *story) { s.claim("t1-plan.1") }, badClaim},
		{"with a higher fence", again,
			func(s *story) { the[RunClaimed](s, 2).Fence = the[RunClaimed](s, 1).Fence }, badClaim},
		{"with a fence", held, claim(func(d *RunClaimed) { d.Fence = 0 }), badClaim},
		{"with an owner", held, claim(func(d *RunClaimed) { d.Worker = "" }), badClaim},
		{"with a deadline", held, claim(func(d *RunClaimed) { d.Deadline = time.Time{} }), badClaim},
		{"let go by its holder", released, func(s *story) { drop[RunClaimed](s, 1) }, "t1-01.1 is released but not held"},
		{"let go once", with(prepared, func(s *story) { s.claim("t1-plan.1").runOf("t1-plan.1", &RunReleased{}) }),
			func(s *story) { s.runOf("t1-plan.1", &RunReleased{}) }, "t1-plan.1 is released but not held"},
		{"ended by its holder", prepared().planOnly,
			func(s *story) {
				insert[RunEnded](s, 0, (&story{}).runOf("t1-plan.1", &RunReleased{}))
			}, "t1-plan.1 ends but is not held"},
		{"ended once", prepared().planOnly, func(s *story) { s.end("t1-plan.1") }, "t1-plan.1 ends but is not held"},
		{"ended after it was begun", prepared().planOnly, func(s *story) { s.end("t1-plan.2") },
			"t1-plan.2 ends but is not held"},
	})
	left := func() *story {
		return prepared().claim("t1-plan.1").runOf("t1-plan.1", &RunReleased{}).task(&TaskCancelled{}).end("t1-plan.1")
	}
	checkBroken(t, []broken{
		{"settled once", left, func(s *story) { s.end("t1-plan.1") }, "t1-plan.1 ends but is not held"},
		{"settled after the end of its task alone", left, func(s *story) { drop[TaskCancelled](s, 0) },
			"t1-plan.1 ends but is not held"},
	})
}

// A worker's run that has ended is rolled back, unless another one works on its subtask. One worker at a time does.
func TestRollBacks(t *testing.T) {
	t.Parallel()
	const second = RunID("t1-01.2")
	undo := func(s *story, id RunID) *story { return s.runOf(id, &RunRolledBack{To: base}) }
	undone := func() *story { return undo(planned().work(1), worker(1)) }
	again := func() *story { return undone().offer(second).claim(second) }
	notUndone := "t1-01.1 is rolled back, and has no work that can be undone"
	checkBroken(t, []broken{
		{"after its end", undone, func(s *story) { drop[RunEnded](s, 1) }, notUndone},
		{"not of a reviewer", reviewed, func(s *story) { undo(s, "t1-01-review.1") },
			"t1-01-review.1 is rolled back, and has no work"},
		{"not while another is held", again, func(s *story) { undo(s, worker(1)) },
			"t1-01.1 is rolled back while t1-01.2 is held"},
		{"one at a time", again, func(s *story) {
			s.add("t1", "t1-01", "t1-01.3", &RunOffered{From: base, Epoch: 1}).claim("t1-01.3")
		}, "t1-01.3 is claimed while t1-01.2 is held"},
	})
	requireKept(t, map[string]func() *story{
		"and is done again": again,
		"beside another":    func() *story { return undo(pair().work(1).offer(worker(2)).claim(worker(2)), worker(1)) },
	})
}

// planOnly is a manager's run without its plan.
func (s *story) planOnly() *story { return prepared().claim("t1-plan.1").end("t1-plan.1") }

// A worker has leave where the president wants to be asked about plans.
func TestWorkNeedsAnApprovedPlan(t *testing.T) {
	t.Parallel()
	asked := func() *story {
		s := planned()
		the[TaskSubmitted](s, 0).Settings.Plan = Ask
		return s.task(ask("plan t1-plan.1", AskPlan)).task(yes()).offer(worker(1))
	}
	checkBroken(t, []broken{
		{"asked", asked, func(s *story) { drop[ApprovalAnswered](s, 0) },
			"work on a plan that the president has not approved"},
		{"of this plan", asked, func(s *story) { the[ApprovalOpened](s, 0).Key = "plan t1-plan.2" },
			"work on a plan that the president has not approved"},
		{"agreed", asked, func(s *story) { the[ApprovalAnswered](s, 0).Option = OptAnswer },
			"work on a plan that the president has not approved"},
	})
}

// After a worker broke its time limit, somebody decides before the ticket is offered again.
func TestBrokenTimeLimitNeedsADecision(t *testing.T) {
	t.Parallel()
	timedOut := func() *story {
		s := planned().offer(worker(1)).claim(worker(1))
		return s.runOf(worker(1), &RunEnded{Status: RunError, TimedOut: true})
	}
	guided := func() *story {
		return timedOut().claim("t1-plan.2").end("t1-plan.2").ticket(1, &SubtaskGuided{Text: "do less"}).offer("t1-01.2")
	}
	checkBroken(t, []broken{
		{"decided", guided, func(s *story) { drop[SubtaskGuided](s, 0) },
			"t1-01.2 is offered after a run that broke its time limit, and nobody decided that"},
	})
}

// The whole is not reviewed again once it is approved.
func TestReviewOfTheWholeIsDue(t *testing.T) {
	t.Parallel()
	judged := func() *story { return reviewed().merge(1, base).judge(1) }
	checkBroken(t, []broken{
		{"once", judged, func(s *story) { s.claim("t1-review.2") }, "t1-review.2 is to review "},
	})
	requireKept(t, map[string]func() *story{
		"another's run":    with(judged, func(s *story) { s.claim("t1-plan.2") }),
		"a ticket's again": with(judged, func(s *story) { s.claim("t1-01-review.2") }),
		"a ticket's is another": func() *story {
			return pair().work(1).gate(1, base).review(1, base).work(2).gate(2, base).review(2, base)
		},
		"again after a request": with(judged, func(s *story) {
			the[ReviewRecorded](s, 1).Verdict = RequestChanges
			the[TaskSubmitted](s, 0).Settings.ReviewRounds = 0
			s.claim("t1-review.2")
		}),
	})
}

// A ticket of a later wave begins when all before it are merged.
func TestWavesComeInOrder(t *testing.T) {
	t.Parallel()
	want := "t1-02.1 of wave 2 while t1-01 of wave 1 is not merged"
	three := func() *story {
		return prepared().plan(oneWave("a", "b"), oneWave("a", "b")).offer(worker(2)).claim(worker(2))
	}
	checkBroken(t, []broken{
		{"offered", with(waves, func(s *story) { s.offer(worker(1)) }), func(s *story) { s.offer(worker(2)) }, want},
		{"claimed", waves, func(s *story) { s.claim("t1-02-review.1") },
			"t1-02-review.1 of wave 2 while t1-01 of wave 1 is not merged"},
		{"after each", three, func(s *story) { s.offer(worker(3)) }, "t1-03.1 of wave 2 while t1-01 of wave 1 is not merged"},
	})
	requireKept(t, map[string]func() *story{
		"one wave at once":   approvedPair,
		"a run of no ticket": with(planned, func(s *story) { s.claim("t1-plan.2") }),
		"a repair comes last": func() *story {
			s := reviewed().merge(1, base).judge(1)
			r := the[ReviewRecorded](s, 1)
			r.Verdict, r.Findings = RequestChanges, []Finding{{Severity: Blocking, What: "Wrong.", Why: "It is."}}
			return s.work(2).gate(2, mergeOf(1)).review(2, mergeOf(1)).merge(2, mergeOf(1))
		},
	})
	redWhole := func(s *story) *story {
		s.task(&GateFinished{Head: mergeOf(1), Result: verdict(treeOf(1))})
		the[GateFinished](s, 0).Result.Passed = false
		return s.offer(worker(2))
	}
	checkBroken(t, []broken{
		{"a repair after all", planned, func(s *story) { *s = *redWhole(planned()) },
			"t1-02.1 of wave 2 while t1-01 of wave 1 is not merged"},
	})
}

// What a run adds was looked up, with leave where that is needed, and not
// without end.
func TestDependencies(t *testing.T) {
	t.Parallel()
	id := worker(1)
	dep := func(i int) Dependency { return Dependency{Ecosystem: "go", Name: fmt.Sprint("d", i), Version: "v1"} }
	lookUp := func(s *story, i int) *story {
		return s.runOf(id, &DependencyLookedUp{Ecosystem: "go", Name: dep(i).Name})
	}
	add := func(s *story, i int) *story { return s.runOf(id, &DependencyAdded{Dependency: dep(i)}) }
	held := func() *story { return planned().offer(id).claim(id) }
	added := func() *story { return add(lookUp(held(), 1), 1) }
	asked := func(about Dependency) func() *story {
		return func() *story {
			s := held()
			the[TaskSubmitted](s, 0).Settings.Deps = Ask
			return add(lookUp(s.task(ask(DependencyKey("t1", about), AskDependencyLeave)).task(yes()), 1), 1)
		}
	}
	mostLookUps := func() *story {
		s := held()
		for i := range MaxLookups {
			lookUp(lookUp(s, i), i)
		}
		return s
	}
	most := func() *story {
		s := held()
		for i := range MaxDependencies + 1 {
			lookUp(s, i)
		}
		for i := range MaxDependencies {
			add(s, i)
		}
		return s
	}
	noLeave := "go d1@v1 is added without the president's approval"
	checkBroken(t, []broken{
		{"looked up by a holder", added,
			func(s *story) {
				insert[DependencyLookedUp](s, 0, (&story{}).runOf(id, &RunReleased{}))
			}, "t1-01.1 looks a name up in nobody's hands"},
		{"added by a holder", added, func(s *story) { insert[DependencyAdded](s, 0, (&story{}).runOf(id, &RunReleased{})) },
			"t1-01.1 adds a dependency in nobody's hands"},
		{"looked up by name", added, func(s *story) { the[DependencyLookedUp](s, 0).Name = "d2" },
			"go d1@v1 is added and was never looked up"},
		{"looked up where it is", added, func(s *story) { the[DependencyLookedUp](s, 0).Ecosystem = "npm" },
			"go d1@v1 is added and was never looked up"},
		{"agreed", asked(dep(1)), func(s *story) { the[ApprovalAnswered](s, 0).Option = OptReject }, noLeave},
		{"agreed by name", asked(Dependency{Ecosystem: "go", Name: "d1"}),
			func(s *story) { the[ApprovalAnswered](s, 0).Option = OptReject }, noLeave},
		{"so many names", mostLookUps, func(s *story) { lookUp(s, MaxLookups) }, "t1 looks up more than 10 names"},
		{"so many dependencies", most, func(s *story) { add(s, MaxDependencies) }, "t1 adds more than 5 dependencies"},
	})
	requireKept(t, map[string]func() *story{"another version is no other name": with(most, func(s *story) {
		s.runOf(id, &DependencyAdded{Dependency: Dependency{Ecosystem: "go", Name: "d1", Version: "v2"}})
	})})
}

// A refused access is of a run that was begun, in plain text, and not without
// end.
func TestRefusedAccesses(t *testing.T) {
	t.Parallel()
	id := worker(1)
	refuse := func(s *story, kind string) *story {
		return s.runOf(id, &AccessRefused{AccessKind: kind, What: strings.Repeat("x", MaxRefusedText), Times: 1})
	}
	refused := func() *story { return refuse(planned().offer(id).claim(id), "path") }
	kinds := func() *story {
		s := planned().offer(id).claim(id)
		for i := range MaxRefusedKinds {
			refuse(s, strings.Repeat("k", i+1))
		}
		return s
	}
	events := func() *story {
		s := planned().offer(id).claim(id)
		for range MaxRefusedEvents {
			refuse(s, "path")
		}
		return s
	}
	change := func(do func(*AccessRefused)) func(s *story) {
		return func(s *story) { do(the[AccessRefused](s, 0)) }
	}
	checkBroken(t, []broken{
		{"of a run", refused, func(s *story) { lineOf[AccessRefused](s, 0).run = "t1-01.2" },
			"t1-01.2 reached for something before anybody worked in it"},
		{"of a run that was begun", refused, func(s *story) { drop[RunClaimed](s, 1) },
			"t1-01.1 reached for something before anybody worked in it"},
		{"once at least", refused, change(func(d *AccessRefused) { d.Times = 0 }),
			`a refused access of kind "path", 0 times`},
		{"of a known form", refused, change(func(d *AccessRefused) { d.AccessKind = "A" }),
			`a refused access of kind "A", 1 times`},
		{"so many kinds", kinds, func(s *story) { refuse(s, "other") }, "t1-01.1 fills the ledger with refused accesses"},
		{"so often", events, func(s *story) { refuse(s, "path") }, "t1-01.1 fills the ledger with refused accesses"},
		{"short", refused, change(func(d *AccessRefused) { d.What += "x" }), "what was refused is not a plain line"},
		{"plain", refused, change(func(d *AccessRefused) { d.What = "a\x1b[2J" }), "what was refused is not a plain line"},
	})
	requireKept(t, map[string]func() *story{"a released run's": func() *story {
		return refuse(refused().runOf(id, &RunReleased{}), "path")
	}})
}

// A worker asks the president only about a whole instruction, before its first change, and no run is offered before the
// answer (SUB-14).
func TestWorkerAsksBeforeItsFirstChange(t *testing.T) {
	t.Parallel()
	second, answer := NewRunID("t1", "t1-01", Worker, 2), &ApprovalAnswered{ID: "a1", Option: OptAnswer, Text: "this"}
	asked := func() *story {
		s := prepared().task(&PlanAccepted{Plan: Plan{Waves: []Wave{oneWave("**")}}})
		settings(func(s *Settings) { s.Way = WayAuto })(s)
		s.offer(worker(1)).claim(worker(1)).end(worker(1)).task(ask("clarification "+string(worker(1)), AskClarification))
		return s.task(answer).offer(second)
	}
	early := "t1-01.2 is offered before the question of t1-01.1 is answered"
	unfinished := "t1-01.1 succeeds without a commit"
	third := NewRunID("t1", "t1-01", Worker, 3)
	requireKept(t, map[string]func() *story{"asked": asked, "cancelled": with(planned, func(s *story) {
		s.offer(worker(1)).claim(worker(1)).task(&TaskCancelled{Reason: "no"}).end(worker(1))
	}), "the question is withdrawn": with(asked, func(s *story) {
		drop[ApprovalAnswered](s, 0)
		drop[RunOffered](s, 1)
		s.task(&TaskCancelled{Reason: "no"}).task(&TaskReopened{}).offer(second)
	}), "it starts again after a change": with(asked, func(s *story) {
		s.claim(second).runOf(second, &RunEnded{Status: RunError, Human: true, Head: headOf(1)})
		s.task(&TaskCancelled{Reason: "no"}).task(&TaskReopened{From: "t1-01"}).offer(third).claim(third).end(third)
	})})
	checkBroken(t, []broken{
		{"the answer comes first", asked, func(s *story) { drop[ApprovalAnswered](s, 0) }, early},
		{"there is a question", asked, func(s *story) { drop[ApprovalOpened](s, 0); drop[ApprovalAnswered](s, 0) }, early},
		{"of a plan", planned, func(s *story) { s.offer(worker(1)).claim(worker(1)).end(worker(1)) }, unfinished},
		{"after a change", with(asked, func(s *story) {
			s.claim(second).runOf(second, &RunEnded{Status: RunError, Human: true, Head: headOf(1)})
		}), func(s *story) {
			s.offer(third).claim(third).end(third)
		}, "t1-01.3 succeeds without a commit"},
		{"of a merger", planned, func(s *story) {
			merger := NewRunID("t1", "t1-01", Merger, 1)
			s.work(1).claim(merger).end(merger)
		}, "t1-01-merge.1 succeeds without a commit"},
	})
}
