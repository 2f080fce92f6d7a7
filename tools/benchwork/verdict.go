package main

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// mostRed limits the failed tests that are named.
const mostRed = 20

// verdict is the result of the hidden tests for a case.
type verdict struct {
	byExit  bool     // the exit code decides
	passed  bool     // the result by exit code
	missing []string // tests of must_pass that were not reported as passed
	broken  []string // tests that had to keep passing and did not
	turned  []string // tests of must_pass that were reported as passed
	staying int      // number of tests that had to keep passing
}

// holdAgainst compares a run of the hidden tests with the case. A test counts as passed if the report names it only
// among the passed tests.
func (c Case) holdAgainst(got judgement) verdict {
	if len(c.MustPass) == 0 {
		return verdict{byExit: true, passed: got.Check.Passed}
	}
	failed, passed := map[string]bool{}, map[string]bool{}
	for _, t := range got.Check.Tests {
		failed[t.Name] = true
	}
	for _, name := range got.Passed {
		passed[name] = true
	}
	hasPassed := func(name string) bool { return !failed[name] && passed[name] }
	v := verdict{staying: len(c.MustStay)}
	for _, name := range c.MustPass {
		if hasPassed(name) {
			v.turned = append(v.turned, name)
		} else {
			v.missing = append(v.missing, name)
		}
	}
	for _, name := range c.MustStay {
		if !hasPassed(name) {
			v.broken = append(v.broken, name)
		}
	}
	for _, name := range c.green {
		if slices.Contains(c.MustStay, name) {
			continue
		}
		v.staying++
		// The work may delete a test. With a solution it is known which tests must remain.
		if failed[name] || c.Solution != nil && !passed[name] {
			v.broken = append(v.broken, name)
		}
	}
	return v
}

// withGreen returns the case with the tests that pass on the base and, if there is one, with the solution. Work that
// breaks one of them is not done, whether or not the case names it.
func (c Case) withGreen(base judgement, solution *judgement) Case {
	c.green = nil
	for _, name := range base.Passed {
		failed := slices.ContainsFunc(base.Check.Tests, func(t company.TestResult) bool { return t.Name == name })
		if !failed && (solution == nil || slices.Contains(solution.Passed, name)) {
			c.green = append(c.green, name)
		}
	}
	return c
}

// isGreen reports whether all required tests passed.
func (v verdict) isGreen() bool {
	if v.byExit {
		return v.passed
	}
	return len(v.missing)+len(v.broken) == 0
}

// listRed lists the tests that had to pass and did not.
func (v verdict) listRed() []string {
	red := append(slices.Clone(v.missing), v.broken...)
	if len(red) > mostRed {
		red = append(red[:mostRed:mostRed], fmt.Sprintf("and %d more", len(red)-mostRed))
	}
	if red == nil {
		return []string{}
	}
	return red
}

// describeRed describes in one line why a verdict is not green.
func (v verdict) describeRed(got judgement) string {
	gateCheck := got.Check
	switch {
	case v.byExit:
		return fmt.Sprintf("exit code %d: %s", gateCheck.ExitCode, lastLine(gateCheck.Output))
	case gateCheck.Counts == nil:
		return fmt.Sprintf("exit code %d, and no test was reported: %s", gateCheck.ExitCode, lastLine(gateCheck.Output))
	case len(v.missing) > 0:
		return fmt.Sprintf("%s of %d did not pass", company.Count(len(v.missing), "test"), len(v.missing)+len(v.turned))
	}
	return fmt.Sprintf("%s of %d that passed before did not pass", company.Count(len(v.broken), "test"), v.staying)
}

// lastLine returns the last line of a program's output.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return safetext.EscapeLine(s[strings.LastIndexByte(s, '\n')+1:], 200)
}

// checkBase returns an EInvalid error for a case that proves too little. hidden is the run of its hidden tests on the
// base. before is a run in which the tests of must_stay may pass: the same one, or one on the base without the hidden
// tests.
func (c Case) checkBase(hidden, before judgement) error {
	verdict := c.holdAgainst(hidden)
	const fix = "a case proves something where its hidden tests fail without the work"
	switch {
	case verdict.byExit && verdict.passed:
		return faultOf(c.Dir, HiddenFile, "the case proves nothing").Because("its hidden tests pass on the base").Fix(fix)
	case len(verdict.turned) > 0:
		return faultOf(c.Dir, CaseFile, "the case proves nothing").
			Because("on the base these pass already: " + joinNames(verdict.turned)).
			Fix(fix + "; name in must_stay what passes before and after")
	}
	at := c.holdAgainst(before)
	broken := slices.DeleteFunc(verdict.broken, func(name string) bool { return !slices.Contains(at.broken, name) })
	if len(broken) > 0 {
		return faultOf(c.Dir, CaseFile, "a test of must_stay does not pass on the base").
			Because(joinNames(broken) + explainNames(before)).Fix("name in must_stay what passes before and after")
	}
	return nil
}

// checkSolution returns an EInvalid error unless the hidden tests pass with the solution.
func (c Case) checkSolution(got judgement) error {
	verdict := c.holdAgainst(got)
	if verdict.isGreen() {
		return nil
	}
	reason := verdict.describeRed(got)
	if red := verdict.listRed(); len(red) > 0 {
		reason += ": " + joinNames(red)
	}
	return faultOf(c.Dir, SolutionFile, "the hidden tests do not pass with the solution").
		Because(reason + explainNames(got)).
		Fix("correct the solution, the tests, or the names in must_pass")
}

// explainNames describes which test names the report contains.
func explainNames(got judgement) string {
	if len(got.Passed) == 0 {
		return "; the report names no test that passed: " + lastLine(got.Check.Output)
	}
	return "; these passed: " + joinNames(got.Passed)
}

// joinNames joins the first names of tests.
func joinNames(names []string) string {
	const most = 10
	more := ""
	if len(names) > most {
		names, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	return safetext.EscapeLine(strings.Join(names, ", "), 600) + more
}
