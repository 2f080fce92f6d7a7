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
	"company/internal/testreport"
)

// maxRestRuns is how often the tests are run that a dying test kept from running.
const maxRestRuns = 3

// candidates are the tests of one gate that may show a change.
type candidates struct {
	show   map[string]bool        // by name; whether each is new
	now    company.GateCheck      // with the change
	narrow ecosystem.FolderTester // set: only some packages are run, and of the others nothing is known
}

// baseRun is what tests do without the change.
type baseRun struct {
	passes, fails map[string]bool
	// unsure failed beside others when their run died: which of them ended it is not known.
	unsure map[string]bool
	// unbuilt do not compile or load, and died ended before their tests were through, by the
	// names of the report.
	unbuilt, died []string
}

// runOnBase runs one test gate without the change and adds what it shows. Only a test
// that was seen to fail by itself shows the change; a package that does not compile,
// or whose run dies, does so as a whole.
func (r *Runner) runOnBase(ctx context.Context, j Job, i int, c candidates, out *company.RedGreen) error {
	seen, why, err := r.runTests(ctx, j, i, 0)
	if err != nil || why != "" {
		out.Reason = why
		return err
	}
	if c.narrow != nil {
		ran := map[string]bool{}
		for _, names := range [][]string{slices.Collect(maps.Keys(seen.passes)), slices.Collect(maps.Keys(seen.fails)), slices.Collect(maps.Keys(seen.unsure)), seen.unbuilt, seen.died} {
			for _, n := range names {
				ran[c.narrow.PackageOf(n)] = true
			}
		}
		maps.DeleteFunc(c.show, func(n string, _ bool) bool { return !ran[c.narrow.PackageOf(n)] })
	}
	// A test that fails there by chance shows nothing either.
	if len(seen.died) > 0 || slices.ContainsFunc(slices.Collect(maps.Keys(c.show)), func(n string) bool { return seen.fails[n] }) {
		again, why, err := r.runTests(ctx, j, i, 1)
		if err != nil || why != "" {
			out.Reason = why
			return err
		}
		maps.DeleteFunc(c.show, func(n string, _ bool) bool { return seen.fails[n] && again.passes[n] })
		seen.died = slices.DeleteFunc(seen.died, func(n string) bool { return !slices.Contains(again.died, n) })
		seen.add(again)
	}
	if err := r.runRest(ctx, j, i, c, &seen); err != nil {
		return err
	}
	countShown(c.show, seen, out)
	known := testNames(c.now.Tests) // fail with the change, too
	for to, names := range map[*[]string][]string{&out.Unbuilt: seen.unbuilt, &out.Died: seen.died} {
		for _, n := range names {
			if !slices.Contains(known, n) {
				*to = append(*to, nameUnit(j.Gates[i], n))
			}
		}
	}
	return nil
}

// add adds what a later run saw of tests that none before it had seen.
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

// has says whether it was seen what a test does.
func (b *baseRun) hasTest(test string) bool { return b.passes[test] || b.fails[test] }

// countShown adds what the runs show. The cases of a test count as the one test.
func countShown(show map[string]bool, seen baseRun, out *company.RedGreen) {
	old, fresh, shown, unseen := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
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

// nameUnit is the package of a failure that stands for more than one test, where its
// runner has packages, else what the failure names; a run that names nothing is the gate's.
func nameUnit(g company.GateCommand, failure string) string {
	if e, ok := catalog.PlanterOf(g.Plant).(ecosystem.FolderTester); ok {
		return e.PackageOf(failure)
	}
	return cmp.Or(strings.TrimSpace(strings.TrimSuffix(failure, testreport.NotEnded)), g.Name)
}

// runRest runs the tests that a dying one kept from running, without it, where the
// runner can leave tests out: again and again while another one dies, within the time
// of one run of the gate.
func (r *Runner) runRest(ctx context.Context, j Job, i int, c candidates, seen *baseRun) error {
	e, ok := catalog.PlanterOf(j.Gates[i].Plant).(ecosystem.RestTester)
	if !ok {
		return nil
	}
	deadline, canary, left := time.Now().Add(r.Timeout), j.Gates[i].Canary, -1
	packages := packagesOf(e, seen.died)
	for n := range maxRestRuns {
		unseen := slices.ContainsFunc(slices.Collect(maps.Keys(c.show)), func(t string) bool { return !seen.hasTest(t) && slices.Contains(packages, e.PackageOf(t)) })
		var without []string
		for t := range seen.fails {
			if slices.Contains(packages, e.PackageOf(t)) {
				without = append(without, t)
			}
		}
		slices.Sort(without)
		if !unseen || len(without) == left || !time.Now().Before(deadline) {
			return nil // a package that dies by none of its tests dies again
		}
		left = len(without)
		rest := j
		rest.Gates = slices.Clone(j.Gates)
		if !rest.runReport(i, e.RestCommand(canary, without, packages)) {
			return nil
		}
		b := *r
		b.Timeout = time.Until(deadline)
		run, why, err := b.runTests(ctx, rest, i, 2+n)
		if err != nil || why != "" {
			return err // those tests stay unseen
		}
		// They run one behind the other: the one that is under way at the end has ended it.
		maps.Copy(run.fails, run.unsure)
		seen.add(run)
		packages = packagesOf(e, run.died)
	}
	return nil
}

// packagesOf are the packages in the names of failures, each once.
func packagesOf(e ecosystem.FolderTester, failures []string) []string {
	var out []string
	for _, f := range failures {
		out = append(out, e.PackageOf(f))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// runTests runs a test gate without the change; why is set where it could not be found
// out what its tests do there, which is no fault of the change.
func (r *Runner) runTests(ctx context.Context, j Job, i, attempt int) (run baseRun, why string, err error) {
	check, res, err := r.runCheck(ctx, j, i, attempt)
	var of *company.Error
	switch {
	case ctx.Err() != nil:
		return run, "", context.Cause(ctx)
	case errors.As(err, &of) && of.Code == company.EGates:
		return run, "without the change the tests could not be run: " + of.Message, nil
	case err != nil:
		return run, "", err
	case check.ExitCode == exitTimeout || check.ExitCode == exitKilled:
		return run, fmt.Sprintf("without the change the tests were ended before they were through, exit %d", check.ExitCode), nil
	case res == nil || res.ParseError != "":
		return run, "without the change the tests report nothing", nil
	}
	run = baseRun{passes: map[string]bool{}, fails: map[string]bool{}, unsure: map[string]bool{}}
	for _, n := range res.Passed {
		run.passes[n] = true
	}
	for _, f := range res.Failed {
		switch {
		case f.Unrun && testreport.IsUnended(f.Name):
			run.died = append(run.died, f.Name)
		case f.Unrun:
			run.unbuilt = append(run.unbuilt, f.Name)
		case slices.Contains(res.Unsure, f.Name):
			run.unsure[f.Name] = true
		default:
			run.fails[f.Name] = true
		}
	}
	return run, "", nil
}

// withShortTimeout is a runner that waits not much longer than a check took: without the
// change a test may wait for ever for what does not come. A first step took less than the
// whole suite, which may be run here: the base's time counts beside it.
func (r *Runner) withShortTimeout(c, base company.GateCheck) *Runner {
	b, took := *r, c.Took
	if c.Part != nil {
		took = max(took, base.Took)
	}
	if most := 2*took + 2*time.Minute; b.Timeout == 0 || most < b.Timeout {
		b.Timeout = most
	}
	return &b
}
