package history_test

import (
	"testing"

	. "company/internal/company"
)

// A task is prepared once, and never for main.
func TestPreparation(t *testing.T) {
	t.Parallel()
	cases := []broken{{"once", prepared, func(s *story) { s.task(the[TaskPrepared](s, 0)) }, "t1 is prepared twice"}}
	for _, branch := range []string{"main", "master", "Main", "refs/heads/main", ""} {
		cases = append(cases, broken{"not for " + branch, prepared, func(s *story) { the[TaskPrepared](s, 0).Integration = branch }, "work would be merged to " + branch})
	}
	checkBroken(t, cases)
}

// The baseline is of each pinned gate, and comes once, before the plan.
func TestBaseline(t *testing.T) {
	t.Parallel()
	none, nothing := "a baseline of t1 that is none", "proves nothing about "
	check := func(i int, change func(*GateCheck)) func(s *story) {
		return func(s *story) { change(&the[BaselineRecorded](s, 0).Result.Checks[i]) }
	}
	withRed := with(prepared, check(1, func(c *GateCheck) { *c = red("test", "A") }))
	withoutLint := with(prepared, check(0, func(c *GateCheck) { *c = absentLint() }))
	checkBroken(t, []broken{
		{"after the preparation", prepared, func(s *story) { drop[TaskPrepared](s, 0) }, none},
		{"once", prepared, func(s *story) { s.task(the[BaselineRecorded](s, 0)) }, none},
		{"before the plan", with(prepared, func(s *story) { drop[BaselineRecorded](s, 0); noGates(s); s.plan(oneWave("a")) }),
			func(s *story) { s.task(&BaselineRecorded{Result: GateResult{GateHash: "gates"}}) }, none},
		{"of the pinned gates", prepared, func(s *story) { the[BaselineRecorded](s, 0).Result.GateHash = "others" }, none},
		{"of no gate less", prepared, func(s *story) { r := &the[BaselineRecorded](s, 0).Result; r.Checks = r.Checks[:1] }, none},
		{"of no gate more", prepared, func(s *story) { r := &the[BaselineRecorded](s, 0).Result; r.Checks = append(r.Checks, green("more")) }, none},
		{"by name", prepared, check(1, func(c *GateCheck) { c.Name = "tests" }), nothing + "tests"},
		{"by command", prepared, check(1, func(c *GateCheck) { c.Command = "true" }), nothing + "test"},
		{"each was run", withRed, check(1, func(c *GateCheck) { c.Skipped = true }), nothing + "test"},
		{"passed with exit 0 alone", withRed, check(1, func(c *GateCheck) { c.Passed = true }), nothing + "test"},
		{"absent is not passed", withoutLint, check(0, func(c *GateCheck) { c.Passed = true }), nothing + "lint"},
		{"a given linter is there", withoutLint, func(s *story) { the[TaskPrepared](s, 0).Gates[0].Given = true }, nothing + "lint"},
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
	allAbsent := func(s *story) {
		the[TaskSubmitted](s, 0).Settings.NoGates = "allow"
		p, b := the[TaskPrepared](s, 0), the[BaselineRecorded](s, 0)
		p.Gates, b.Result.Checks = p.Gates[:1], []GateCheck{absentLint()}
	}
	no := func(s *story) { the[TaskSubmitted](s, 0).Settings.NoGates = "ask" }
	checkBroken(t, []broken{
		{"after the preparation", planned, func(s *story) {
			drop[BaselineRecorded](s, 0)
			the[TaskSubmitted](s, 0).Settings.NoGates = "allow"
			moveBefore[PlanAccepted, TaskPrepared](s)
		}, want},
		{"after the baseline", planned, func(s *story) { drop[BaselineRecorded](s, 0) }, want},
		{"after the baseline of one gate", planned, func(s *story) { drop[BaselineRecorded](s, 0); p := the[TaskPrepared](s, 0); p.Gates = p.Gates[:1] }, want},
		{"after the baseline in spite of leave", with(planned, settings(func(s *Settings) { s.NoGates = "allow" })), func(s *story) { drop[BaselineRecorded](s, 0) }, want},
		{"no gates are allowed", with(planned, ungated), no, want},
		{"no gates are asked about", with(planned, leave), func(s *story) { the[ApprovalAnswered](s, 0).Option = OptReject }, want},
		{"absent gates are none", with(planned, allAbsent), no, want},
	})
	requireKept(t, map[string]func() *story{
		"one gate of two is absent": with(planned, func(s *story) { the[BaselineRecorded](s, 0).Result.Checks[0] = absentLint() }),
	})
}

// moveBefore puts the first event of a kind before the first one of another.
func moveBefore[A, B any](s *story) {
	l := *lineOf[A](s, 0)
	drop[A](s, 0)
	insert[B](s, 0, &story{[]line{l}})
}

// Two tickets of a wave write no file in common, but for what is made anew.
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
		{"apart but for generated files", with(apart, sets("a/go.sum", "a/**")), sets("a/go.mod", "a/**"), "two write sets meet"},
		{"apart but for generated files before", with(apart, sets("a/**", "a/go.sum")), sets("a/**", "a/go.mod"), "two write sets meet"},
		{"readable", apart, sets("a/**", "b/["), "a write set that cannot be read"},
		{"readable before", apart, sets("b/[", "a/**"), "a write set that cannot be read"},
		{"in the second wave", second, func(s *story) { the[PlanAccepted](s, 0).Plan.Waves[1] = oneWave("a", "b", "b") }, "wave 2: two write sets meet"},
	})
}
