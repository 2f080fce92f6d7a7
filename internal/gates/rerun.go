package gates

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem/catalog"
	"company/internal/testreport"
)

// maxMissingTests is how many tests are named that are no longer reported.
const maxMissingTests = 20

// maxReruns is how often a red test is run again on the same tree.
const maxReruns = 2

// runWithReruns runs a check, and again when it is red: what then passes is
// flaky, and what fails again in the same way is red.
func (r *Runner) runWithReruns(ctx context.Context, j Job, i int) (company.GateCheck, error) {
	g, base := j.Gates[i], j.baselineCheck(i)
	check, res, err := r.runCheck(ctx, j, i, 0)
	for n := 1; err == nil && n <= maxReruns && shouldRerun(g, check, base); n++ {
		var again company.GateCheck
		was := check
		if again, res, err = r.runCheck(ctx, j, i, n); err != nil {
			break
		}
		again.Attempts = append(slices.Clone(was.Attempts), was.ExitCode)
		again.Took += was.Took
		again.Flaky = flakyTests(was, again)
		if j.Baseline && !again.Passed {
			addEarlierFailures(&again, was)
		}
		if again.Passed {
			again.Output = fmt.Sprintf("[flaky: the run of the same tree before this one ended with exit code %d]\n", was.ExitCode) + again.Output
		}
		check = again
		if len(again.Flaky) == len(was.Flaky) && slices.Equal(testNames(was.Tests), testNames(again.Tests)) && was.ExitCode == again.ExitCode {
			break // it is no accident
		}
	}
	switch {
	case err != nil || res == nil:
	case check.Counts != nil:
		err = r.storeTestNames(ctx, j, i, &check, res.Passed)
	case check.Passed:
		// Green, and it does not say any more which tests it ran: then none of
		// the base's is known to have been run.
		err = r.storeTestNames(ctx, j, i, &check, nil)
	}
	if j.Baseline && cannotJudge(g, check, err) {
		left := leaveOut(g, check)
		left.LeftOut = true
		if err != nil {
			left.Output += "\n" + err.Error()
		}
		return left, nil
	}
	if err == nil && j.Baseline && check.ExitCode == exitKilled {
		return check, killedError(g)
	}
	if err == nil && j.Baseline && cannotStart(check) {
		if g.IsTest() && !g.Provisional || g.Given {
			return check, cannotStartError(g, check)
		}
		return leaveOut(g, check), nil
	}
	return check, err
}

// cannotJudge says whether a provisional check is no use: on the base it is red, or was killed for its
// memory.
func cannotJudge(g company.GateCommand, c company.GateCheck, err error) bool {
	if err != nil {
		return g.Provisional && company.CodeOf(err) == company.EGates && company.NeedsPerson(err)
	}
	return g.Provisional && !c.Passed && !cannotStart(c)
}

// leaveOut is a check of the base that cannot judge, and is absent from then on.
func leaveOut(g company.GateCommand, c company.GateCheck) company.GateCheck {
	return company.GateCheck{Name: g.Name, Command: g.Command, Absent: true, ExitCode: c.ExitCode, Output: c.Output, Log: c.Log, Took: c.Took}
}

// shouldRerun says whether a red check may be an accident. A linter, a program that
// does not build, one that cannot start or one that does not end is none.
func shouldRerun(g company.GateCommand, c company.GateCheck, base *company.GateCheck) bool {
	if !g.IsTest() || c.Against(base) != company.ComparedFailed || c.ExitCode == exitTimeout || cannotStart(c) {
		return false
	}
	return len(c.Tests) == 0 || slices.ContainsFunc(c.Tests, func(t company.TestResult) bool { return !catalog.IsBuildFailure(t.Name) })
}

// flakyTests are the failures of a run that the next one of the same tree has not.
func flakyTests(was, now company.GateCheck) []string {
	out := was.Flaky
	failed := testNames(now.Tests)
	for _, n := range testNames(was.Tests) {
		if len(out) < testreport.MaxNamedFailures && !slices.Contains(failed, n) && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	if was.Counts == nil && now.ExitCode == 0 {
		out = append(out, now.Name)
	}
	return out
}

// addEarlierFailures adds to a red run of the base what failed in the ones before it. A
// test that the base fails now and then is known to fail there: in a check
// that stays red no later run could show that it is flaky.
func addEarlierFailures(c *company.GateCheck, was company.GateCheck) {
	if c.Counts == nil || was.Counts == nil || c.Counts.Failed != len(c.Tests) || was.Counts.Failed != len(was.Tests) {
		return // not all have names
	}
	now := testNames(c.Tests)
	for _, f := range was.Tests {
		if !slices.Contains(now, f.Name) && len(c.Tests) < testreport.MaxNamedFailures {
			c.Tests = append(c.Tests, f)
			c.Counts.Failed++
		}
	}
}

func testNames(tests []company.TestResult) []string {
	out := make([]string, 0, len(tests))
	for _, t := range tests {
		out = append(out, t.Name)
	}
	slices.Sort(out)
	return out
}

// storeTestNames stores which tests passed, and finds those that passed on the base
// and are not run any more, of the part that was to be run.
func (r *Runner) storeTestNames(ctx context.Context, j Job, i int, c *company.GateCheck, passed []string) error {
	base := j.baselineCheck(i)
	if r.Blobs == nil || len(passed) == 0 && base == nil {
		return nil
	}
	slices.Sort(passed)
	h, err := r.Blobs.PutBlob(ctx, []byte(strings.Join(passed, "\n")))
	if err != nil {
		return err
	}
	c.Names = h
	if base == nil || base.Names == "" || base.Names == h || r.Blobs == nil || c.Against(base) == company.ComparedFailed {
		return nil
	}
	old, err := r.Blobs.GetBlob(ctx, base.Names)
	if err != nil {
		return fmt.Errorf("read the tests of the base: %w", err)
	}
	now := make(map[string]bool, len(passed)+len(c.Tests))
	for _, n := range append(testNames(c.Tests), passed...) {
		now[n] = true
	}
	for n := range strings.SplitSeq(string(old), "\n") {
		if n != "" && !now[n] && len(c.Gone) <= maxMissingTests && j.wasToRun(n) {
			c.Gone = append(c.Gone, n)
		}
	}
	if len(c.Gone) > maxMissingTests {
		c.Gone[maxMissingTests] = "and more"
	}
	return nil
}
