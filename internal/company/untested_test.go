package company

import "testing"

// Untested is a state that is read off verdicts: no check, no test among the
// checks, or tests' commands that ran no test. What is not understood is not
// called untested.
func TestExplainUntested(t *testing.T) {
	lint, none := GateCheck{Name: "lint (web)", Passed: true}, &TestCounts{}
	for name, c := range map[string]struct {
		checks []GateCheck
		want   string
	}{
		"nothing":                       {nil, UntestedNoChecks},
		"a linter that is absent":       {[]GateCheck{{Name: "lint", Absent: true}}, UntestedNoChecks},
		"a linter":                      {[]GateCheck{lint}, UntestedLintOnly},
		"a linter that counts findings": {[]GateCheck{{Name: "lint", Counts: &TestCounts{Failed: 2}}}, UntestedLintOnly},
		"a test": {[]GateCheck{lint, {Name: "test", Passed: true, Counts: &TestCounts{Passed: 1}}},
			""},
		"a red test":                     {[]GateCheck{{Name: "test", Counts: &TestCounts{Failed: 1}}}, ""},
		"an output of nobody knows whom": {[]GateCheck{{Name: "test", Passed: true}}, ""},
		"no tests":                       {[]GateCheck{lint, {Name: "test", Passed: true, Counts: none}}, UntestedNoTests},
		"skipped tests": {[]GateCheck{{Name: "test", Passed: true, Counts: &TestCounts{Skipped: 9}}},
			UntestedNoTests},
		"no tests in one of two parts": {[]GateCheck{{Name: "test (a)", Passed: true, Counts: none},
			{Name: "test (b)", Counts: &TestCounts{Passed: 3}}}, ""},
		"no tests in both parts": {[]GateCheck{{Name: "test (a)", Passed: true, Counts: none},
			{Name: "test (b)", Counts: none}}, UntestedNoTests},
		"tests that were not run yet": {[]GateCheck{lint, {Name: "test", Skipped: true}}, ""},
	} {
		if got := (GateResult{Checks: c.checks}).ExplainUntested(); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}

// The newest that is known counts: the verdict on the head, else the baseline, else
// what was pinned.
func TestUntestedIsOfTheNewestVerdict(t *testing.T) {
	tested := GateResult{Checks: []GateCheck{{Name: "test", Passed: true, Counts: &TestCounts{Passed: 1}}}}
	empty := GateResult{Checks: []GateCheck{{Name: "test", Passed: true, Counts: &TestCounts{}}}}
	task := &Task{Head: "b"}
	steps := []struct {
		name   string
		change func()
		want   string
	}{
		{"not prepared", func() {}, ""},
		{"without gates", func() { task.Prepared = &TaskPrepared{} }, UntestedNoChecks},
		{"with a test gate", func() { task.Prepared.Gates = []GateCommand{{Name: "lint"}, {Name: "test"}} }, ""},
		{"without tests on the base", func() { task.Baseline = &empty }, UntestedNoTests},
		{"with a verdict on another head", func() { task.Gate = &GateFinished{Head: "a", Result: tested} }, UntestedNoTests},
		{"with the first test of the repository", func() { task.Gate = &GateFinished{Head: "b", Result: tested} }, ""},
		{"with a verdict of a linter alone", func() {
			task.Gate = &GateFinished{Head: "b", Result: GateResult{Checks: []GateCheck{{Name: "lint", Passed: true}}}}
		}, UntestedLintOnly},
	}
	for _, s := range steps {
		s.change()
		if got := task.ExplainUntested(); got != s.want {
			t.Errorf("%s: %q, not %q", s.name, got, s.want)
		}
	}
}
