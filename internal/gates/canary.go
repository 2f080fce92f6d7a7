package gates

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/ecosystem/testreport"
	"company/internal/gitops"
)

// A gate is judged by its exit code, which is produced inside the code under test. A TestMain that ends with 0, a
// module that replaces the runner, or a line in go.mod that excludes a package keeps a gate green forever. So the
// company adds a test that must fail and runs the gate's own command on it, in a separate container. A gate that
// stays green does not cover that place.
//
// The test's name is random. If the runner can select tests, the command runs only this one, so the suite is not run
// twice. Two cases stay undetected: a suite that looks for unknown files or arguments and behaves only then, and a
// library whose assertions never fail.

// maxCanaries limits how many changed folders get a failing test.
const maxCanaries = 100

// canaryTests is a set of failing tests, ready to run.
type canaryTests struct {
	command company.GateCommand // runs only these tests if possible
	files   []gitops.Text
	folders []string // of the repository
	names   []string // by folder: a part of its test's name
}

// readChange returns the files that the change of a job touches.
func readChange(ctx context.Context, job Job) (*ecosystem.Change, error) {
	diff, err := job.Mirror.Diff(ctx, job.Base, job.Tree, 0)
	if err != nil {
		return nil, err
	}
	tree, err := readTree(ctx, job.Mirror, job.Tree)
	if err != nil {
		return nil, err
	}
	change := &ecosystem.Change{Tree: tree, Added: map[string]bool{},
		ReadBase: func() (*ecosystem.Tree, error) { return readTree(ctx, job.Mirror, job.Base) }}
	for _, fileChange := range diff.Changes {
		change.Changed = append(change.Changed, fileChange.Path)
		change.Added[fileChange.Path] = fileChange.OldMode == 0
		if catalog.SteersGate(job.Gates, fileChange.Path) {
			change.GateFiles = append(change.GateFiles, fileChange.Path)
		}
	}
	return change, nil
}

// canaryPlaces returns the places where a failing test must turn the gate red. reason explains why there are none or
// too few.
func canaryPlaces(ctx context.Context, job Job, i int) (places []ecosystem.CanaryPlace, reason string, err error) {
	gate := job.Gates[i]
	planter := catalog.PlanterOf(gate.Plant)
	if planter == nil {
		return nil, "no failing test can be made for " + testreport.CleanName(gate.Command, 100), nil
	}
	change, err := readChange(ctx, job)
	if err != nil {
		return nil, "", err
	}
	if places, reason = planter.CanaryPlaces(change, gate); len(places) > maxCanaries {
		reason = fmt.Sprintf("%d folders are changed, and only %d were looked at", len(places), maxCanaries)
		places = places[:maxCanaries]
	}
	return places, reason, change.Err()
}

// plantCanary creates the failing tests.
func plantCanary(gate company.GateCommand, spots []ecosystem.CanaryPlace) canaryTests {
	word := "companycanary" + strings.ToLower(rand.Text()[:10])
	c := canaryTests{command: gate}
	var inside []string
	for i, canaryPlace := range spots {
		own := fmt.Sprintf("%sn%de", word, i)
		c.files = append(c.files, gitops.Text{Path: canaryPlace.Path(own), Text: []byte(canaryPlace.Text(own))})
		c.folders, c.names = append(c.folders, canaryPlace.Dir), append(c.names, own)
		inside = append(inside, relativeTo(canaryPlace.Dir, gate.Dir))
	}
	c.command.Report, c.command.Probe = strings.ReplaceAll(gate.Canary, ecosystem.CanaryPlaceholder, word), ""
	if e, ok := catalog.PlanterOf(gate.Plant).(ecosystem.FolderTester); ok {
		c.command.Report = e.FolderCommand(c.command.Report, inside)
	}
	return c
}

// relativeTo returns a folder's path relative to a gate's folder.
func relativeTo(dir, gate string) string {
	if dir = strings.TrimPrefix(strings.TrimPrefix(dir, gate), "/"); dir == "" {
		return "."
	}
	return "./" + dir
}

// runCanary checks whether a gate covers the files that the change touches. It returns nil if the change touches no
// file that concerns the gate.
func (r *Runner) runCanary(ctx context.Context, job Job, i int) (*company.Canary, error) {
	began := time.Now()
	spots, reason, err := canaryPlaces(ctx, job, i)
	if err != nil || len(spots) == 0 && reason == "" {
		return nil, err
	}
	out := &company.Canary{Reason: reason}
	spots = slices.DeleteFunc(spots, func(canaryPlace ecosystem.CanaryPlace) bool {
		switch {
		case canaryPlace.Hollow:
			out.Hollow = append(out.Hollow, displayFolder(canaryPlace.Dir))
		case canaryPlace.Unreachable:
			out.Blind = append(out.Blind, displayFolder(canaryPlace.Dir))
		}
		return canaryPlace.Hollow || canaryPlace.Unreachable
	})
	canaryTests := plantCanary(job.Gates[i], spots)
	defer func() { out.Took = time.Since(began) }()
	if len(canaryTests.files) == 0 {
		return out, nil
	}
	now, err := r.runCanaryTests(ctx, job, job.Tree, job.Image, i, canaryTests)
	if err != nil {
		return nil, err
	}
	var base flight
	if len(now.green) > 0 && now.why == "" {
		// Did the change cause this? Without it, the gate must cover the place.
		if base, err = r.runCanaryTests(ctx, job, job.Base, job.BaseImage, i, canaryTests); err != nil {
			return nil, err
		}
	}
	why := cmp.Or(now.why, base.why)
	if why != "" {
		out.Reason = why
	}
	for n, folder := range canaryTests.folders {
		folder = displayFolder(folder)
		switch {
		case !now.green[n]:
			out.Proven = append(out.Proven, folder)
		case why != "":
			out.Blind = append(out.Blind, folder)
		case now.mute && base.mute: // it turns red, for an unknown reason
			out.Reason = "the failing test turns it red, and its report names no test"
		case base.green[n]:
			out.Blind = append(out.Blind, folder)
		default:
			out.Hollow = append(out.Hollow, folder)
		}
	}
	return out, nil
}

func displayFolder(dir string) string {
	if dir == "" {
		return "."
	}
	return testreport.CleanName(dir, testreport.MaxName)
}

// flight is the result of running failing tests on a tree.
type flight struct {
	green map[int]bool // by place: the tests that did not turn the gate red by name
	mute  bool         // the gate was red, but its report could not be read
	why   string       // why the result is unknown; empty if it is known
}

// runCanaryTests runs the failing tests on a tree.
func (r *Runner) runCanaryTests(
	ctx context.Context, job Job, tree company.OID, image Image, i int, c canaryTests,
) (flight, error) {
	gates := slices.Clone(job.Gates)
	gates[i] = c.command
	check, res, err := r.runCheck(
		ctx, Job{Mirror: job.Mirror, Tree: tree, ExtraFiles: c.files, Gates: gates, Image: image, Label: job.Label,
			Epoch: job.Epoch}, i, 0)
	f := flight{green: map[int]bool{}}
	for n := range c.names {
		f.green[n] = true
	}
	switch {
	case ctx.Err() != nil:
		return f, context.Cause(ctx)
	case err != nil:
		var fault *company.Error
		if !errors.As(err, &fault) || fault.Code != company.EGates {
			return f, err
		}
		f.why = "the failing test could not be run: " + fault.Message
		return f, nil
	case check.ExitCode == company.ExitTimeout || check.ExitCode == company.ExitKilled:
		f.why = fmt.Sprintf("the failing test was ended before it ran, exit %d", check.ExitCode)
		return f, nil
	case check.ExitCode == 0 || res == nil:
		return f, nil
	}
	f.mute = res.ParseError != ""
	for _, failed := range res.Failed {
		for n, word := range c.names {
			if strings.Contains(strings.ToLower(failed.Name), word) {
				delete(f.green, n)
			}
		}
	}
	return f, nil
}

// proveCached runs the missing proofs for a cached verdict. The same tree may come from a different change there.
func (r *Runner) proveCached(
	ctx context.Context, state *company.State, task *company.Task, job Job, hit company.GateResult,
) (company.GateResult, error) {
	if !r.Canary || job.Base == "" {
		return hit, nil
	}
	hit.Checks = slices.Clone(hit.Checks)
	for i := range hit.Checks {
		gateCheck := &hit.Checks[i]
		if !job.Gates[i].IsTest() || gateCheck.Skipped || gateCheck.Against(job.baselineCheck(i)) == company.ComparedFailed {
			continue
		}
		spots, reason, err := canaryPlaces(ctx, job, i)
		if err != nil {
			return hit, err
		}
		if len(spots) == 0 && reason == "" || coversPlaces(gateCheck.Canary, spots) && gateCheck.Canary.Reason == reason {
			continue
		}
		if gateCheck.Canary, err = r.runCanary(ctx, job, i); err != nil {
			return hit, err
		}
	}
	return state.Settle(task, hit), nil
}

// coversPlaces reports whether all of these places were checked.
func coversPlaces(canary *company.Canary, spots []ecosystem.CanaryPlace) bool {
	if canary == nil {
		return false
	}
	seen := slices.Concat(canary.Proven, canary.Hollow, canary.Blind)
	return !slices.ContainsFunc(spots,
		func(s ecosystem.CanaryPlace) bool { return !slices.Contains(seen, displayFolder(s.Dir)) })
}
