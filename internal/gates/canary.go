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
	"company/internal/gitops"
	"company/internal/testreport"
)

// A gate is believed for its exit code, and that is made inside of what it
// judges: a TestMain that ends with 0, a module that stands for the runner, a
// line in go.mod that leaves a package out keep a gate green for ever. So the
// company puts a test that must fail beside the change and runs the gate's own
// command on it, in a container of its own. A gate that stays green does not
// look there.
//
// The test's name is random, and the command runs nothing else where the runner
// can select tests: the suite is not run twice. What cannot be seen: a suite
// that looks for files or arguments that it does not know, and behaves only
// then; and a library whose assertions assert nothing.

// maxCanaries is how many folders of a change get a failing test.
const maxCanaries = 100

// canaryTests is a set of failing tests, ready to be run.
type canaryTests struct {
	command company.GateCommand // runs them, and nothing else where that can be
	files   []gitops.Text
	folders []string // of the repository
	names   []string // by folder: what the name of its test holds
}

// readChange is what the change of a job touches.
func readChange(ctx context.Context, j Job) (*ecosystem.Change, error) {
	d, err := j.Mirror.Diff(ctx, j.Base, j.Tree, 0)
	if err != nil {
		return nil, err
	}
	tree, err := readTree(ctx, j.Mirror, j.Tree)
	if err != nil {
		return nil, err
	}
	c := &ecosystem.Change{Tree: tree, Added: map[string]bool{}, ReadBase: func() (*ecosystem.Tree, error) { return readTree(ctx, j.Mirror, j.Base) }}
	for _, f := range d.Changes {
		c.Changed = append(c.Changed, f.Path)
		c.Added[f.Path] = f.OldMode == 0
		if catalog.SteersGate(j.Gates, f.Path) {
			c.GateFiles = append(c.GateFiles, f.Path)
		}
	}
	return c, nil
}

// canaryPlaces are the places for failing tests that a gate must turn red at; reason
// says why there are none, or too few.
func canaryPlaces(ctx context.Context, j Job, i int) (places []ecosystem.CanaryPlace, reason string, err error) {
	gate := j.Gates[i]
	planter := catalog.PlanterOf(gate.Plant)
	if planter == nil {
		return nil, "no failing test can be made for " + testreport.CleanName(gate.Command, 100), nil
	}
	c, err := readChange(ctx, j)
	if err != nil {
		return nil, "", err
	}
	if places, reason = planter.CanaryPlaces(c, gate); len(places) > maxCanaries {
		reason = fmt.Sprintf("%d folders are changed, and only %d were looked at", len(places), maxCanaries)
		places = places[:maxCanaries]
	}
	return places, reason, c.Err()
}

// plantCanary makes the failing tests.
func plantCanary(gate company.GateCommand, spots []ecosystem.CanaryPlace) canaryTests {
	word := "companycanary" + strings.ToLower(rand.Text()[:10])
	c := canaryTests{command: gate}
	var inside []string
	for i, s := range spots {
		own := fmt.Sprintf("%sn%de", word, i)
		c.files = append(c.files, gitops.Text{Path: s.Path(own), Text: []byte(s.Text(own))})
		c.folders, c.names = append(c.folders, s.Dir), append(c.names, own)
		inside = append(inside, relativeTo(s.Dir, gate.Dir))
	}
	c.command.Report, c.command.Probe = strings.ReplaceAll(gate.Canary, ecosystem.CanaryPlaceholder, word), ""
	if e, ok := catalog.PlanterOf(gate.Plant).(ecosystem.FolderTester); ok {
		c.command.Report = e.FolderCommand(c.command.Report, inside)
	}
	return c
}

// relativeTo is a folder as it is called in a gate's own folder.
func relativeTo(dir, gate string) string {
	if dir = strings.TrimPrefix(strings.TrimPrefix(dir, gate), "/"); dir == "" {
		return "."
	}
	return "./" + dir
}

// runCanary finds out whether a gate looks at what the change touches. It says
// nothing where the change touches nothing that the gate is about.
func (r *Runner) runCanary(ctx context.Context, j Job, i int) (*company.Canary, error) {
	began := time.Now()
	spots, reason, err := canaryPlaces(ctx, j, i)
	if err != nil || len(spots) == 0 && reason == "" {
		return nil, err
	}
	out := &company.Canary{Reason: reason}
	spots = slices.DeleteFunc(spots, func(s ecosystem.CanaryPlace) bool {
		switch {
		case s.Hollow:
			out.Hollow = append(out.Hollow, displayFolder(s.Dir))
		case s.Unreachable:
			out.Blind = append(out.Blind, displayFolder(s.Dir))
		}
		return s.Hollow || s.Unreachable
	})
	c := plantCanary(j.Gates[i], spots)
	defer func() { out.Took = time.Since(began) }()
	if len(c.files) == 0 {
		return out, nil
	}
	now, err := r.runCanaryTests(ctx, j, j.Tree, j.Image, i, c)
	if err != nil {
		return nil, err
	}
	var base flight
	if len(now.green) > 0 && now.why == "" {
		// Is it the change's doing? Without it the gate must look there.
		if base, err = r.runCanaryTests(ctx, j, j.Base, j.BaseImage, i, c); err != nil {
			return nil, err
		}
	}
	why := cmp.Or(now.why, base.why)
	if why != "" {
		out.Reason = why
	}
	for n, folder := range c.folders {
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

// flight is what came of failing tests on a tree.
type flight struct {
	green map[int]bool // by their place: they did not turn the gate red by name
	mute  bool         // the gate was red, and its report could not be read
	why   string       // why it could not be found out; empty: it was
}

// runCanaryTests runs the failing tests on a tree.
func (r *Runner) runCanaryTests(ctx context.Context, j Job, tree company.OID, image Image, i int, c canaryTests) (flight, error) {
	gates := slices.Clone(j.Gates)
	gates[i] = c.command
	check, res, err := r.runCheck(ctx, Job{Mirror: j.Mirror, Tree: tree, ExtraFiles: c.files, Gates: gates, Image: image, Label: j.Label, Epoch: j.Epoch}, i, 0)
	f := flight{green: map[int]bool{}}
	for n := range c.names {
		f.green[n] = true
	}
	switch {
	case ctx.Err() != nil:
		return f, context.Cause(ctx)
	case err != nil:
		var e *company.Error
		if !errors.As(err, &e) || e.Code != company.EGates {
			return f, err
		}
		f.why = "the failing test could not be run: " + e.Message
		return f, nil
	case check.ExitCode == exitTimeout || check.ExitCode == exitKilled:
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

// proveCached has the gates of a verdict of the cache show what they did not:
// the same tree may be another change there.
func (r *Runner) proveCached(ctx context.Context, s *company.State, t *company.Task, j Job, hit company.GateResult) (company.GateResult, error) {
	if !r.Canary || j.Base == "" {
		return hit, nil
	}
	hit.Checks = slices.Clone(hit.Checks)
	for i := range hit.Checks {
		c := &hit.Checks[i]
		if !j.Gates[i].IsTest() || c.Skipped || c.Against(j.baselineCheck(i)) == company.ComparedFailed {
			continue
		}
		spots, reason, err := canaryPlaces(ctx, j, i)
		if err != nil {
			return hit, err
		}
		if len(spots) == 0 && reason == "" || coversPlaces(c.Canary, spots) && c.Canary.Reason == reason {
			continue
		}
		if c.Canary, err = r.runCanary(ctx, j, i); err != nil {
			return hit, err
		}
	}
	return s.Settle(t, hit), nil
}

// coversPlaces says whether all of these places were looked at.
func coversPlaces(c *company.Canary, spots []ecosystem.CanaryPlace) bool {
	if c == nil {
		return false
	}
	seen := slices.Concat(c.Proven, c.Hollow, c.Blind)
	return !slices.ContainsFunc(spots, func(s ecosystem.CanaryPlace) bool { return !slices.Contains(seen, displayFolder(s.Dir)) })
}
