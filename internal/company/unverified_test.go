package company

import (
	"strings"
	"testing"
)

// Agents read of a few checks, and of those of the CI before others.
func TestListUnrun(t *testing.T) {
	task := &Task{Prepared: &TaskPrepared{}}
	for i := range 10 {
		task.Prepared.Unrun = append(task.Prepared.Unrun,
			UnrunCheck{Command: "make " + itoa(i), At: "Makefile:1", Why: "x", OfCI: i == 9})
	}
	got := task.ListUnrun()
	if len(got) != 9 || !strings.HasPrefix(got[0], "make 9 ") || got[8] != "and 2 more" {
		t.Errorf("%q", got)
	}
}

// What a maintainer would look at and no check did is told, each with its reason; a check that is
// green on the work has looked, whatever it says of the base.
func TestExplainUnverified(t *testing.T) {
	red := func(passed, failed int, names ...string) GateCheck {
		c := GateCheck{ExitCode: 1, Counts: &TestCounts{Passed: passed, Failed: failed}}
		for _, n := range names {
			c.Tests = append(c.Tests, TestResult{Name: n})
		}
		return c
	}
	many := make([]string, 194)
	for i := range many {
		many[i] = "T" + itoa(i)
	}
	test, ofCI := GateCommand{Name: "test", Command: "go test ./..."},
		GateCommand{Name: "test (npm run test:e2e)", Command: "npm run test:e2e", Provisional: true, From: "ci.yml:20"}
	for name, c := range map[string]struct {
		gate   GateCommand
		base   GateCheck
		now    *GateCheck
		unrun  []UnrunCheck
		expect string
	}{
		"green": {gate: test, base: GateCheck{Passed: true}},
		"most of the base is red": {gate: test, base: red(94, 194, many...),
			expect: "194 of 288 red on the base by test"},
		"one of the base is red": {gate: test, base: red(94, 1, "T")},
		"red and green again":    {gate: test, base: red(0, 1, "T"), now: &GateCheck{Passed: true}},
		"red without names": {gate: test, base: GateCheck{ExitCode: 2},
			expect: "test is red on the base too, and new failures in it cannot be recognised"},
		"a linter that is red": {gate: GateCommand{Name: "lint"}, base: GateCheck{ExitCode: 2}},
		"let pass": {gate: GateCommand{Name: "lint"}, base: GateCheck{ExitCode: 2},
			now: &GateCheck{ExitCode: 2, Excused: ComparedAsBefore}, expect: "the president accepted that"},
		"a check of the CI is left out": {gate: ofCI, base: GateCheck{Absent: true, LeftOut: true},
			expect: "npm run test:e2e (ci.yml:20) was left out: red on the base, so it does not judge changes"},
		"a check of nobody is left out": {gate: GateCommand{Name: "types", Provisional: true},
			base: GateCheck{Absent: true, LeftOut: true}},
		"a check of the CI that is none": {gate: test, base: GateCheck{Passed: true},
			unrun:  []UnrunCheck{{Command: "make e2e", At: "ci.yml:3", Why: "it wants to be root", OfCI: true}},
			expect: "make e2e (ci.yml:3) is not run here: it wants to be root"},
		"a check of a text": {gate: test, base: GateCheck{Passed: true},
			unrun: []UnrunCheck{{Command: "make bench-test", At: "README.md:3", Why: "x"}}},
	} {
		task := &Task{Head: "h",
			Prepared: &TaskPrepared{Gates: []GateCommand{c.gate}, BesideChecks: BesideChecks{Unrun: c.unrun}},
			Baseline: &GateResult{Checks: []GateCheck{c.base}}}
		if c.now != nil {
			task.Gate = &GateFinished{Head: "h", Result: GateResult{Checks: []GateCheck{*c.now}}}
		}
		got := strings.Join(task.ExplainUnverified(), "\n")
		if c.expect == "" && got != "" || !strings.Contains(got, c.expect) {
			t.Errorf("%s: %q, want %q", name, got, c.expect)
		}
	}
}
