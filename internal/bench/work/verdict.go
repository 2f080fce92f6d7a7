package work

import (
	"fmt"
	"slices"
	"strings"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/safetext"
)

// mostRed bounds the red tests that are named.
const mostRed = 20

// verdict is what a run of the hidden tests says of a case.
type verdict struct {
	byExit  bool     // the exit code decides
	passed  bool     // by it
	missing []string // of must_pass, not reported as passed
	broken  []string // that were to stay green, and did not
	turned  []string // of must_pass, reported as passed
	staying int      // tests that were to stay green
}

// holdAgainst holds a run of the hidden tests against the case. A test counts as passed
// where the report names it among those that passed, and among no others.
func (c Case) holdAgainst(got officeapp.Judgement) verdict {
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
		// The work may take a test away: a solution tells, where there is one.
		if failed[name] || c.Solution != nil && !passed[name] {
			v.broken = append(v.broken, name)
		}
	}
	return v
}

// withGreen is the case with the tests that are green on the base and, where there is a solution, with that too: what
// breaks one of them is no work done, whether the case names it or not.
func (c Case) withGreen(base officeapp.Judgement, solution *officeapp.Judgement) Case {
	c.green = nil
	for _, name := range base.Passed {
		failed := slices.ContainsFunc(base.Check.Tests, func(t company.TestResult) bool { return t.Name == name })
		if !failed && (solution == nil || slices.Contains(solution.Passed, name)) {
			c.green = append(c.green, name)
		}
	}
	return c
}

// isGreen tells whether all is as it must be with a solution.
func (v verdict) isGreen() bool {
	if v.byExit {
		return v.passed
	}
	return len(v.missing)+len(v.broken) == 0
}

// listRed names the tests that had to pass and did not.
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

// describeRed names in a line the reason of a verdict that is not green.
func (v verdict) describeRed(got officeapp.Judgement) string {
	c := got.Check
	switch {
	case v.byExit:
		return fmt.Sprintf("exit code %d: %s", c.ExitCode, lastLine(c.Output))
	case c.Counts == nil:
		return fmt.Sprintf("exit code %d, and no test was reported: %s", c.ExitCode, lastLine(c.Output))
	case len(v.missing) > 0:
		return fmt.Sprintf("%s of %d did not pass", company.Count(len(v.missing), "test"), len(v.missing)+len(v.turned))
	}
	return fmt.Sprintf("%s of %d that passed before did not pass", company.Count(len(v.broken), "test"), v.staying)
}

// lastLine is the last line that a program printed.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return safetext.EscapeLine(s[strings.LastIndexByte(s, '\n')+1:], 200)
}

// checkBase finds what keeps a case from proving anything: an EInvalid error. hidden is
// the run of its hidden tests on the base; before is one in which the tests of must_stay
// may pass, the same or one on the base without the hidden tests.
func (c Case) checkBase(hidden, before officeapp.Judgement) error {
	v := c.holdAgainst(hidden)
	const fix = "a case proves something where its hidden tests fail without the work"
	switch {
	case v.byExit && v.passed:
		return faultOf(c.Dir, HiddenFile, "the case proves nothing").Because("its hidden tests pass on the base").Fix(fix)
	case len(v.turned) > 0:
		return faultOf(c.Dir, CaseFile, "the case proves nothing").Because("on the base these pass already: " + joinNames(v.turned)).Fix(fix + "; name in must_stay what passes before and after")
	}
	at := c.holdAgainst(before)
	broken := slices.DeleteFunc(v.broken, func(name string) bool { return !slices.Contains(at.broken, name) })
	if len(broken) > 0 {
		return faultOf(c.Dir, CaseFile, "a test of must_stay does not pass on the base").Because(joinNames(broken) + explainNames(before)).Fix("name in must_stay what passes before and after")
	}
	return nil
}

// checkSolution finds out whether the hidden tests pass with the solution: an EInvalid
// error where they do not.
func (c Case) checkSolution(got officeapp.Judgement) error {
	v := c.holdAgainst(got)
	if v.isGreen() {
		return nil
	}
	why := v.describeRed(got)
	if red := v.listRed(); len(red) > 0 {
		why += ": " + joinNames(red)
	}
	return faultOf(c.Dir, SolutionFile, "the hidden tests do not pass with the solution").Because(why + explainNames(got)).Fix("correct the solution, the tests, or the names in must_pass")
}

// explainNames says which names the report has.
func explainNames(got officeapp.Judgement) string {
	if len(got.Passed) == 0 {
		return "; the report names no test that passed: " + lastLine(got.Check.Output)
	}
	return "; these passed: " + joinNames(got.Passed)
}

// joinNames names some tests.
func joinNames(names []string) string {
	const most = 10
	more := ""
	if len(names) > most {
		names, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	return safetext.EscapeLine(strings.Join(names, ", "), 600) + more
}
