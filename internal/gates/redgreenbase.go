package gates

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/ecosystem/testreport"
)

// maxRestRuns limits how often the tests are rerun that a dying test prevented.
const maxRestRuns = 3

// candidates are the tests of one gate that may demonstrate a change.
type candidates struct {
	show   map[string]bool        // by name: whether each is new
	now    company.GateCheck      // the check with the change
	narrow ecosystem.FolderTester // if set, only some packages are run and the others stay unknown
	tests  overlaidTests
}

// baseRun is the result of running tests without the change.
type baseRun struct {
	passes, fails map[string]bool
	// unsure holds tests that failed together when their run died. It is unknown which of them ended it.
	unsure map[string]bool
	// unbuilt tests do not compile or load. died tests ended before their tests were done. Both hold names from the
	// report.
	unbuilt, died []string
	output        string // the whole, if there are unbuilt tests
}

// runOnBase runs one test gate without the change and adds its findings to out. Only a test that failed by itself
// demonstrates the change. A package whose run dies counts as a whole. So does one that does not compile, unless some
// of its test files do without the others.
func (r *Runner) runOnBase(ctx context.Context, job Job, i int, c candidates, out *company.RedGreen) error {
	seen, reason, err := r.runTests(ctx, job, i, 0)
	if err != nil || reason != "" {
		out.Reason = reason
		return err
	}
	fewer, without, control, err := r.runFewer(ctx, job, i, c, seen, time.Now().Add(r.Timeout))
	if err != nil {
		return err
	}
	if len(fewer) > 0 {
		seen, job.Files = without, c.tests.listFiles(listDropped(fewer))
	}
	if c.narrow != nil {
		ran := map[string]bool{}
		for _, names := range [][]string{slices.Collect(maps.Keys(seen.passes)), slices.Collect(maps.Keys(seen.fails)),
			slices.Collect(maps.Keys(seen.unsure)), seen.unbuilt, seen.died} {
			for _, n := range names {
				ran[c.narrow.PackageOf(n)] = true
			}
		}
		maps.DeleteFunc(c.show, func(n string, _ bool) bool { return !ran[c.narrow.PackageOf(n)] })
	}
	// A test that fails there by chance shows no effect of the change either.
	if len(seen.died) > 0 || slices.ContainsFunc(
		slices.Collect(maps.Keys(c.show)), func(n string) bool { return seen.fails[n] }) {
		again, why, err := r.runTests(ctx, job, i, 1)
		if err != nil || why != "" {
			out.Reason = why
			return err
		}
		maps.DeleteFunc(c.show, func(n string, _ bool) bool { return seen.fails[n] && again.passes[n] })
		seen.died = slices.DeleteFunc(seen.died, func(n string) bool { return !slices.Contains(again.died, n) })
		seen.add(again)
	}
	if err := r.runRest(ctx, job, i, c, &seen); err != nil {
		return err
	}
	keepApart(job.Gates[i], fewer, control, &seen, out)
	countShown(c.show, seen, out)
	known := testNames(c.now.Tests) // these fail with the change, too
	for to, names := range map[*[]string][]string{&out.Unbuilt: seen.unbuilt, &out.Died: seen.died} {
		for _, n := range names {
			if !slices.Contains(known, n) {
				*to = append(*to, nameUnit(job.Gates[i], n))
			}
		}
	}
	return nil
}

// add adds the results of a later run for tests without an opposite earlier result.
func (b *baseRun) add(later baseRun) {
	for n := range later.passes {
		if !b.fails[n] {
			b.passes[n] = true
		}
	}
	for n := range later.fails {
		if !b.passes[n] {
			b.fails[n] = true
		}
	}
}

// hasTest reports whether the result of a test is known.
func (b *baseRun) hasTest(test string) bool { return b.passes[test] || b.fails[test] }

// countShown adds the results of the runs to out. The cases of a test count as one test.
func countShown(show map[string]bool, seen baseRun, out *company.RedGreen) {
	old := map[string]bool{}
	fresh := map[string]bool{}
	shown := map[string]bool{}
	unseen := map[string]bool{}
	for n, isNew := range show {
		test := testreport.ParentOf(n, show)
		if !isNew {
			old[test] = true
		} else if fresh[test] = true; test != n {
			out.Cases++
		}
		switch {
		case seen.passes[n] && isNew:
			out.Idle = append(out.Idle, n)
		case seen.passes[n]:
		case seen.fails[n]:
			shown[test] = true
			out.Proof = append(out.Proof, n)
		case isNew:
			unseen[test] = true
		}
	}
	for test := range fresh {
		if !old[test] {
			out.Fresh++
		}
	}
	out.Shown += len(shown)
	for test := range unseen {
		if fresh[test] && !old[test] && !seen.hasTest(test) && !shown[test] {
			out.Unseen++
		}
	}
}

// nameUnit names a failure that stands for more than one test. It returns the package if the runner has packages,
// else the name in the failure, else the gate's name.
func nameUnit(gateCommand company.GateCommand, failure string) string {
	if e, ok := catalog.PlanterOf(gateCommand.Plant).(ecosystem.FolderTester); ok {
		return e.PackageOf(failure)
	}
	return cmp.Or(strings.TrimSpace(strings.TrimSuffix(failure, testreport.NotEnded)), gateCommand.Name)
}

// runRest reruns the tests that a dying test prevented, leaving that test out, if the runner supports this. It
// repeats while another test dies, within the timeout of one gate run.
func (r *Runner) runRest(ctx context.Context, job Job, i int, c candidates, seen *baseRun) error {
	restTester, ok := catalog.PlanterOf(job.Gates[i].Plant).(ecosystem.RestTester)
	if !ok {
		return nil
	}
	deadline := time.Now().Add(r.Timeout)
	canary := job.Gates[i].Canary
	left := -1
	packages := packagesOf(restTester, seen.died)
	for n := range maxRestRuns {
		unseen := slices.ContainsFunc(
			slices.Collect(maps.Keys(c.show)), func(t string) bool {
				return !seen.hasTest(t) && slices.Contains(packages, restTester.PackageOf(t))
			})
		var without []string
		for t := range seen.fails {
			if slices.Contains(packages, restTester.PackageOf(t)) {
				without = append(without, t)
			}
		}
		slices.Sort(without)
		if !unseen || len(without) == left {
			return nil // a package that dies without a culprit among its tests dies again
		}
		left = len(without)
		rest := job
		rest.Gates = slices.Clone(job.Gates)
		if !rest.runReport(i, restTester.RestCommand(canary, without, packages)) {
			return nil
		}
		run, reason, err := r.runTestsUntil(ctx, rest, i, 2+n, deadline)
		if err != nil || reason != "" {
			return err // those tests stay unseen
		}
		// Tests run one after the other: the test that was running at the end has ended the run.
		maps.Copy(run.fails, run.unsure)
		seen.add(run)
		packages = packagesOf(restTester, run.died)
	}
	return nil
}

// packagesOf returns the sorted, distinct packages in the names of failures.
func packagesOf(folderTester ecosystem.FolderTester, failures []string) []string {
	var out []string
	for _, f := range failures {
		out = append(out, folderTester.PackageOf(f))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// runTests runs a test gate without the change. reason is set if the results could not be determined, which is not
// the fault of the change.
func (r *Runner) runTests(ctx context.Context, j Job, i, attempt int) (run baseRun, reason string, err error) {
	check, res, err := r.runCheck(ctx, j, i, attempt)
	var of *company.Error
	switch {
	case ctx.Err() != nil:
		return run, "", context.Cause(ctx)
	case errors.As(err, &of) && of.Code == company.EGates:
		return run, "without the change the tests could not be run: " + of.Message, nil
	case err != nil:
		return run, "", err
	case check.ExitCode == company.ExitTimeout || check.ExitCode == company.ExitKilled:
		return run, fmt.Sprintf("without the change the tests were ended before they were through, exit %d",
			check.ExitCode), nil
	case res == nil || res.ParseError != "":
		return run, "without the change the tests report nothing", nil
	}
	run = baseRun{passes: map[string]bool{}, fails: map[string]bool{}, unsure: map[string]bool{}}
	for _, n := range res.Passed {
		run.passes[n] = true
	}
	for _, testResult := range res.Failed {
		switch {
		case testResult.Unrun && testreport.IsUnended(testResult.Name):
			run.died = append(run.died, testResult.Name)
		case testResult.Unrun:
			run.unbuilt = append(run.unbuilt, testResult.Name)
		case slices.Contains(res.Unsure, testResult.Name):
			run.unsure[testResult.Name] = true
		default:
			run.fails[testResult.Name] = true
		}
	}
	if len(run.unbuilt) > 0 {
		run.output = r.readOutput(ctx, check)
	}
	return run, "", nil
}

// runTestsUntil is runTests with a deadline.
func (r *Runner) runTestsUntil(
	ctx context.Context, job Job, i, attempt int, deadline time.Time,
) (run baseRun, reason string, err error) {
	runner := *r
	if runner.Timeout = time.Until(deadline); runner.Timeout <= 0 {
		return run, "there is no time left for more runs without the change", nil
	}
	return runner.runTests(ctx, job, i, attempt)
}

// withShortTimeout returns a runner whose timeout is little longer than a check took, since a test may wait forever
// without the change. A first step took less than the whole suite, which may be run here, so the base's duration also
// counts.
func (r *Runner) withShortTimeout(gateCheck, base company.GateCheck) *Runner {
	runner, took := *r, gateCheck.Took
	if gateCheck.Part != nil {
		took = max(took, base.Took)
	}
	if most := 2*took + 2*time.Minute; runner.Timeout == 0 || most < runner.Timeout {
		runner.Timeout = most
	}
	return &runner
}
