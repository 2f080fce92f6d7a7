package gates

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem/catalog"
	"company/internal/ecosystem/testreport"
)

// maxMissingTests limits how many missing tests are named.
const maxMissingTests = 20

// maxReruns limits how often a red test is rerun on the same tree.
const maxReruns = 2

// runWithReruns runs a check and reruns it if it is red. Tests that then pass are flaky. A check that fails again in
// the same way is red.
func (r *Runner) runWithReruns(ctx context.Context, job Job, i int) (company.GateCheck, error) {
	gateCommand, base := job.Gates[i], job.baselineCheck(i)
	check, res, err := r.runCheck(ctx, job, i, 0)
	for n := 1; err == nil && n <= maxReruns && shouldRerun(gateCommand, check, base); n++ {
		var again company.GateCheck
		was := check
		if again, res, err = r.runCheck(ctx, job, i, n); err != nil {
			break
		}
		again.Attempts = append(slices.Clone(was.Attempts), was.ExitCode)
		again.Took += was.Took
		again.Flaky = flakyTests(was, again)
		if job.Baseline && !again.Passed {
			addEarlierFailures(&again, was)
		}
		if again.Passed {
			again.Output = fmt.Sprintf("[flaky: the run of the same tree before this one ended with exit code %d]\n",
				was.ExitCode) + again.Output
		}
		check = again
		if len(again.Flaky) == len(was.Flaky) && slices.Equal(testNames(was.Tests), testNames(again.Tests)) &&
			was.ExitCode == again.ExitCode {
			break // it fails reproducibly
		}
	}
	switch {
	case err != nil || res == nil:
	case check.Counts != nil:
		err = r.storeTestNames(ctx, job, i, &check, res.Passed)
	case check.Passed:
		// Green, but it no longer reports its tests. So none of the base's tests is known to have run.
		err = r.storeTestNames(ctx, job, i, &check, nil)
	}
	if job.Baseline && cannotJudge(gateCommand, check, err) {
		left := leaveOut(gateCommand, check)
		left.LeftOut = true
		if err != nil {
			left.Output += "\n" + err.Error()
		}
		return left, nil
	}
	if err == nil && job.Baseline && check.ExitCode == company.ExitKilled {
		return check, killedError(gateCommand)
	}
	if err == nil && job.Baseline && cannotStart(check) {
		if !gateCommand.Given && (!gateCommand.IsTest() || gateCommand.Provisional) {
			return leaveOut(gateCommand, check), nil
		}
		if check.ExitsUnstarted() || runnerCannotStart(check) {
			return check, &startError{cannotStartError(gateCommand, check), check}
		}
		// Other words in the output may be those of a test that failed, so the base is red.
	}
	return check, err
}

// cannotJudge reports whether a provisional check is unusable because it is red on the base or was killed for its
// memory.
func cannotJudge(gateCommand company.GateCommand, gateCheck company.GateCheck, err error) bool {
	if err != nil {
		return gateCommand.Provisional && company.CodeOf(err) == company.EGates && company.NeedsPerson(err)
	}
	return gateCommand.Provisional && !gateCheck.Passed && !cannotStart(gateCheck)
}

// leaveOut returns the result of a base check that cannot judge and is absent from then on.
func leaveOut(g company.GateCommand, gateCheck company.GateCheck) company.GateCheck {
	return company.GateCheck{Name: g.Name, Command: g.Command, Absent: true, ExitCode: gateCheck.ExitCode,
		Output: gateCheck.Output,
		Log:    gateCheck.Log, Took: gateCheck.Took}
}

// keepAbsent returns an absent check of the base for a verdict on a change, with the line that says why it cannot run
// here.
func keepAbsent(base company.GateCheck) company.GateCheck {
	out := company.GateCheck{Name: base.Name, Command: base.Command, Absent: true, LeftOut: base.LeftOut}
	if !base.LeftOut {
		out.ExitCode, out.Output = base.ExitCode, base.QuoteUnstartedLine()
	}
	return out
}

// shouldRerun reports whether a red check may be flaky. A linter, a build failure, a program that cannot start and a
// timeout are not.
func shouldRerun(g company.GateCommand, gateCheck company.GateCheck, base *company.GateCheck) bool {
	if !g.IsTest() || gateCheck.Against(base) != company.ComparedFailed || gateCheck.ExitCode == company.ExitTimeout ||
		cannotStart(gateCheck) {
		return false
	}
	return len(gateCheck.Tests) == 0 || slices.ContainsFunc(
		gateCheck.Tests, func(t company.TestResult) bool { return !catalog.IsBuildFailure(t.Name) })
}

// flakyTests returns the failures of a run that the next run of the same tree does not have.
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

// addEarlierFailures adds the failures of earlier runs to a red run of the base. A test that sometimes fails on the
// base counts as known to fail. In a check that stays red, no later run could show that it is flaky.
func addEarlierFailures(gateCheck *company.GateCheck, was company.GateCheck) {
	if gateCheck.Counts == nil || was.Counts == nil || gateCheck.Counts.Failed != len(gateCheck.Tests) ||
		was.Counts.Failed != len(was.Tests) {
		return // not all failures have names
	}
	now := testNames(gateCheck.Tests)
	for _, testResult := range was.Tests {
		if !slices.Contains(now, testResult.Name) && len(gateCheck.Tests) < testreport.MaxNamedFailures {
			gateCheck.Tests = append(gateCheck.Tests, testResult)
			gateCheck.Counts.Failed++
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

// storeTestNames stores which tests passed. It also finds tests that passed on the base and no longer run, within the
// part that was to run.
func (r *Runner) storeTestNames(
	ctx context.Context, job Job, i int, gateCheck *company.GateCheck, passed []string,
) error {
	base := job.baselineCheck(i)
	if r.Blobs == nil || len(passed) == 0 && base == nil {
		return nil
	}
	slices.Sort(passed)
	hash, err := r.Blobs.PutBlob(ctx, []byte(strings.Join(passed, "\n")))
	if err != nil {
		return err
	}
	gateCheck.Names = hash
	if base == nil || base.Names == "" || base.Names == hash || r.Blobs == nil ||
		gateCheck.Against(base) == company.ComparedFailed {
		return nil
	}
	old, err := r.Blobs.GetBlob(ctx, base.Names)
	if err != nil {
		return fmt.Errorf("read the tests of the base: %w", err)
	}
	now := make(map[string]bool, len(passed)+len(gateCheck.Tests))
	for _, n := range append(testNames(gateCheck.Tests), passed...) {
		now[n] = true
	}
	for n := range strings.SplitSeq(string(old), "\n") {
		if n != "" && !now[n] && len(gateCheck.Gone) <= maxMissingTests && job.wasToRun(n) {
			gateCheck.Gone = append(gateCheck.Gone, n)
		}
	}
	if len(gateCheck.Gone) > maxMissingTests {
		gateCheck.Gone[maxMissingTests] = "and more"
	}
	return nil
}
