package company_test

import (
	"strings"
	"testing"

	. "company/internal/company"
)

// onBase is a task whose base stands as change leaves it: lint and test, green
// before.
func onBase(t *testing.T, set Settings, change func(r *GateResult)) *story {
	t.Helper()
	s := &story{bench: newBench(t)}
	set.Cap = Amount{MicroUSD: 1000, Tokens: NoCap}
	s.submit(set)
	s.must(Company, s.preparation())
	s.must(Company, RecordBaseline{Task: s.id, Result: s.base(change)})
	return s
}

func (s *story) base(change func(r *GateResult)) GateResult {
	r := s.verdict(s.oid(), true)
	if change != nil {
		change(&r)
	}
	return r.Settle(nil, nil)
}

// judged is a verdict on the subtask's head, as change leaves it.
func (s *story) judged(n int, change func(r *GateResult)) RecordGateResult {
	g := s.gated(n, true)
	change(&g.Result)
	g.Result = g.Result.Settle(s.task().Baseline, s.s.WaivedChecks(s.task()))
	return g
}

// The base is judged once, beside the planning.
func TestBaselineIsTakenOnce(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t)}
	s.submit(Settings{Cap: Amount{MicroUSD: 1000, Tokens: NoCap}})
	s.must(Company, s.preparation())
	if !s.isDue(EffectManage) || !s.isDue(EffectBaseline) {
		t.Fatal("the base is not judged beside the planning")
	}
	b := RecordBaseline{Task: s.id, Result: s.base(nil)}
	s.must(Company, b)
	if !s.isDue(EffectManage) || s.isDue(EffectBaseline) {
		t.Fatal("it is judged twice, or the planning ends with it")
	}
	s.mustIgnore(b)
}

// A baseline is the whole truth about the pinned gates, or none.
func TestBaselineMustProve(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(r *GateResult){
		"no tree":             func(r *GateResult) { r.Tree = "" },
		"other gates":         func(r *GateResult) { r.GateHash = "x" },
		"a gate too few":      func(r *GateResult) { r.Checks = r.Checks[:1] },
		"none":                func(r *GateResult) { r.Checks = nil },
		"another command":     func(r *GateResult) { r.Checks[1].Command = "true" },
		"skipped":             func(r *GateResult) { r.Checks[1].Passed, r.Checks[1].Skipped = false, true },
		"an absent test":      func(r *GateResult) { r.Checks[1].Passed, r.Checks[1].Absent, r.Passed = false, true, false },
		"passed with exit 1":  func(r *GateResult) { r.Checks[1].ExitCode = 1 },
		"green with red":      func(r *GateResult) { failCheck(&r.Checks[1], "x"); r.Passed = true },
		"untested with tests": func(r *GateResult) { r.Untested, r.Passed = true, false },
	} {
		s := &story{bench: newBench(t)}
		s.submit(Settings{Cap: Amount{MicroUSD: 1000, Tokens: NoCap}})
		s.must(Company, s.preparation())
		r := s.base(nil)
		spoil(&r)
		if _, err := s.do(Company, RecordBaseline{Task: s.id, Result: r}); CodeOf(err) != EInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Only a failure that the base does not have bars.
func TestOnlyNewFailuresBar(t *testing.T) {
	t.Parallel()
	named := func(r *GateResult) { failCheck(&r.Checks[1], "TestOld", "TestOlder") }
	unnamed := func(r *GateResult) { r.Checks[1].Passed, r.Checks[1].ExitCode = false, 1 }
	red := func(names ...string) func(r *GateResult) {
		return func(r *GateResult) { failCheck(&r.Checks[1], names...) }
	}
	exit := func(code int) func(r *GateResult) {
		return func(r *GateResult) { r.Checks[1].Passed, r.Checks[1].ExitCode = false, code }
	}
	for _, c := range []struct {
		name       string
		base, work func(r *GateResult)
		ok         bool
		excused    BaselineComparison
	}{
		{"green stays green", nil, func(*GateResult) {}, true, ""},
		{"red on a green base", nil, red("TestOld"), false, ""},
		{"the same failures", named, red("TestOlder", "TestOld"), true, ComparedKnown},
		{"one of them mended", named, red("TestOld"), true, ComparedKnown},
		{"all of them mended", named, func(*GateResult) {}, true, ""},
		{"a new one beside them", named, red("TestOld", "TestNew"), false, ""},
		{"only a new one", named, red("TestNew"), false, ""},
		{"red without names, on a base with names", named, exit(1), false, ""},
		{"fewer named than counted", named,
			func(r *GateResult) { failCheck(&r.Checks[1], "TestOld"); r.Checks[1].Counts.Failed = 2 }, false, ""},
		{"all green on a base without names", unnamed, func(*GateResult) {}, true, ""},
		{"too long, on a base that ends", unnamed, exit(124), false, ""},
		{"not started, on a base that is", unnamed, exit(127), false, ""},
		{"killed, with old names", named,
			func(r *GateResult) { failCheck(&r.Checks[1], "TestOld"); r.Checks[1].ExitCode = 137 }, false, ""},
		{"red lint on a base with red lint, and a new red test", func(r *GateResult) { failCheck(&r.Checks[0], "a.go: x") },
			func(r *GateResult) { failCheck(&r.Checks[0], "a.go: x"); failCheck(&r.Checks[1], "TestNew") }, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := onBase(t, Settings{}, c.base).plan(1)
			s.work(1)
			g := s.judged(1, c.work)
			if g.Result.Passed != c.ok || g.Result.Checks[1].Excused != c.excused {
				t.Fatalf("passed %v, excused %q", g.Result.Passed, g.Result.Checks[1].Excused)
			}
			if !c.ok { // nor does it pass by saying so
				lie := g
				lie.Result.Checks = append([]GateCheck(nil), g.Result.Checks...)
				lie.Result.Passed, lie.Result.Checks[1].Excused = true, ComparedKnown
				s.mustRefuse(EInvalid, lie)
			}
			s.must(Company, g)
			s.checkSubStatus(1, map[bool]SubtaskStatus{true: SubtaskReviewing, false: SubtaskPending}[c.ok])
		})
	}
}

// What cannot be read proves nothing: it neither bars nor passes before the
// president has seen it. That counts for failures without names, and for those
// behind which nothing was run: a package that does not build has no name for
// what broke in it (GAT-3).
func TestUnreadableGateAsksPresident(t *testing.T) {
	t.Parallel()
	unnamed := func(r *GateResult) { r.Checks[1].Passed, r.Checks[1].ExitCode = false, 1 }
	unbuilt := func(r *GateResult) {
		failCheck(&r.Checks[1], "TestOld", "p (build failed)")
		r.Checks[1].Tests[1].Unrun = true
	}
	late := func(r *GateResult) { r.Checks[1].Passed, r.Checks[1].ExitCode = false, 124 }
	beside := func(text string, do func(*GateResult)) func(*GateResult) {
		return func(r *GateResult) { do(r); r.Checks[1].Beside = text }
	}
	for _, c := range []struct {
		name       string
		base, work func(r *GateResult)
		says       []string
	}{
		{"red without names, on a base without", unnamed, beside("--- BAD: the new thing", unnamed),
			[]string{"have no names", "--- BAD: the new thing"}},
		{"red with names, on a base without", unnamed, func(r *GateResult) { failCheck(&r.Checks[1], "TestNew") },
			[]string{"have no names"}},
		{"too long, as on the base", late, late, []string{"exit 124"}},
		{"a build that fails, as on the base", unbuilt, unbuilt, []string{"nothing was run behind p (build failed)"}},
		{"only that", unbuilt, func(r *GateResult) {
			failCheck(&r.Checks[1], "p (build failed)")
			r.Checks[1].Tests[0].Unrun = true
		}, []string{"p (build failed)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			waits := func() (*story, *Approval) {
				s := onBase(t, Settings{}, c.base).plan(1)
				s.work(1)
				g := s.judged(1, c.work)
				if g.Result.Passed || g.Result.Checks[1].Excused != ComparedUnreadable {
					t.Fatalf("%+v", g.Result)
				}
				lie := g
				lie.Result.Checks = append([]GateCheck(nil), g.Result.Checks...)
				lie.Result.Passed, lie.Result.Checks[1].Excused = true, ComparedAsBefore
				s.mustRefuse(EInvalid, lie)
				s.must(Company, g)
				s.checkSubStatus(1, SubtaskInGate)
				if s.isDue(EffectGate) || s.sub(1).GateReds != 0 {
					t.Fatal("it does not wait for the president")
				}
				s.mustIgnore(g)
				return s, s.ask(AskUnread)
			}
			s, a := waits()
			for _, want := range append(c.says, "t1-01", "Let it pass, unverified?") {
				if !strings.Contains(a.Question, want) {
					t.Errorf("%q is not in %q", want, a.Question)
				}
			}
			s.must(President, Answer{Approval: a.ID, Option: OptApprove})
			if !s.isDue(EffectGate) {
				t.Fatal("it is not judged with the president's approval")
			}
			hit, ok := s.s.Reuse(s.task(), s.sub(1).Gate.Result, s.task().Baseline)
			if again := c.name == "too long, as on the base"; ok == again {
				t.Fatalf("taken from the cache: %v", ok)
			}
			g := s.judged(1, c.work)
			if g.Result.Tree = s.sub(1).Gate.Result.Tree; ok {
				g.Result = hit
			}
			if !g.Result.Passed || g.Result.Checks[1].Excused != ComparedAsBefore {
				t.Fatalf("%+v", g.Result)
			}
			s.must(Company, g)
			s.checkSubStatus(1, SubtaskReviewing)

			// The same difference is not asked about twice, on the way to the end.
			s.reviewed(1, Approve)
			m := s.tested(1)
			c.work(&m.Result)
			m.Result.Tree = m.Tree
			m.Result = s.s.Settle(s.task(), m.Result)
			s.must(Company, m)
			s.must(Company, RecordMerge{Task: s.id, Commit: s.oid()})
			whole := s.wholeGated(true)
			c.work(&whole.Result)
			whole.Result = s.s.Settle(s.task(), whole.Result)
			s.must(Company, whole)
			if !s.task().GatePassed() {
				t.Errorf("%+v", whole.Result)
			}

			s, a = waits()
			s.must(President, Answer{Approval: a.ID, Option: OptReject, Text: "mend the build first"})
			s.checkSubStatus(1, SubtaskPending)
			if in := s.sub(1).Input; !strings.Contains(in, "mend the build first") {
				t.Errorf("the worker is told %q", in)
			}
			s.work(1)
			s.must(Company, s.judged(1, c.work)) // it is red, and everybody knows
			s.checkSubStatus(1, SubtaskPending)

			s, a = waits()
			s.must(President, Answer{Approval: a.ID, Option: OptReject})
			s.checkStatus(StatusFailed)
		})
	}
}

// Where something else bars there is nothing to decide.
func TestUnreadableCheckDoesNotHideFailure(t *testing.T) {
	t.Parallel()
	s := onBase(t, Settings{}, func(r *GateResult) { r.Checks[0].Passed, r.Checks[0].ExitCode = false, 1 }).plan(1)
	s.work(1)
	s.must(Company, s.judged(1, func(r *GateResult) {
		r.Checks[0].Passed, r.Checks[0].ExitCode = false, 1
		failCheck(&r.Checks[1], "TestNew")
	}))
	s.checkSubStatus(1, SubtaskPending)
}

// A difference that only the merge shows is asked about there; whatever else is
// in the queue goes on meanwhile.
func TestUnreadableMergeGateAsksPresident(t *testing.T) {
	t.Parallel()
	unnamed := func(r *GateResult) { r.Checks[1].Passed, r.Checks[1].ExitCode = false, 1 }
	s := onBase(t, Settings{}, unnamed).plan(2)
	s.queued(1).queued(2)
	doubt := func(n int) RecordMergeGate {
		m := s.tested(n)
		unnamed(&m.Result)
		m.Result.Checks[1].Beside = "only here"
		m.Result = s.s.Settle(s.task(), m.Result)
		return m
	}
	s.must(Company, doubt(1))
	s.checkSubStatus(1, SubtaskMerging)
	a := s.ask(AskUnread)
	if s.task().MergeIntent != nil || s.s.NextInMergeQueue(s.task()).ID != s.subID(2) {
		t.Fatal("it does not wait")
	}
	s.must(President, Answer{Approval: a.ID, Option: OptApprove})
	if s.s.NextInMergeQueue(s.task()).ID != s.subID(1) {
		t.Fatal("it waits for ever")
	}
	s.must(Company, doubt(1))
	if in := s.task().MergeIntent; in == nil || in.Subtask != s.subID(1) || s.sub(1).Doubt != nil {
		t.Fatalf("%+v", in)
	}

	s = onBase(t, Settings{}, unnamed).plan(1)
	s.queued(1)
	s.must(Company, doubt(1))
	s.must(President, Answer{Approval: s.ask(AskUnread).ID, Option: OptReject, Text: "no"})
	s.checkSubStatus(1, SubtaskPending)
	if len(s.task().Queue) > 0 {
		t.Error("it is still in the queue")
	}
}

// On the merged whole it is asked about too.
func TestUnreadableTaskGateAsksPresident(t *testing.T) {
	t.Parallel()
	unnamed := func(r *GateResult) { r.Checks[1].Passed, r.Checks[1].ExitCode = false, 1 }
	waits := func() (*story, *Approval) {
		s := onBase(t, Settings{}, unnamed).plan(1)
		s.queued(1).merged(1)
		g := s.wholeGated(true)
		unnamed(&g.Result)
		g.Result = s.s.Settle(s.task(), g.Result)
		s.must(Company, g)
		s.checkStatus(StatusReviewing)
		if s.isDue(EffectGate) || s.task().GatePassed() {
			t.Fatal("it does not wait")
		}
		s.mustIgnore(g)
		return s, s.ask(AskUnread)
	}
	s, a := waits()
	s.must(President, Answer{Approval: a.ID, Option: OptApprove})
	if !s.isDue(EffectGate) {
		t.Fatal("it waits for ever")
	}
	g := s.wholeGated(true)
	g.Result = s.s.Settle(s.task(), s.task().Gate.Result)
	s.must(Company, g)
	if !s.task().GatePassed() {
		t.Error("it did not pass")
	}
	s, a = waits()
	s.must(President, Answer{Approval: a.ID, Option: OptReject, Text: "mend it"})
	s.checkStatus(StatusExecuting)
	if d := s.sub(2).Planned.Description; !strings.Contains(d, "mend it") {
		t.Errorf("%q", d)
	}
}

// A gate that does not look at what is changed any more is not a gate: its work
// goes back, whatever its exit code is.
func TestGateWithoutTestsBlocks(t *testing.T) {
	t.Parallel()
	for name, base := range map[string]func(*GateResult){"on a green base": nil,
		"on a red one": func(r *GateResult) { failCheck(&r.Checks[1], "TestOld") }} {
		s := onBase(t, Settings{}, base).plan(1)
		s.work(1)
		g := s.judged(1, func(r *GateResult) {
			if base != nil {
				base(r)
			}
			r.Checks[1].Canary = &Canary{Hollow: []string{"double"}, Proven: []string{"."}}
		})
		if g.Result.Passed {
			t.Fatalf("%s: %+v", name, g.Result)
		}
		lie := g
		lie.Result.Passed = true
		s.mustRefuse(EInvalid, lie)
		s.must(Company, g)
		s.checkSubStatus(1, SubtaskPending)
		if red := s.sub(1).LastRed(); !strings.Contains(red, "It does not look at double any more") {
			t.Errorf("%s: the worker is told %q", name, red)
		}
	}
	s := newStory(t, Settings{}).plan(1)
	s.work(1)
	s.must(Company,
		s.judged(1, func(r *GateResult) { r.Checks[1].Canary = &Canary{Blind: []string{"x"}, Reason: "nobody knows"} }))
	s.checkSubStatus(1, SubtaskReviewing) // it never did
}

// What excuses a check must be said in the verdict: the pull request tells it.
func TestGateMessageNamesKnownFailures(t *testing.T) {
	t.Parallel()
	s := onBase(t, Settings{}, func(r *GateResult) { failCheck(&r.Checks[1], "TestOld") }).plan(1)
	s.work(1)
	g := s.judged(1, func(r *GateResult) { failCheck(&r.Checks[1], "TestOld") })
	g.Result.Checks[1].Excused = ""
	s.mustRefuse(EInvalid, g)
}

// The brief of a worker names the new failures before the output, which has the old ones, too.
func TestNewFailuresAreNamed(t *testing.T) {
	t.Parallel()
	s := onBase(t, Settings{}, func(r *GateResult) { failCheck(&r.Checks[1], "TestOld") }).plan(1)
	s.work(1)
	s.must(Company, s.judged(1, func(r *GateResult) {
		failCheck(&r.Checks[1], "TestOld", "TestNew")
		r.Checks[1].Output = "--- FAIL: TestOld\n--- FAIL: TestNew\n"
	}))
	if red := s.sub(1).LastRed(); !strings.Contains(red, "did not on the base: TestNew\n--- FAIL: TestOld\n") {
		t.Errorf("%q", red)
	}
}

// Flaky is what a second run of the same tree showed.
func TestFlakyFailureNeedsRerun(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1)
	s.work(1)
	g := s.judged(1, func(r *GateResult) { r.Checks[1].Flaky = []string{"TestNowAndThen"} })
	if g.Result.Passed {
		t.Fatal("a test is flaky because somebody says so")
	}
	g.Result.Passed = true
	s.mustRefuse(EInvalid, g)
	g = s.judged(1, func(r *GateResult) { r.Checks[1].Flaky, r.Checks[1].Attempts = []string{"TestNowAndThen"}, []int{1} })
	s.must(Company, g)
	s.checkSubStatus(1, SubtaskReviewing)
}

// A linter that the image does not have is absent: not passed, not failed,
// and nothing else may be.
func TestAbsentLinter(t *testing.T) {
	t.Parallel()
	absent := func(r *GateResult) { r.Checks[0].Passed, r.Checks[0].Absent = false, true }
	s := onBase(t, Settings{}, absent).plan(1)
	s.work(1)
	g := s.judged(1, absent)
	if !g.Result.Passed || g.Result.Checks[0].Excused != ComparedAbsent || g.Result.Checks[0].Passed {
		t.Fatalf("%+v", g.Result)
	}
	s.must(Company, g)
	s.checkSubStatus(1, SubtaskReviewing)

	s = newStory(t, Settings{}).plan(1)
	s.work(1)
	lie := s.judged(1, absent)
	if lie.Result.Passed {
		t.Fatal("absent on the branch, there on the base, and green")
	}
	lie.Result.Passed, lie.Result.Checks[0].Excused = true, ComparedAbsent
	s.mustRefuse(EInvalid, lie)
}

// A linter that the president asked for is not absent.
func TestGivenLinterIsNotAbsent(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t)}
	s.submit(Settings{Cap: Amount{MicroUSD: 1000, Tokens: NoCap}})
	p := s.preparation()
	p.Gates[0].Given = true
	s.must(Company, p)
	s.mustRefuse(
		EInvalid,
		RecordBaseline{Task: s.id,
			Result: s.base(func(r *GateResult) { r.Checks[0].Passed, r.Checks[0].Absent = false, true })})
}

// Where every gate is absent nothing looks at the work: that is no gates at
// all, and needs leave.
func TestAllAbsentIsUntested(t *testing.T) {
	t.Parallel()
	start := func(set Settings) *story {
		s := &story{bench: newBench(t)}
		set.Cap = Amount{MicroUSD: 1000, Tokens: NoCap}
		s.submit(set)
		p := s.preparation()
		p.Gates = p.Gates[:1]
		s.must(Company, p)
		r := s.base(func(r *GateResult) { r.Checks[0].Passed, r.Checks[0].Absent = false, true })
		s.must(Company, RecordBaseline{Task: s.id, Result: r})
		return s
	}
	s := start(Settings{NoGates: "ask"})
	if !s.task().Untested() || s.isDue(EffectManage) || s.ask(AskNoGates) == nil {
		t.Error("the president is not asked")
	}
	start(Settings{NoGates: "fail"}).checkStatus(StatusFailed)
	s = start(Settings{NoGates: "allow"}).plan(1)
	s.work(1)
	g := s.judged(1, func(r *GateResult) { r.Checks[0].Passed, r.Checks[0].Absent = false, true })
	if g.Result.Passed || !g.Result.Untested {
		t.Fatalf("%+v", g.Result)
	}
	green := g
	green.Result.Passed, green.Result.Untested = true, false
	s.mustRefuse(EInvalid, green)
	s.must(Company, g)
	s.checkSubStatus(1, SubtaskReviewing)
}

// A verdict of the cache is weighed again by the baseline of the task at hand.
func TestGateResultIsReused(t *testing.T) {
	t.Parallel()
	check := func(name string, change func(c *GateCheck)) GateCheck {
		c := GateCheck{Name: name, Passed: true}
		if change != nil {
			change(&c)
		}
		return c
	}
	red := func(names ...string) func(*GateCheck) { return func(c *GateCheck) { failCheck(c, names...) } }
	skipped := func(c *GateCheck) { c.Passed, c.Skipped = false, true }
	absent := func(c *GateCheck) { c.Passed, c.Absent = false, true }
	odd := func(code int) func(*GateCheck) {
		return func(c *GateCheck) { c.Passed, c.ExitCode = false, code }
	}
	of := func(lint, test func(*GateCheck)) GateResult {
		return GateResult{Checks: []GateCheck{check("lint", lint), check("test", test)}}
	}
	for _, c := range []struct {
		name       string
		was        GateResult
		before     *GateResult // its baseline then
		base       *GateResult
		ok, passed bool
	}{
		{"green for anybody", of(nil, nil), nil, new(of(nil, nil)), true, true},
		{"green as a baseline", of(nil, nil), new(of(nil, nil)), nil, true, true},
		{"red as a baseline", of(nil, red("a")), nil, nil, true, false},
		{"red, and known here", of(nil, red("a")), new(of(nil, nil)), new(of(nil, red("a"))), true, true},
		{"excused there, not here", of(nil, red("a")), new(of(nil, red("a"))), new(of(nil, nil)), false, false},
		{"skipped is not a baseline", of(red("x"), skipped), new(of(nil, nil)), nil, false, false},
		{"skipped, and nothing bars any more", of(red("x"), skipped), new(of(nil, nil)), new(of(red("x"), nil)),
			false, false},
		{"skipped as it would be here", of(red("x"), skipped), new(of(nil, nil)), new(of(nil, nil)), true, false},
		{"absent there, not here", of(absent, nil), new(of(absent, nil)), new(of(nil, nil)), false, false},
		{"absent in both", of(absent, nil), new(of(absent, nil)), new(of(absent, nil)), true, true},
		{"what could not start is not a baseline", of(nil, odd(126)), new(of(nil, nil)), nil, false, false},
		{"too long there", of(nil, odd(124)), new(of(nil, nil)), new(of(nil, nil)), false, false},
		{"killed there", of(odd(137), skipped), new(of(nil, nil)), new(of(nil, nil)), false, false},
		{"absent by its exit code", of(func(c *GateCheck) { c.Passed, c.Absent, c.ExitCode = false, true, 127 }, nil),
			new(of(absent, nil)), new(of(absent, nil)), true, true},
		{"absent here only", of(nil, nil), new(of(nil, nil)), new(of(absent, nil)), false, false},
	} {
		got, ok := c.was.Settle(c.before, nil).Reuse(c.base, nil)
		if ok != c.ok || ok && (got.Passed != c.passed || !got.Cached) {
			t.Errorf("%s: %v, %+v", c.name, ok, got)
		}
	}
}

// People and agents are told what was red before.
func TestBaselineFailureDoesNotBlock(t *testing.T) {
	t.Parallel()
	s := onBase(t, Settings{}, func(r *GateResult) {
		r.Checks[0].Passed, r.Checks[0].ExitCode, r.Checks[0].Output = false, 2, "line 3\n"
		failCheck(&r.Checks[1], "TestOld", "TestOlder")
	})
	got := strings.Join(s.task().KnownRed(), "\n")
	if !strings.Contains(got, "lint: red, exit 2, and its output names no test; it ends with:\nline 3\n") ||
		!strings.Contains(got, "test: TestOld, TestOlder") {
		t.Errorf("%s", got)
	}
	if known := newStory(t, Settings{}).task().KnownRed(); len(known) > 0 {
		t.Errorf("%v", known)
	}
}

// A check that did not come to an end, by its exit code, judged nothing: what it
// names is excused only where the base ended in the same way. Other exit codes
// may differ.
func TestCheckThatEndedOddly(t *testing.T) {
	t.Parallel()
	red := func(exit int) GateCheck {
		return GateCheck{Name: "test", ExitCode: exit, Counts: &TestCounts{Failed: 1}, Tests: []TestResult{{Name: "TestA"}}}
	}
	for _, c := range []struct {
		exit, base int
		want       BaselineComparison
	}{
		{1, 1, ComparedKnown}, {2, 1, ComparedKnown}, {EndedOddly - 1, 1, ComparedKnown},
		{EndedOddly, 1, ComparedFailed}, {EndedOddly, EndedOddly, ComparedKnown}, {137, EndedOddly, ComparedFailed},
	} {
		base := red(c.base)
		if got := red(c.exit).Against(&base); got != c.want {
			t.Errorf("exit %d, on the base %d: %v, want %v", c.exit, c.base, got, c.want)
		}
	}
}

// A base that ran nothing excuses nothing, and a check does not pass against its
// exit code.
func TestBaseThatDidNotRunExcusesNothing(t *testing.T) {
	t.Parallel()
	red := GateCheck{Name: "test", ExitCode: 1, Counts: &TestCounts{Failed: 1}, Tests: []TestResult{{Name: "TestA"}}}
	absent, skipped, passed := red, red, red
	absent.Absent, skipped.Skipped, passed.Passed = true, true, true
	for name, c := range map[string]struct {
		check GateCheck
		base  *GateCheck
		want  BaselineComparison
	}{
		"known": {red, &red, ComparedKnown}, "no base": {red, nil, ComparedFailed},
		"absent there":  {red, &absent, ComparedFailed},
		"skipped there": {red, &skipped, ComparedFailed}, "passed, with exit 1": {passed, &red, ComparedFailed},
		"skipped": {skipped, &red, ComparedSkipped}, "absent": {absent, &absent, ComparedAbsent},
		"absent here alone": {absent, &red, ComparedFailed},
	} {
		if got := c.check.Against(c.base); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
