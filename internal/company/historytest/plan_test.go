package historytest_test

import (
	"testing"

	. "company/internal/company"
)

// A task is prepared once, and never for main.
func TestPreparation(t *testing.T) {
	t.Parallel()
	cases := []broken{{"once", prepared, func(s *story) { s.task(the[TaskPrepared](s, 0)) }, "t1 is prepared twice"}}
	for _, branch := range []string{"main", "master", "Main", "refs/heads/main", ""} {
		cases = append(
			cases, broken{"not for " + branch, prepared, func(s *story) { the[TaskPrepared](s, 0).Integration = branch },
				"work would be merged to " + branch})
	}
	checkBroken(t, cases)
}

// based has a base alone: what is planned on it is in planBased.
func based() *story {
	s := submitted()
	p := the[TaskPrepared](prepared(), 0)
	return s.task(&TaskBased{Base: p.Base, Gates: p.Gates, GateHash: p.GateHash, Integration: p.Integration})
}

func planBased() *story { return based().plan(oneWave("a/**")) }

// image makes the image of a base, and judges the base.
func (s *story) image() *story { return s.task(the[TaskPrepared](prepared(), 0)) }

func (s *story) baseline() *story { return s.task(&BaselineRecorded{Result: verdict("base tree")}) }

// A base may move until there is an image, which is made for the base that there is.
func TestBase(t *testing.T) {
	t.Parallel()
	imaged := func() *story { return based().image() }
	other := "t1 is prepared for another base than its own"
	checkBroken(t, []broken{
		{"not for main", based, func(s *story) { the[TaskBased](s, 0).Integration = "main" }, "work would be merged to main"},
		{"before the image", imaged, func(s *story) { s.task(the[TaskBased](s, 0)) }, "t1 gets another base after its image"},
		{"an image is made once", imaged, func(s *story) { s.image() }, "t1 is prepared twice"},
		{"an image is there", imaged, func(s *story) { the[TaskPrepared](s, 0).Image = "" },
			"t1 is prepared without an image"},
		{"an image of its commit", imaged, func(s *story) { the[TaskBased](s, 0).Base.OID = oid("other") }, other},
		{"an image of its gates", imaged, func(s *story) { the[TaskBased](s, 0).GateHash = "other" }, other},
		{"an image of as many gates", imaged, func(s *story) { the[TaskBased](s, 0).Gates = nil }, other},
		{"an image of its branch", imaged, func(s *story) { the[TaskBased](s, 0).Integration = "develop/t2" }, other},
	})
	requireKept(t, map[string]func() *story{
		"the plan is there before the image": func() *story { return planBased().image().baseline().work(1).gate(1, base) },
		"the plan is the last": func() *story {
			return based().image().baseline().plan(oneWave("a/**")).work(1).gate(1, base)
		},
		"the base moves, and is planned on again": func() *story {
			s := planBased()
			the[TaskBased](s, 0).Base.OID = oid("other")
			b := *the[TaskBased](based(), 0)
			s.task(&b)
			s.claim("t1-plan.2").end("t1-plan.2").runOf("t1-plan.2", &PlanAccepted{Plan: Plan{Waves: []Wave{oneWave("b/**")}}})
			return s.image().baseline().work(1).gate(1, base)
		},
	})
}

// A plan, and a subtask that is replanned, keep to the limits of the task's settings (SUB-13). A task without
// settings of its own has none here.
func TestPlanKeepsToItsLimits(t *testing.T) {
	t.Parallel()
	limits := func(g Granularity) func(s *story) { return settings(func(s *Settings) { s.Granularity = g }) }
	effort := func(s *story) {
		the[PlanAccepted](s, 0).Plan.Waves[0].Subtasks[0].Effort = EffortMedium
	}
	set := func() *story { return prepared().plan(oneWave("a/** b/**")) }
	split := func() *story {
		s := planned().offer(worker(1)).claim(worker(1)).runOf(
			worker(1), &RunEnded{Status: RunError, Escalate: true, Error: "help"})
		s.claim("t1-plan.2").end("t1-plan.2")
		return s.ticket(1, &SubtaskReplanned{Parts: oneWave("a/x", "a/y").Subtasks, Added: []SubtaskID{"t1-02"}})
	}
	checkBroken(t, []broken{
		{"number", pair, limits(Granularity{MaxSubtasks: 1}), "there are 2 subtasks, and the limit is 1"},
		{"number, of all waves", waves, limits(Granularity{MaxSubtasks: 1}), "there are 2 subtasks, and the limit is 1"},
		{"write set", set, limits(Granularity{MaxWriteSet: 1}), "wave 1: subtask 1 may write 2 paths, and the limit is 1"},
		{"effort", with(planned, effort), limits(Granularity{MaxEffort: EffortSmall}),
			"wave 1: subtask 1 is of effort medium, and the limit is small"},
		{"number, with the parts", split, limits(Granularity{MaxSubtasks: 1}), "there are 2 subtasks, and the limit is 1"},
		{"write set of a part", with(split, limits(Granularity{MaxWriteSet: 1})),
			func(s *story) {
				the[SubtaskReplanned](s, 0).Parts[1].WriteSet = []string{"a/y", "a/z"}
			}, "the parts of t1-01: subtask 2 may write 2 paths"},
		{"effort of a part", with(split, limits(Granularity{MaxEffort: EffortMedium})),
			func(s *story) {
				the[SubtaskReplanned](s, 0).Parts[0].Effort = EffortLarge
			}, "the parts of t1-01: subtask 1 is of effort large"},
	})
	// The second ticket comes after the first, which is replanned in two parts.
	ordered := func() *story {
		s := split()
		plan := &the[PlanAccepted](s, 0).Plan
		plan.Waves[0] = oneWave("a/**", "b/**")
		plan.Waves[0].Subtasks[1].After = []string{"t1-01"}
		the[SubtaskReplanned](s, 0).Added = []SubtaskID{"t1-03"}
		id := NewRunID("t1", "t1-01", Worker, 2)
		s.offer(id).claim(id).runOf(id, &RunEnded{Status: RunSuccess, Head: headOf(1)})
		s.gate(1, base).review(1, base).merge(1, base)
		return s.work(3).gate(3, mergeOf(1)).review(3, mergeOf(1)).merge(3, mergeOf(1)).offer(worker(2))
	}
	checkBroken(t, []broken{
		{"after each part", ordered, func(s *story) { drop[MergeRecorded](s, 1) },
			"t1-02.1 comes after t1-03, which is not merged"},
		{"after a ticket of the plan", split, func(s *story) {
			the[SubtaskReplanned](s, 0).Parts[1].After = []string{"t1-09"}
		}, "t1-02 comes after t1-09, which is in no wave up to its own"},
	})
	parts := "t1-01 is merged, or replanned without its parts"
	checkBroken(t, []broken{
		{"no parts", split, func(s *story) { the[SubtaskReplanned](s, 0).Parts = nil }, parts},
		{"a part without an id", split, func(s *story) { the[SubtaskReplanned](s, 0).Added = nil }, parts},
		{"no parts and no ids", split, func(s *story) { *the[SubtaskReplanned](s, 0) = SubtaskReplanned{} }, parts},
	})
	exact := Granularity{MaxSubtasks: 2, MaxWriteSet: 2, MaxEffort: EffortMedium}
	requireKept(t, map[string]func() *story{
		"as many as may be": with(pair, limits(exact)), "as much as may be": with(set, limits(exact)),
		"as large as may be":      with(planned, effort, limits(exact)),
		"as many parts as may be": with(split, limits(exact)),
	})
}

// A worker begins when there are a plan and an image, when the base is judged, and when
// something judges its work or there is leave to go without.
func TestWorkComesAfterThePreparation(t *testing.T) {
	t.Parallel()
	offered := func() *story { return planBased().image().baseline().offer(worker(1)) }
	absent := with(func() *story {
		s := planBased().image()
		b, p := the[TaskBased](s, 0), *the[TaskPrepared](s, 0)
		b.Gates = b.Gates[:1]
		p.Gates = b.Gates
		lineOf[TaskPrepared](s, 0).what = &p
		return s.task(
			&BaselineRecorded{Result: GateResult{GateHash: "gates", Tree: oid("base tree"), Checks: []GateCheck{absentLint()},
				Untested: true}}).offer(worker(1))
	}, settings(func(s *Settings) { s.NoGates = "allow" }))
	unjudged := "t1-01.1 is offered before its base is judged"
	checkBroken(t, []broken{
		{"the image", offered, func(s *story) { drop[TaskPrepared](s, 0); drop[BaselineRecorded](s, 0) },
			"t1-01.1 is offered before there is an image"},
		{"the plan", offered, func(s *story) { drop[PlanAccepted](s, 0) }, "t1-01 is an orphan"},
		{"the baseline", offered, func(s *story) { drop[BaselineRecorded](s, 0) }, unjudged},
		{"the baseline in spite of leave", with(offered, settings(func(s *Settings) { s.NoGates = "allow" })),
			func(s *story) { drop[BaselineRecorded](s, 0) }, unjudged},
		{"the baseline is no later", offered, func(s *story) { moveBefore[RunOffered, BaselineRecorded](s) }, unjudged},
		{"absent gates are none", absent, settings(func(s *Settings) { s.NoGates = "ask" }),
			"t1-01.1 is offered before it is known that there is a gate"},
	})
}

// Before the baseline an image may get what its checks lack. It is then made again.
func TestNeeds(t *testing.T) {
	t.Parallel()
	redis := func(s *story) { s.task(&NeedsAdded{Needs: Needs{Services: []string{"redis"}}, Check: "test"}) }
	added := with(planBased, func(s *story) { s.image() }, redis, func(s *story) { s.image().baseline().offer(worker(1)) })
	none := "t1 gets what no check of its base can have looked for"
	checkBroken(t, []broken{
		{"with an image", planBased, redis, none},
		{"with a base", submitted, redis, none},
		{"before the baseline", prepared, redis, none},
		{"of something", added, func(s *story) { the[NeedsAdded](s, 0).Services = nil }, none},
		{"the image is made again", added, func(s *story) { drop[TaskPrepared](s, 1) }, "a baseline of t1 that is none"},
		{"the image was there", added, func(s *story) { drop[NeedsAdded](s, 0) }, "t1 is prepared twice"},
		{"workers wait for it", added, func(s *story) { drop[TaskPrepared](s, 1); drop[BaselineRecorded](s, 0) },
			"t1-01.1 is offered before there is an image"},
	})
}

// A line that the president has written has the image and the baseline made again until work may be checked.
func TestWrittenLine(t *testing.T) {
	t.Parallel()
	write := func(s *story) {
		asked := ask("trouble t1 baseline x", AskTrouble)
		asked.Line = &ConfigLine{Key: "gates.services", Value: "redis"}
		s.task(asked).task(&ApprovalAnswered{ID: "a1", Option: OptWrite})
	}
	imageAgain := func(s *story) {
		again := *the[TaskPrepared](s, 0)
		s.task(&again)
	}
	written := with(based, func(s *story) { s.image() }, write, func(s *story) { s.image().baseline() })
	ungated := func() *story { return until[BaselineRecorded](prepared(), 0) }
	noGate := with(ungated, func(s *story) { the[TaskPrepared](s, 0).Gates = nil }, write, imageAgain)
	absent := func(s *story) {
		s.task(&BaselineRecorded{Result: GateResult{GateHash: "gates", Tree: oid("base tree"),
			Checks: []GateCheck{absentLint()}, Untested: true}})
	}
	noneFound := with(ungated, func(s *story) {
		the[TaskPrepared](s, 0).Gates = the[TaskPrepared](s, 0).Gates[:1]
	}, absent, write, imageAgain, absent)
	allow := settings(func(s *Settings) { s.NoGates = "allow" })
	twice, nothing := "t1 is prepared twice", "a1 is answered with a line, and names none"
	requireKept(t, map[string]func() *story{
		"no base yet":  with(submitted, write, func(s *story) { s.lines = append(s.lines, prepared().lines[2:]...) }),
		"no image yet": with(based, write, func(s *story) { s.image().baseline() }),
	})
	checkBroken(t, []broken{
		{"it is written", written, func(s *story) { the[ApprovalAnswered](s, 0).Option = OptApprove }, twice},
		{"a line", written, func(s *story) { the[ApprovalOpened](s, 0).Line = nil }, nothing},
		{"of a task", written, func(s *story) { lineOf[ApprovalAnswered](s, 0).task = "" }, nothing},
		{"the image is made again", written, func(s *story) { drop[TaskPrepared](s, 1) }, "a baseline of t1 that is none"},
		{"before work may be checked", with(prepared, write), imageAgain, twice},
		{"without gates that is allowed", noGate, allow, twice},
		{"with none of them there", noneFound, allow, twice},
		{"the baseline is taken again", noneFound, func(s *story) { drop[TaskPrepared](s, 1) },
			"a baseline of t1 that is none"},
	})
}

// One worker has the whole instruction on request, or where that is left open and nobody reads plans.
func TestPlanOfNoManager(t *testing.T) {
	t.Parallel()
	way := func(way string) func() *story {
		return func() *story {
			s := prepared().task(&PlanAccepted{Plan: Plan{Waves: []Wave{oneWave("**")}}})
			the[TaskSubmitted](s, 0).Settings.Way = way
			return s
		}
	}
	one, auto, none := way(WayOne), way(WayAuto), "a plan that no manager made"
	readPlans := settings(func(s *Settings) { s.Plan = Ask })
	follows := func(s *story) { the[TaskSubmitted](s, 0).Follows = "t9" }
	requireKept(t, map[string]func() *story{"on request, and read": with(one, readPlans)})
	checkBroken(t, []broken{
		{"on request", one, settings(func(s *Settings) { s.Way = WaySplit }), none},
		{"of one worker", one, func(s *story) { the[PlanAccepted](s, 0).Plan.Waves[0] = oneWave("a", "b") }, none},
		{"no dry run", one, func(s *story) { the[TaskSubmitted](s, 0).DryRun = true }, none},
		{"nobody reads plans", auto, readPlans, none},
		{"no follow-up", auto, follows, none},
	})
}

// The baseline is of each pinned gate, and comes once.
func TestBaseline(t *testing.T) {
	t.Parallel()
	none, nothing := "a baseline of t1 that is none", "proves nothing about "
	check := func(i int, change func(*GateCheck)) func(s *story) {
		return func(s *story) { change(&the[BaselineRecorded](s, 0).Result.Checks[i]) }
	}
	withRed := with(prepared, check(1, func(c *GateCheck) { *c = red("test", "A") }))
	leftOut := with(prepared, check(1, func(c *GateCheck) {
		*c = GateCheck{Name: "test", Command: "run test", Absent: true, LeftOut: true, Excused: ComparedAbsent}
	}), func(s *story) { the[TaskPrepared](s, 0).Gates[1].Provisional = true })
	lintLeftOut := with(prepared, check(0, func(c *GateCheck) { *c = absentLint(); c.LeftOut = true }),
		func(s *story) { the[TaskPrepared](s, 0).Gates[0].Provisional = true })
	withoutLint := with(prepared, check(0, func(c *GateCheck) { *c = absentLint() }))
	checkBroken(t, []broken{
		{"after the preparation", prepared, func(s *story) { drop[TaskPrepared](s, 0) }, none},
		{"once", prepared, func(s *story) { s.task(the[BaselineRecorded](s, 0)) }, none},
		{"of some gates", with(prepared, func(s *story) { drop[BaselineRecorded](s, 0); noGates(s) }),
			func(s *story) { s.task(&BaselineRecorded{Result: GateResult{GateHash: "gates"}}) }, none},
		{"with the image", func() *story { return based().image().baseline() },
			func(s *story) { drop[TaskPrepared](s, 0) }, none},
		{"of the pinned gates", prepared, func(s *story) { the[BaselineRecorded](s, 0).Result.GateHash = "others" }, none},
		{"of no gate less", prepared, func(s *story) {
			r := &the[BaselineRecorded](s, 0).Result
			r.Checks = r.Checks[:1]
		}, none},
		{"of no gate more", prepared, func(s *story) {
			r := &the[BaselineRecorded](s, 0).Result
			r.Checks = append(r.Checks, green("more"))
		}, none},
		{"by name", prepared, check(1, func(c *GateCheck) { c.Name = "tests" }), nothing + "tests"},
		{"by command", prepared, check(1, func(c *GateCheck) { c.Command = "true" }), nothing + "test"},
		{"each was run", withRed, check(1, func(c *GateCheck) { c.Skipped = true }), nothing + "test"},
		{"passed with exit 0 alone", withRed, check(1, func(c *GateCheck) { c.Passed = true }), nothing + "test"},
		{"absent is not passed", withoutLint, check(0, func(c *GateCheck) { c.Passed = true }), nothing + "lint"},
		{"a given linter is there", withoutLint, func(s *story) { the[TaskPrepared](s, 0).Gates[0].Given = true },
			nothing + "lint"},
		{"a provisional test is left out", leftOut, func(s *story) { the[TaskPrepared](s, 0).Gates[1].Provisional = false },
			nothing + "test"},
		{"a provisional linter is left out", lintLeftOut,
			func(s *story) { the[TaskPrepared](s, 0).Gates[0].Provisional = false }, nothing + "lint"},
		{"what is left out is absent", lintLeftOut, check(0, func(c *GateCheck) { c.Absent = false }), nothing + "lint"},
		{"a test is there", withRed, check(1, func(c *GateCheck) { c.Absent = true }), nothing + "test"},
	})
}

// noGates takes the gates of a task away, with the config's leave.
func noGates(s *story) {
	the[TaskSubmitted](s, 0).Settings.NoGates = "allow"
	the[TaskPrepared](s, 0).Gates = nil
}

// There is no plan before it is known what the gates are.
func TestPlanComesAfterTheGates(t *testing.T) {
	t.Parallel()
	want := "a plan before it is known what the gates are"
	ungated := func(s *story) { noGates(s); drop[BaselineRecorded](s, 0) }
	leave := func(s *story) {
		ungated(s)
		the[TaskSubmitted](s, 0).Settings.NoGates = "ask"
		insert[RunClaimed](s, 0, (&story{}).task(ask("no_gates t1", AskNoGates)).task(yes()))
	}
	no := func(s *story) { the[TaskSubmitted](s, 0).Settings.NoGates = "ask" }
	checkBroken(t, []broken{
		{"after the preparation", planned, func(s *story) {
			drop[BaselineRecorded](s, 0)
			the[TaskSubmitted](s, 0).Settings.NoGates = "allow"
			moveBefore[PlanAccepted, TaskPrepared](s)
		}, want},
		{"no gates are allowed", with(planned, ungated), no, want},
		{"no gates are asked about", with(planned, leave),
			func(s *story) { the[ApprovalAnswered](s, 0).Option = OptReject }, want},
	})
	requireKept(t, map[string]func() *story{
		"beside the baseline": with(planned, func(s *story) { drop[BaselineRecorded](s, 0) }),
		"one gate of two is absent": with(
			planned, func(s *story) { the[BaselineRecorded](s, 0).Result.Checks[0] = absentLint() }),
	})
}

// moveBefore puts the first event of a kind before the first one of another.
func moveBefore[A, B any](s *story) {
	l := *lineOf[A](s, 0)
	drop[A](s, 0)
	insert[B](s, 0, &story{[]line{l}})
}

// Two tickets of a wave write no file in common, but for what is made again.
func TestDisjointWrites(t *testing.T) {
	t.Parallel()
	apart := with(pair)
	sets := func(a, b string) func(s *story) {
		return func(s *story) { the[PlanAccepted](s, 0).Plan.Waves[0] = oneWave(a, b) }
	}
	second := with(func() *story { return prepared().plan(oneWave("a/**"), oneWave("a/**", "b/**")) })
	checkBroken(t, []broken{
		{"apart", apart, sets("a/**", "a/b"), "wave 1: two write sets meet: a/b and a/**"},
		{"apart in all", apart, sets("x a/**", "y a/b"), "two write sets meet"},
		{"readable", apart, sets("a/**", "b/["), "a write set that cannot be read"},
		{"readable before", apart, sets("b/[", "a/**"), "a write set that cannot be read"},
		{"in the second wave", second, func(s *story) { the[PlanAccepted](s, 0).Plan.Waves[1] = oneWave("a", "b", "b") },
			"wave 2: two write sets meet"},
	})
}

// A subtask is worked on when all is merged that it names in after.
func TestAfter(t *testing.T) {
	t.Parallel()
	ordered := func() *story {
		p := oneWave("a/**", "b/**")
		p.Subtasks[1].After = []string{"t1-01"}
		return prepared().plan(p)
	}
	after := func(n int, ids ...string) func(s *story) {
		return func(s *story) { the[PlanAccepted](s, 0).Plan.Waves[0].Subtasks[n-1].After = ids }
	}
	both := func() *story { return ordered().work(1).gate(1, base).review(1, base).merge(1, base).offer("t1-02.1") }
	checkBroken(t, []broken{
		{"merged before the offer", both, func(s *story) { drop[MergeRecorded](s, 0) },
			"t1-02.1 comes after t1-01, which is not merged"},
		{"of this plan", ordered, after(2, "t1-03"), "wave 1: t1-02 comes after t1-03, which is in no wave up to its own"},
		{"an id", ordered, after(2, "the parser"), "t1-02 comes after the parser, which is in no wave up to its own"},
		{"of no later wave",
			with(ordered, func(s *story) { p := the[PlanAccepted](s, 0); p.Plan.Waves = append(p.Plan.Waves, oneWave("c/**")) }),
			after(2, "t1-03"), "t1-02 comes after t1-03, which is in no wave up to its own"},
		{"no circle", ordered, after(1, "t1-02"), "t1-01 comes after itself"},
		{"no circle behind a ticket", func() *story { return prepared().plan(oneWave("a", "b", "c")) },
			func(s *story) { after(1, "t1-02")(s); after(2, "t1-03")(s); after(3, "t1-02")(s) },
			"t1-02 comes after itself"},
		{"the same files in order alone",
			with(ordered, func(s *story) { the[PlanAccepted](s, 0).Plan.Waves[0].Subtasks[1].WriteSet = []string{"a/x"} }),
			after(2), "two write sets meet"},
	})
	second := func(n int, id string) func() *story {
		return func() *story {
			wave := oneWave("b", "b")
			wave.Subtasks[n].After = []string{id}
			return prepared().plan(oneWave("a"), wave)
		}
	}
	requireKept(t, map[string]func() *story{
		"the same files in order": second(1, "t1-02"), "the same files in the other order": second(0, "t1-03"),
	})
}
