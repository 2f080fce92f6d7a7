package historytest_test

import (
	"slices"
	"testing"

	. "company/internal/company"
)

// A verdict lets pass only what it proves: every pinned gate green, or red as
// the base is.
func TestVerdictsProveWhatTheySay(t *testing.T) {
	t.Parallel()
	want := "a verdict that lets pass and proves nothing"
	// judged is a ticket with this base, and this verdict on its head.
	judged := func(base, check GateCheck) func() *story {
		return func() *story {
			s := planned()
			if check.Excused == ComparedAsBefore {
				s.task(ask(UnreadKey("t1", check), AskUnread)).task(yes())
			}
			s.work(1).gate(1, oid("base"))
			at := 1
			if base.Name == "lint" {
				at = 0
			}
			the[BaselineRecorded](s, 0).Result.Checks[at] = clone(base)
			the[GateFinished](s, 0).Result.Checks[at] = clone(check)
			return s
		}
	}
	change := func(c GateCheck, do func(*GateCheck)) GateCheck {
		c = clone(c)
		do(&c)
		return c
	}
	ok := judged(green("test"), green("test"))
	result := func(do func(*GateResult)) func(s *story) {
		return func(s *story) { do(&the[GateFinished](s, 0).Result) }
	}
	check := func(do func(*GateCheck)) func(s *story) {
		return result(func(r *GateResult) { do(&r.Checks[1]) })
	}
	lint := func(do func(*GateCheck)) func(s *story) {
		return result(func(r *GateResult) { do(&r.Checks[0]) })
	}
	oneRed := func() GateCheck { return red("test", "A") }
	known := judged(red("test", "A", "B"), oneRed())
	absent := judged(absentLint(), absentLint())
	leftOutLint := change(absentLint(), func(c *GateCheck) { c.LeftOut = true })
	leftOut := with(judged(leftOutLint, leftOutLint), func(s *story) {
		the[TaskPrepared](s, 0).Gates[0].Provisional = true
	})
	late := change(oneRed(), func(c *GateCheck) { c.ExitCode = 124 })
	nameless := change(oneRed(), func(c *GateCheck) { c.Counts, c.Tests, c.Excused = nil, nil, ComparedAsBefore })
	unrun := change(red("test", "A", "B"), func(c *GateCheck) { c.Tests[0].Unrun, c.Excused = true, ComparedAsBefore })
	baseOf := func(do func(*GateCheck)) func(s *story) {
		return func(s *story) { do(&the[BaselineRecorded](s, 0).Result.Checks[1]) }
	}
	checkBroken(t, []broken{
		{"of the pinned gates", ok, result(func(r *GateResult) { r.GateHash = "others" }), want},
		{"of no gate less", ok, result(func(r *GateResult) { r.Checks = r.Checks[:1] }), want},
		{"of no gate more", ok, result(func(r *GateResult) { r.Checks = append(r.Checks, green("more")) }), want},
		{"by name", ok, check(func(c *GateCheck) { c.Name = "tests" }), want},
		{"by command", ok, check(func(c *GateCheck) { c.Command = "true" }), want},
		{"each was run", ok, check(func(c *GateCheck) { c.Skipped = true }), want},
		{"each passed", ok, check(func(c *GateCheck) { c.Passed = false }), want},
		{"the first passed", ok, lint(func(c *GateCheck) { c.Passed = false }), want},
		{"with exit 0", ok, check(func(c *GateCheck) { c.ExitCode = 1 }), want},
		{"with a program", ok, lint(func(c *GateCheck) { c.Absent = true }), want},
		{"where it looks",
			judged(green("test"), change(green("test"), func(c *GateCheck) { c.Canary = &Canary{Proven: []string{"a"}} })),
			check(func(c *GateCheck) { c.Canary.Hollow = []string{"a"} }), want},
		{"flaky by two runs",
			judged(green("test"), change(green("test"), func(c *GateCheck) { c.Flaky, c.Attempts = []string{"A"}, []int{1} })),
			check(func(c *GateCheck) { c.Attempts = nil }), want},
		{"untested without gates alone", ok, result(func(r *GateResult) { r.Untested, r.Passed = true, false }), want},
		{"untested before the baseline",
			with(prepared, settings(func(s *Settings) { s.ReviewRounds, s.NoGates = -1, "allow" })), func(s *story) {
				drop[BaselineRecorded](s, 0)
				s.task(&GateFinished{Result: GateResult{GateHash: "gates", Untested: true}})
			}, want},
		{"of a prepared task",
			with(submitted, settings(func(s *Settings) { s.ReviewRounds = 0 }),
				func(s *story) {
					s.task(&GateFinished{Result: GateResult{GateHash: "gates"}})
				}), result(func(r *GateResult) { r.Passed = true }), want},

		{"red as the base", known, check(func(c *GateCheck) { c.Tests[0].Name = "C" }), want},
		{"red as a red base", known, baseOf(func(c *GateCheck) { *c = green("test") }), want},
		{"red by exit", known, check(func(c *GateCheck) { c.ExitCode = 0 }), want},
		{"red is not passed", known, check(func(c *GateCheck) { c.Passed = true }), want},
		{"red and known", known, check(func(c *GateCheck) { c.Excused = "" }), want},
		{"red by known names", known, check(func(c *GateCheck) { c.Excused = ComparedAsBefore }), want},
		{"red with all names", known, check(func(c *GateCheck) { c.Counts.Failed = 2 }), want},
		{"red with counts", known, check(func(c *GateCheck) { c.Counts = nil }), want},
		{"red with failures", known, check(func(c *GateCheck) { c.Counts.Failed, c.Tests = 0, nil }), want},
		{"red and there", known, lint(func(c *GateCheck) { c.Absent, c.Passed = true, false }), want},
		{"late as the base", judged(late, late), check(func(c *GateCheck) { c.ExitCode = 125 }), want},
		{"not late where the base is not", judged(oneRed(), change(oneRed(), func(c *GateCheck) { c.ExitCode = 123 })),
			check(func(c *GateCheck) { c.ExitCode = 124 }), want},

		{"red before the baseline", with(prepared, settings(func(s *Settings) { s.ReviewRounds = -1 }), func(s *story) {
			drop[BaselineRecorded](s, 0)
			s.task(&GateFinished{Result: verdict("base tree")})
		}), check(func(c *GateCheck) { *c = red("test", "A") }), want},
		{"red as before where the base is", judged(green("test"), green("test")),
			check(func(c *GateCheck) { *c = nameless }), want},
		{"absent as the base is red", judged(red("lint", "A"), red("lint", "A")),
			lint(func(c *GateCheck) { c.Absent = true }), want},
		{"red as an absent base", judged(absentLint(), absentLint()), func(s *story) {
			the[BaselineRecorded](s, 0).Result.Checks[0].ExitCode = 127
			the[GateFinished](s, 0).Result.Checks[0] = clone(nameless)
			c := &the[GateFinished](s, 0).Result.Checks[0]
			c.Name, c.Command = "lint", "run lint"
		}, want},

		{"absent as the base", absent,
			func(s *story) { the[BaselineRecorded](s, 0).Result.Checks[0] = red("lint", "A") }, want},
		{"absent and so excused", absent, lint(func(c *GateCheck) { c.Excused = "" }), want},
		{"absent all the time", absent,
			lint(func(c *GateCheck) { c.Absent, c.ExitCode, c.Excused = false, 1, ComparedAbsent }), want},
		{"left out as the base", leftOut, lint(func(c *GateCheck) { c.LeftOut = false }), want},
		{"a base without names is let pass", judged(nameless, nameless),
			check(func(c *GateCheck) { c.Excused = ComparedKnown }), want},
		{"a base without all names is let pass",
			judged(change(oneRed(), func(c *GateCheck) { c.Counts.Failed = 2 }),
				change(oneRed(), func(c *GateCheck) { c.Excused = ComparedAsBefore })),
			check(func(c *GateCheck) { c.Excused = ComparedKnown }), want},
		{"a base without failures is let pass",
			judged(red("test"), change(oneRed(), func(c *GateCheck) { c.Excused = ComparedAsBefore })),
			check(func(c *GateCheck) { c.Excused = ComparedKnown }), want},
		{"what hides tests is let pass", judged(red("test", "A", "B"), unrun),
			check(func(c *GateCheck) { c.Excused = ComparedKnown }), want},
	})
	requireKept(t, map[string]func() *story{
		"a red verdict": with(ok, result(func(r *GateResult) { r.Passed = false })),
		"late as late":  judged(late, late),
	})
}

// clone shares nothing with the check.
func clone(c GateCheck) GateCheck {
	if c.Counts != nil {
		counts := *c.Counts
		c.Counts = &counts
	}
	c.Tests = slices.Clone(c.Tests)
	return c
}

// What cannot be read passes with the president's approval.
func TestUnreadableChecks(t *testing.T) {
	t.Parallel()
	check := GateCheck{Name: "test", Command: "run test", ExitCode: 1, Excused: ComparedAsBefore}
	passed := func() *story {
		s := planned()
		the[BaselineRecorded](s, 0).Result.Checks[1] = check
		s.task(ask(UnreadKey("t1", check), AskUnread)).task(yes()).work(1).gate(1, base)
		the[GateFinished](s, 0).Result.Checks[1] = check
		return s
	}
	checkBroken(t, []broken{
		{"let pass", passed, func(s *story) { the[ApprovalAnswered](s, 0).Option = OptReject }, "proves nothing"},
	})
}

// GAT-7: where a test that shows the change is required, a ticket without one is not
// reviewed but with the president's approval.
func TestUnshownTicketIsNotReviewed(t *testing.T) {
	t.Parallel()
	shown := func() *story {
		s := planned()
		the[TaskSubmitted](s, 0).Settings.RedGreen = RedGreenRequire
		s.work(1).gate(1, base)
		the[GateFinished](s, 0).Result.RedGreen = &RedGreen{Source: true, Files: 1, Shown: 1}
		return s.review(1, base)
	}
	report := func(change func(*GateFinished)) func(*story) {
		return func(s *story) { change(the[GateFinished](s, 0)) }
	}
	const unshown = "t1-01 is reviewed, and no test shows its change"
	checkBroken(t, []broken{
		{"one shows it", shown, report(func(d *GateFinished) { d.Result.RedGreen.Shown = 0 }),
			"moves from pending to merging"},
		{"it is reported", shown, report(func(d *GateFinished) { d.Result.RedGreen = nil }), unshown},
	})
	let := with(func() *story { return until[RunClaimed](shown(), 2) }, func(s *story) {
		the[GateFinished](s, 0).Result.RedGreen = nil
		s.ticket(1, ask("red_green t1-01 x", AskRedGreen)).ticket(1, yes()).review(1, base)
	})
	checkBroken(t, []broken{
		{"the president lets it", let, func(s *story) { the[ApprovalAnswered](s, 0).Option = OptReject }, unshown},
		{"the president lets this ticket", let, func(s *story) {
			the[ApprovalOpened](s, 0).Key = "red_green t1-02 x"
		}, unshown},
	})
	requireKept(t, map[string]func() *story{
		"nothing that tests cover": with(shown, report(func(d *GateFinished) { d.Result.RedGreen = &RedGreen{} })),
		"a conflict":               with(shown, report(func(d *GateFinished) { d.Result.RedGreen, d.Conflict = nil, true })),
		"not required": with(shown, func(s *story) {
			the[GateFinished](s, 0).Result.RedGreen = nil
			the[TaskSubmitted](s, 0).Settings.RedGreen = RedGreenReport
		}),
	})
}

// The first step of a suite judges a ticket, and merges nothing.
func TestFirstSteps(t *testing.T) {
	t.Parallel()
	right := func() *story { return reviewed().merge(1, base).whole(1) }
	step := func(r *GateResult) { r.Checks[1].Part = &TestPart{} }
	first := with(right, func(s *story) { step(&the[GateFinished](s, 0).Result) })
	part := "a part of a suite is taken for all of it"
	checkBroken(t, []broken{
		{"not a merge", first, func(s *story) { drop[MergeGated](s, 0) }, "a merge of a tree on which no gates passed"},
		{"not for a merge", right, func(s *story) { step(&the[MergeGated](s, 0).Result) }, part},
		{"not the whole", right, func(s *story) { step(&the[GateFinished](s, 1).Result) }, part},
		{"not a stack", stack, func(s *story) { step(&the[StackIntended](s, 0).Result) }, part},
		{"not a red stack", redStack, func(s *story) { step(&the[StackRed](s, 0).Result) }, part},
	})
}

// Untested work passes where there are no gates, with leave.
func TestUntestedVerdicts(t *testing.T) {
	t.Parallel()
	untested := func() *story {
		s := planned().work(1).gate(1, base)
		noGates(s)
		drop[BaselineRecorded](s, 0)
		r := &the[GateFinished](s, 0).Result
		r.Checks, r.Passed, r.Untested = nil, false, true
		return s
	}
	absent := func() *story {
		s := untested()
		p := the[TaskPrepared](s, 0)
		p.Gates = []GateCommand{{Name: "lint", Command: "run lint"}}
		insert[RunClaimed](s, 0,
			(&story{}).task(
				&BaselineRecorded{Result: GateResult{Tree: oid("base tree"), GateHash: "gates", Checks: []GateCheck{absentLint()},
					Untested: true}}))
		return s
	}
	checkBroken(t, []broken{
		{"it is not a pass", untested, func(s *story) {
			r := &the[GateFinished](s, 0).Result
			r.Passed, r.Untested = true, false
		}, "proves nothing"},
		{"absent gates are no pass", absent, func(s *story) {
			r := &the[GateFinished](s, 0).Result
			r.Passed, r.Untested, r.Checks = true, false, []GateCheck{absentLint()}
		}, "proves nothing"},
	})
	left := func() *story {
		s := submitted()
		s.task(&TaskPrepared{Base: Base{OID: base}, GateHash: "gates", Image: "image", Integration: "develop/t1"})
		return s.task(ask("no_gates t1", AskNoGates)).task(yes()).task(
			&GateFinished{Head: base, Result: GateResult{GateHash: "gates", Untested: true}})
	}
	checkBroken(t, []broken{
		{"with leave", left, func(s *story) { the[ApprovalAnswered](s, 0).Option = OptReject }, "proves nothing"},
	})
}

// A review is of a run that ended, and approves nothing that it blocks.
func TestReviews(t *testing.T) {
	t.Parallel()
	checkBroken(t, []broken{
		{"of a run", reviewed, func(s *story) { lineOf[ReviewRecorded](s, 0).run = "t1-01-review.2" },
			"a verdict of a run that did not end"},
		{"of an ended run", reviewed, func(s *story) { drop[RunEnded](s, 2) }, "a verdict of a run that did not end"},
		{"nothing blocks", reviewed, func(s *story) { the[ReviewRecorded](s, 0).Findings[0].Severity = Blocking },
			"approved in spite of a blocking finding"},
	})
	requireKept(t, map[string]func() *story{"a request": with(reviewed, func(s *story) {
		r := the[ReviewRecorded](s, 0)
		r.Verdict, r.Findings[0].Severity = RequestChanges, Blocking
	})})
}

// A second review is of the head of a first one that asked for changes, and judges what blocks (REV-4).
func TestSecondReviews(t *testing.T) {
	t.Parallel()
	first := Finding{Severity: Blocking, File: "a.go", Line: 3, What: "A race."}
	second := func(judged ...Judgement) func() *story {
		return func() *story {
			s := planned().work(1).gate(1, base)
			the[TaskSubmitted](s, 0).Settings.ConfirmReview = ConfirmBlocking
			for n, r := range []*ReviewRecorded{
				{Head: headOf(1), Onto: base, Verdict: RequestChanges,
					Findings: []Finding{first, {Severity: Minor, What: "A word."}}},
				{Head: headOf(1), Onto: base, Verdict: RequestChanges, Findings: []Finding{first}, Confirms: true,
					Judged: slices.Clone(judged)},
			} {
				id := NewRunID("t1", "t1-01", Reviewer, n+1)
				s.claim(id).end(id).runOf(id, r)
			}
			return s
		}
	}
	confirmed := second(Judgement{Number: 1, Status: FindingConfirmed})
	rejected := with(second(Judgement{Number: 1, Status: FindingRejected, Why: "it is locked"}), func(s *story) {
		r := the[ReviewRecorded](s, 1)
		r.Verdict, r.Findings = Approve, nil
	})
	approved := with(rejected, func(s *story) {
		the[TaskSubmitted](s, 0).Settings.ConfirmReview = ConfirmAll
		r := the[ReviewRecorded](s, 0)
		r.Verdict, r.Findings = Approve, r.Findings[1:]
		the[ReviewRecorded](s, 1).Judged[0].Status = FindingRejected
	})
	none := "a second review, and no first one that asks for it"
	checkBroken(t, []broken{
		{"as the settings say", confirmed, func(s *story) { the[TaskSubmitted](s, 0).Settings.ConfirmReview = "" }, none},
		{"after a first one", confirmed, func(s *story) { drop[ReviewRecorded](s, 0) }, none},
		{"of the same head", confirmed, func(s *story) { the[ReviewRecorded](s, 0).Head = base }, none},
		{"of a request", confirmed, func(s *story) {
			r := the[ReviewRecorded](s, 0)
			r.Verdict, r.Findings = Approve, nil
		}, none},
		{"once", confirmed, func(s *story) { the[ReviewRecorded](s, 0).Confirms = true }, none},
		{"of what blocks", confirmed, func(s *story) { the[ReviewRecorded](s, 1).Judged[0].Number = 2 },
			"a second review does not judge finding 1"},
		{"of an approval", approved, func(s *story) {
			the[TaskSubmitted](s, 0).Settings.ConfirmReview = ConfirmBlocking
		}, none},
		{"of an approval with findings", approved, func(s *story) { the[ReviewRecorded](s, 0).Findings = nil }, none},
		{"of each", approved, func(s *story) { the[ReviewRecorded](s, 1).Judged = nil },
			"a second review does not judge finding 1"},
		{"with what it confirms", rejected, func(s *story) { the[ReviewRecorded](s, 1).Judged[0].Status = FindingConfirmed },
			"a second review confirms finding 1, and lets it pass"},
	})
	all := func(s *story) { the[TaskSubmitted](s, 0).Settings.ConfirmReview = ConfirmAll }
	requireKept(t, map[string]func() *story{
		"all judged of a request": with(confirmed, all, func(s *story) {
			r := the[ReviewRecorded](s, 1)
			r.Judged = append(r.Judged, Judgement{Number: 2, Status: FindingRejected, Why: "it is right"})
		}),
		"an approval whose findings are confirmed": func() *story {
			s := approved()
			r := the[ReviewRecorded](s, 1)
			r.Findings, r.Judged[0].Status = slices.Clone(the[ReviewRecorded](s, 0).Findings), FindingConfirmed
			return s.merge(1, base)
		},
	})
}

// Where each finding is to be judged, nothing follows from an approval with findings before the second reviewer's run.
// The approval stands where that run breaks, of the present head alone, and while the task goes on.
func TestApprovalAwaitsTheSecondReview(t *testing.T) {
	t.Parallel()
	broke := func(s *story, id RunID) *story { return s.claim(id).runOf(id, &RunEnded{Status: RunError}) }
	all := func(s *story) *story {
		the[TaskSubmitted](s, 0).Settings.ConfirmReview = ConfirmAll
		return s
	}
	second := RunID("t1-01-review.2")
	looked := func() *story { return broke(all(reviewed()), second).merge(1, base) }
	// whole awaits the second look of the merged whole; it broke in the second story.
	whole := func() *story {
		s := looked().judge(1)
		the[ReviewRecorded](s, 1).Findings = []Finding{{Severity: Minor, What: "A word."}}
		return s
	}
	open := func() *story { return broke(whole(), "t1-review.2").deliver(1) }
	cancelled := func() *story {
		s := whole().claim("t1-review.2").task(&TaskCancelled{}).runOf("t1-review.2", &RunEnded{Status: RunError})
		return s.task(&TaskReopened{}).claim("t1-review.3")
	}
	another := func() *story { // another head is handed in after a retry, and its first review breaks
		s := all(reviewed()).task(&TaskCancelled{}).task(&TaskReopened{}).gate(1, base)
		the[TaskSubmitted](s, 0).Settings.GateRetries = 1
		the[GateFinished](s, 1).Result.Passed = false
		s.offer("t1-01.2").claim("t1-01.2").runOf("t1-01.2", &RunEnded{Status: RunSuccess, Head: oid("another")})
		s.ticket(1, &GateFinished{Head: oid("another"), Onto: base, Result: verdict("another tree")})
		return broke(s, second)
	}
	requireKept(
		t, map[string]func() *story{"a look that broke": looked, "of the whole": open, "one that was cancelled": cancelled})
	checkBroken(t, []broken{
		{"before a merge", looked, func(s *story) { drop[RunEnded](s, 3) }, "a merge of a head that nobody approved"},
		{"before the pull request", open, func(s *story) { drop[RunEnded](s, 5) }, "a pull request that nobody reviewed"},
	})
	// The first review asks for changes, and the second breaks.
	asksForChanges := func() *story {
		s := all(reviewed())
		the[ReviewRecorded](s, 0).Verdict = RequestChanges
		return broke(s, second)
	}
	away := func() *story { // nobody looked, for a reason outside of the run
		return all(reviewed()).claim(second).runOf(second, &RunEnded{Status: RunError, Human: true})
	}
	merger := func() *story { return broke(all(reviewed()), NewRunID("t1", "t1-01", Merger, 1)) }
	for _, unapproved := range []func() *story{another, asksForChanges, away, merger} {
		unapproved().state(t)
		_, _, err := unapproved().ticket(
			1, &MergeIntentRecorded{Subtask: "t1-01", Head: headOf(1), Onto: base, Tree: oid(treeOf(1))}).watch()
		requireBroken(t, err, "a merge of a head that nobody approved")
	}
}

// The approval of the only ticket holds for the whole where it was one.
func TestCarriedReviews(t *testing.T) {
	t.Parallel()
	carry := func(change func(*ReviewCarried)) func(s *story) {
		return func(s *story) { change(the[ReviewCarried](s, 0)) }
	}
	taken, due := "an approval of t1-01 is taken for one of the whole",
		"gate.finished after the merge of the only ticket, whose approval holds for the whole"
	unlike := func(s *story) { the[MergeIntentRecorded](s, 0).HeadTree = oid("other") }
	notWhole := func(s *story) { the[ReviewRecorded](s, 0).Whole = false }
	onto := func(s *story) { the[ReviewRecorded](s, 0).Onto = oid("other") }
	ofPair := func() *story {
		s := approvedPair().merge(1, base)
		the[ReviewRecorded](s, 0).Whole = true
		in := the[MergeIntentRecorded](s, 0)
		in.HeadTree = in.Tree
		return s.merge(2, mergeOf(1))
	}
	checkBroken(t, []broken{
		{"at once", carried, func(s *story) { drop[ReviewCarried](s, 0) }, due},
		{"for a head", carried, carry(func(d *ReviewCarried) { d.Head = "" }), taken},
		{"for the merge", carried, carry(func(d *ReviewCarried) { d.Head = headOf(1) }), taken},
		{"from the approved head", carried, carry(func(d *ReviewCarried) { d.From = base }), taken},
		{"once", carried, func(s *story) {
			insert[GateFinished](s, 1, (&story{}).ticket(1, the[ReviewCarried](s, 0)))
		}, taken},
		{"once without a head", carried,
			func(s *story) { insert[GateFinished](s, 1, (&story{}).ticket(1, &ReviewCarried{From: headOf(1)})) }, taken},
		{"for the same tree", carried, unlike, taken},
		{"of the whole", carried, notWhole, taken},
		{"on the base", carried, onto, taken},
		{"of the only ticket", ofPair, func(s *story) {
			insert[MergeGated](s, 1, (&story{}).ticket(1, &ReviewCarried{From: headOf(1), Head: mergeOf(1)}))
		}, taken},
	})
}

// The approval of a repair holds for the repair alone.
func TestRepairsCarryNoReview(t *testing.T) {
	t.Parallel()
	requireKept(t, map[string]func() *story{"a repair": func() *story {
		s := carried()
		s.lines = s.lines[:find[GateFinished](s, 1)+1]
		the[GateFinished](s, 1).Result.Passed = false
		s.work(2).gate(2, mergeOf(1)).review(2, mergeOf(1)).merge(2, mergeOf(1))
		the[ReviewRecorded](s, 1).Whole = true
		in := the[MergeIntentRecorded](s, 1)
		in.HeadTree = in.Tree
		return s.whole(2)
	}})
}

// A voided approval counts no more, and the others' do.
func TestVoidedReviews(t *testing.T) {
	t.Parallel()
	voided := func() *story {
		s := approvedPair().ticket(1, &ReviewVoided{Onto: base}).merge(2, base).gate(1, mergeOf(2))
		id := RunID("t1-01-review.2")
		s.claim(id).end(id).runOf(id, &ReviewRecorded{Head: headOf(1), Onto: mergeOf(2), Verdict: Approve})
		return s.merge(1, mergeOf(2))
	}
	checkBroken(t, []broken{
		{"reviewed again", voided, func(s *story) { drop[ReviewRecorded](s, 2) }, "a merge of a head that nobody approved"},
	})
}
