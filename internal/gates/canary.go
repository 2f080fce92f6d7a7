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
	"company/internal/gitops"
)

// A gate is believed for its exit code, and that is made inside of what it
// judges: a TestMain that ends with 0, a module that stands for the runner, a
// line in go.mod that leaves a package out keep a gate green for ever. So the
// company puts a test that must fail beside the change and runs the gate's own
// command on it, in a container of its own. A gate that stays green does not
// look there.
//
// The test's name is random, and the command runs nothing else where the runner
// can be told so: the suite is not run twice. What cannot be seen: a suite that
// looks for files or arguments that it does not know, and behaves only then;
// and a library whose assertions assert nothing.

// canaryWord stands for the random word in a gate's canary command.
const canaryWord = "CANARY"

// How a canary is planted (company.GateCommand.Plant).
const (
	plantGo       = "go"
	plantPytest   = "pytest"
	plantUnittest = "unittest"
	plantScript   = "script" // beside a test file of JavaScript or TypeScript
	plantCargo    = "cargo"
)

// maxCanaries is how many folders of a change get a failing test.
const maxCanaries = 100

// canary is a set of failing tests, ready to be run.
type canary struct {
	gate    company.GateCommand // runs them, and nothing else where that can be
	files   []gitops.Text
	folders []string // of the repository
	words   []string // by folder: what the name of its test holds
}

// grown are the files of a tree, and which of them the change touches.
type grown struct {
	m       *gitops.Mirror
	base    company.OID // the commit before the change
	files   map[string]gitops.Entry
	dirs    map[string][]string
	changed []string        // paths, the deleted ones too
	created map[string]bool // of them, what the base does not have
}

func (r *Runner) grown(ctx context.Context, j Job) (grown, error) {
	g := grown{m: j.Mirror, base: j.Base, files: map[string]gitops.Entry{}, dirs: map[string][]string{}, created: map[string]bool{}}
	d, err := j.Mirror.Diff(ctx, j.Base, j.Tree, 0)
	if err != nil {
		return g, err
	}
	for _, c := range d.Changes {
		g.changed = append(g.changed, c.Path)
		g.created[c.Path] = c.OldMode == 0
	}
	entries, err := j.Mirror.List(ctx, j.Tree)
	if err != nil {
		return g, err
	}
	for _, e := range entries {
		if e.Mode == gitops.ModeFile || e.Mode == gitops.ModeExec {
			dir, name := split(e.Path)
			g.files[e.Path] = e
			g.dirs[dir] = append(g.dirs[dir], name)
		}
	}
	return g, nil
}

// spots are the places for failing tests that a gate must turn red at; reason
// says why there are none, or too few.
func (r *Runner) spots(ctx context.Context, j Job, i int) (spots []spot, reason string, err error) {
	g, err := r.grown(ctx, j)
	if err != nil {
		return nil, "", err
	}
	return g.spots(ctx, j.Gates[i])
}

func (g grown) spots(ctx context.Context, gate company.GateCommand) (spots []spot, reason string, err error) {
	switch gate.Plant {
	case plantGo:
		spots, reason, err = g.goSpots(ctx, gate)
	case plantPytest, plantUnittest:
		spots = g.pythonSpots(gate)
	case plantScript:
		if spots, err = g.scriptSpots(ctx, gate); len(spots) == 0 && g.concernsScripts(gate) {
			reason = "no test has a name by which a failing one beside it would be found"
		}
	case plantCargo:
		spots, err = g.cargoSpots(ctx, gate)
	default:
		return nil, "no failing test can be made for " + clean(gate.Command, 100), nil
	}
	if len(spots) > maxCanaries {
		reason = fmt.Sprintf("%d folders are changed, and only %d were looked at", len(spots), maxCanaries)
		spots = spots[:maxCanaries]
	}
	return spots, reason, err
}

// planted makes the failing tests.
func planted(gate company.GateCommand, spots []spot) canary {
	word := "companycanary" + strings.ToLower(rand.Text()[:10])
	c := canary{gate: gate}
	var inside []string
	for i, s := range spots {
		own := fmt.Sprintf("%sn%de", word, i)
		c.files = append(c.files, gitops.Text{Path: s.path(own), Text: []byte(s.text(own))})
		c.folders, c.words = append(c.folders, s.dir), append(c.words, own)
		inside = append(inside, below(s.dir, gate.Dir))
	}
	c.gate.Report, c.gate.Probe = strings.ReplaceAll(gate.Canary, canaryWord, word), ""
	if gate.Plant == plantGo {
		c.gate.Report = goCanary(c.gate.Report, inside)
	}
	return c
}

// spot is a place for a failing test.
type spot struct {
	dir  string // of the repository
	dark bool   // no gate of the base can look there
	// hollow: the change took the place out of the gate; there is nothing to run.
	hollow bool
	path   func(word string) string // of the file
	text   func(word string) string
}

// below is a folder as it is called in a gate's own folder.
func below(dir, gate string) string {
	if dir = strings.TrimPrefix(strings.TrimPrefix(dir, gate), "/"); dir == "" {
		return "."
	}
	return "./" + dir
}

// canary finds out whether a gate looks at what the change touches. It says
// nothing where the change touches nothing that the gate is about.
func (r *Runner) canary(ctx context.Context, j Job, i int) (*company.Canary, error) {
	began := time.Now()
	spots, reason, err := r.spots(ctx, j, i)
	if err != nil || len(spots) == 0 && reason == "" {
		return nil, err
	}
	out := &company.Canary{Reason: reason}
	spots = slices.DeleteFunc(spots, func(s spot) bool {
		switch {
		case s.hollow:
			out.Hollow = append(out.Hollow, shownFolder(s.dir))
		case s.dark:
			out.Blind = append(out.Blind, shownFolder(s.dir))
		}
		return s.hollow || s.dark
	})
	c := planted(j.Gates[i], spots)
	defer func() { out.Took = time.Since(began) }()
	if len(c.files) == 0 {
		return out, nil
	}
	now, err := r.flies(ctx, j, j.Tree, j.Image, i, c)
	if err != nil {
		return nil, err
	}
	var base flight
	if len(now.green) > 0 && now.why == "" {
		// Is it the change's doing? Without it the gate must look there.
		if base, err = r.flies(ctx, j, j.Base, j.BaseImage, i, c); err != nil {
			return nil, err
		}
	}
	why := cmp.Or(now.why, base.why)
	if why != "" {
		out.Reason = why
	}
	for n, folder := range c.folders {
		folder = shownFolder(folder)
		switch {
		case !now.green[n]:
			out.Proven = append(out.Proven, folder)
		case why != "":
			out.Blind = append(out.Blind, folder)
		case now.mute && base.mute: // it turns red, and nobody can tell at what
			out.Reason = "the failing test turns it red, and its report names no test"
		case base.green[n]:
			out.Blind = append(out.Blind, folder)
		default:
			out.Hollow = append(out.Hollow, folder)
		}
	}
	return out, nil
}

func shownFolder(dir string) string {
	if dir == "" {
		return "."
	}
	return clean(dir, maxName)
}

// flight is what came of failing tests on a tree.
type flight struct {
	green map[int]bool // by their place: they did not turn the gate red by name
	mute  bool         // the gate was red, and its report could not be read
	why   string       // why it could not be found out; empty: it was
}

// flies runs the failing tests on a tree.
func (r *Runner) flies(ctx context.Context, j Job, tree company.OID, image string, i int, c canary) (flight, error) {
	gates := slices.Clone(j.Gates)
	gates[i] = c.gate
	check, res, err := r.once(ctx, Job{Mirror: j.Mirror, Tree: tree, Planted: c.files, Gates: gates, Image: image, Label: j.Label, Epoch: j.Epoch}, i, 0)
	f := flight{green: map[int]bool{}}
	for n := range c.words {
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
	case check.ExitCode == exitTooLong || check.ExitCode == exitKilled:
		f.why = fmt.Sprintf("the failing test was ended before it ran, exit %d", check.ExitCode)
		return f, nil
	case check.ExitCode == 0 || res == nil:
		return f, nil
	}
	f.mute = res.odd != ""
	for _, failed := range res.failed {
		for n, word := range c.words {
			if strings.Contains(strings.ToLower(failed.Name), word) {
				delete(f.green, n)
			}
		}
	}
	return f, nil
}

// proveAgain has the gates of a verdict of the cache show what they did not:
// the same tree may be another change there.
func (r *Runner) proveAgain(ctx context.Context, s *company.State, t *company.Task, j Job, hit company.GateResult) (company.GateResult, error) {
	if !r.Canary || j.Base == "" {
		return hit, nil
	}
	hit.Checks = slices.Clone(hit.Checks)
	for i := range hit.Checks {
		c := &hit.Checks[i]
		if j.Gates[i].IsLint() || c.Skipped || c.Against(j.known(i)) == company.StandFailed {
			continue
		}
		spots, reason, err := r.spots(ctx, j, i)
		if err != nil {
			return hit, err
		}
		if len(spots) == 0 && reason == "" || covers(c.Canary, spots) && c.Canary.Reason == reason {
			continue
		}
		if c.Canary, err = r.canary(ctx, j, i); err != nil {
			return hit, err
		}
	}
	return s.Settle(t, hit), nil
}

// covers says whether all of these places were looked at.
func covers(c *company.Canary, spots []spot) bool {
	if c == nil {
		return false
	}
	seen := slices.Concat(c.Proven, c.Hollow, c.Blind)
	return !slices.ContainsFunc(spots, func(s spot) bool { return !slices.Contains(seen, shownFolder(s.dir)) })
}
