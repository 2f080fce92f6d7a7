package company

import (
	"slices"
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

// A check that cannot run here is named once, and is neither red nor unverified, wherever it was found; of those alone
// nothing is left that checks the work.
func TestListCannotRun(t *testing.T) {
	cannot := GateCheck{Name: "test (386)", Command: "GOARCH=386 go test ./...", Absent: true, ExitCode: 1,
		Output: "signal: bad system call\nFAIL\texample.org/x\t0.003s\n"}
	task := &Task{Prepared: &TaskPrepared{Gates: []GateCommand{
		{Name: "test (386)", Command: "GOARCH=386 go test ./...", Provisional: true, From: "ci.yml:4"},
		{Name: "lint", Command: "no-such-linter ."}, {Name: "test", Command: "go test ./..."}}},
		Baseline: &GateResult{Checks: []GateCheck{cannot,
			{Name: "lint", Absent: true, ExitCode: 127, Output: "sh: 1: no-such-linter: not found\n"}, {Name: "test", Passed: true}}}}
	want := "GOARCH=386 go test ./... (ci.yml:4) is not run here: the sandbox ends a program that makes system calls of " +
		"another kind, as one for another processor does\n" +
		"no-such-linter . (lint) is not run here: the image has no such program, or it is not executable: sh: 1: " +
		"no-such-linter: not found"
	if got := strings.Join(task.ListUnrun(), "\n"); got != want {
		t.Errorf("%s", got)
	}
	if got := slices.Concat(task.ExplainUnverified(), task.KnownRed()); len(got) > 0 {
		t.Errorf("red or unverified: %q", got)
	}
	task.Prepared.Gates, task.Baseline.Checks = task.Prepared.Gates[:2], task.Baseline.Checks[:2]
	base := task.Baseline.Settle(nil, nil)
	if task.Baseline = &base; !base.Untested || !task.Untested() || task.ExplainUntested() != UntestedNoChecks {
		t.Errorf("%+v", base)
	}
}

// Whether a red check could run is told by its exit code, and by its output as long as no test of it has run.
func TestCannotRun(t *testing.T) {
	red := func(code int, output string) GateCheck { return GateCheck{ExitCode: code, Output: output} }
	some := red(1, "--- FAIL: TestExec\nsignal: bad system call\n")
	some.Counts, some.Tests = &TestCounts{Passed: 3, Failed: 1}, []TestResult{{Name: "TestExec"}}
	none := red(1, "signal: bad system call\n")
	none.Counts, none.Tests = &TestCounts{Failed: 1}, []TestResult{{Name: "x (not ended)", Unrun: true}}
	for name, c := range map[string]struct {
		check GateCheck
		want  bool
	}{
		"a shell's":             {red(127, "sh: 1: x: not found\n"), true},
		"the kernel's":          {red(159, ""), true},
		"of a child":            {red(1, "Bad system call (core dumped)\n"), true},
		"of each test binary":   {none, true},
		"of one of four tests":  {some, false},
		"behind tests that ran": {red(1, "ok  \ta\t0.1s\nsignal: bad system call\nFAIL\tb\n"), false},
		"another processor":     {red(1, "fork/exec /tmp/x.test: exec format error\nFAIL\tx\t0.001s\n"), true},
		"a library's":           {red(1, `exec: "protoc": executable file not found in $PATH`+"\n"), true},
		"of a page":             {red(1, "GET /x: not found\n"), false},
		"long before the end":   {red(1, "sh: 1: x: not found\n1\n2\n3\n4\n5\n"), false},
		"green":                 {GateCheck{Passed: true, Output: "bad system call"}, false},
		"of a plain suite":      {red(1, "PASS one\nFAIL two\ntwo.sh: line 3: jq: command not found\n"), false},
		"of a script's tests":   {red(1, "not ok 1 - a\nFAIL: b\nc.sh: line 3: jq: command not found\n"), false},
		"of a failed test":      {red(1, "--- FAIL: TestA (0.00s)\n    sh: 1: jq: not found\nsh: 1: jq: not found\n"), false},
		"in code":               {red(1, "./a.go:3:10: undefined: syscall.SIGSYS\nFAIL\tx [build failed]\n"), false},
		"in a finding":          {red(1, "a.go:3: unix.SIGSYS (bad system call) is not handled\n"), false},
		"in a message":          {red(1, "two.sh: expects message 'Exec format error', not ''\n"), false},
		"words long ago":        {red(1, "signal: bad system call\n"+strings.Repeat("1\n", 30)), false},
		"after its time":        {red(124, "sh: 1: jq: not found\n\n[the check was ended after 10m0s]"), false},
		"killed":                {red(137, "sh: 1: jq: not found\n"), false},
		"of bash":               {red(1, "a.sh: line 2:     7 Bad system call         (core dumped) ./x\n"), true},
		"of make":               {red(2, "make: *** [Makefile:2: test] Bad system call (core dumped)\n"), true},
		"of cargo":              {red(101, "  process didn't exit successfully: `x` (signal: 31, SIGSYS: bad system call)\n"), true},
		"of Go's runtime":       {red(2, "SIGSYS: bad system call\nPC=0x45 m=0 sigcode=1\n"), true},
		"of a script":           {red(1, "/bin/sh: 1: /tmp/x: Exec format error\n"), true},
	} {
		if got := c.check.CannotRun(); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
