package gates

import (
	"context"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/gitops"
)

// maxShownTests is how many tests a red-green report names.
const maxShownTests = 50

// redGreenInput is what a verdict was reached on, and what it was before.
type redGreenInput struct {
	base  company.OID        // the commit without the change
	known company.GateResult // what the gates say of that commit
	res   company.GateResult // what they say of the changed tree
	label string             // whose containers these are
}

// reportRedGreen finds the tests of a change that depend on it: the test gates
// are run once more on the base with nothing but the change's test files, and
// on these alone where the runner can select tests. A test that passes with the
// change and not there went from red to green.
//
// It is a report and no verdict: what it cannot find out it says.
func (r *Runner) reportRedGreen(ctx context.Context, s *company.State, t *company.Task, m *gitops.Mirror, c redGreenInput) (*company.RedGreen, error) {
	out := &company.RedGreen{}
	files, tests, err := overlayTests(ctx, m, c.base, c.res.Tree)
	if err != nil {
		return nil, err
	}
	out.Files = len(tests)
	if t.Settings.RedGreen == company.RedGreenRequire {
		if err := readSource(ctx, m, t.Prepared.Gates, c, out); err != nil {
			return nil, err
		}
	}
	if out.Files == 0 {
		return out, nil
	}
	if r.Blobs == nil || t.Baseline == nil || len(c.known.Checks) == 0 {
		out.Reason = "the tests of the base are not known"
		return out, nil
	}
	image, _, err := r.imageFor(ctx, t, m, c.base)
	if err != nil {
		return nil, err
	}
	j := Job{Mirror: m, Tree: c.res.Tree, Files: files, Gates: slices.Clone(t.Prepared.Gates), Hash: t.Prepared.GateHash,
		Image: image, Label: c.label, Epoch: s.Office.Epoch}
	known := false
	for i, g := range j.Gates {
		if !g.IsTest() || i >= len(c.res.Checks) || i >= len(c.known.Checks) || i >= len(t.Baseline.Checks) || c.res.Checks[i].Counts == nil {
			continue
		}
		if names, err := r.readPassed(ctx, c.res.Checks[i]); err != nil {
			return nil, err
		} else if len(names) == 0 && c.res.Checks[i].Counts.Passed > 0 {
			continue // they are counted and have no names
		}
		known = true
		narrow, dirs := testFolders(g, tests)
		if narrow != nil {
			if len(dirs) == 0 {
				continue // of another module
			}
			if !j.runReport(i, narrow.FolderCommand(g.Canary, dirs)) {
				narrow = nil // all is run
			}
		}
		show, err := r.listCandidates(ctx, c.res.Checks[i], c.known.Checks[i], t.Baseline.Checks[i])
		if err != nil {
			return nil, err
		}
		if err := r.withShortTimeout(c.res.Checks[i], t.Baseline.Checks[i]).runOnBase(ctx, j, i, candidates{show, c.res.Checks[i], narrow}, out); err != nil {
			return nil, err
		}
	}
	if !known {
		out.Reason = "the test gate does not say which tests it runs"
	}
	for _, names := range []*[]string{&out.Proof, &out.Idle, &out.Unbuilt, &out.Died} {
		slices.Sort(*names)
		*names = (*names)[:min(len(*names), maxShownTests)]
	}
	return out, nil
}

// testFolders are the folders of these test files, as a gate's own folder calls
// them, and the ecosystem whose runner can run them alone; nil: it cannot.
func testFolders(g company.GateCommand, tests []string) (e ecosystem.FolderTester, dirs []string) {
	e, ok := catalog.PlanterOf(g.Plant).(ecosystem.FolderTester)
	if !ok {
		return nil, nil
	}
	for _, p := range tests {
		dir, name := ecosystem.SplitPath(p)
		if !e.IsTestFile(name) {
			return nil, nil // what tests read: whose it is its place does not tell
		}
		if at := relativeTo(dir, g.Dir); ecosystem.IsUnder(dir, g.Dir) && !slices.Contains(dirs, at) {
			dirs = append(dirs, at)
		}
	}
	return e, dirs
}

// listCandidates are the tests that pass with a change and could show it, and
// whether each is new. What failed before it, always or now and then, or does
// so with it, shows nothing by passing.
func (r *Runner) listCandidates(ctx context.Context, now company.GateCheck, before ...company.GateCheck) (map[string]bool, error) {
	fresh, err := r.readPassed(ctx, now)
	if err != nil {
		return nil, err
	}
	unsure := now.Flaky
	for _, c := range before {
		old, err := r.readPassed(ctx, c)
		if err != nil {
			return nil, err
		}
		for n := range old {
			if _, passes := fresh[n]; passes {
				fresh[n] = false
			}
		}
		unsure = slices.Concat(unsure, testNames(c.Tests), c.Flaky)
	}
	for _, n := range unsure {
		delete(fresh, n)
	}
	return fresh, nil
}

// readPassed are the names of the tests that passed in a check.
func (r *Runner) readPassed(ctx context.Context, c company.GateCheck) (map[string]bool, error) {
	out := map[string]bool{}
	if c.Names == "" {
		return out, nil
	}
	text, err := r.Blobs.GetBlob(ctx, c.Names)
	if err != nil {
		return nil, err
	}
	for n := range strings.SplitSeq(string(text), "\n") {
		if n != "" {
			out[n] = true
		}
	}
	return out, nil
}

// overlayTests are the files of the base with the test files of a changed tree,
// and the paths of these that differ.
func overlayTests(ctx context.Context, m *gitops.Mirror, base, changed company.OID) ([]gitops.Entry, []string, error) {
	d, err := m.Diff(ctx, base, changed, 0)
	if err != nil {
		return nil, nil, err
	}
	var tests []string
	for _, c := range d.Changes {
		if c.NewMode != 0 && c.NewMode != gitops.ModeGitlink && company.IsTest(c.Path) {
			tests = append(tests, c.Path)
		}
	}
	if len(tests) == 0 {
		return nil, nil, nil
	}
	isTest := map[string]bool{}
	for _, p := range tests {
		isTest[p] = true
	}
	was, err := m.List(ctx, base)
	if err != nil {
		return nil, nil, err
	}
	now, err := m.List(ctx, changed)
	if err != nil {
		return nil, nil, err
	}
	out := slices.DeleteFunc(was, func(e gitops.Entry) bool { return isTest[e.Path] })
	for _, e := range now {
		if isTest[e.Path] {
			out = append(out, e)
		}
	}
	return out, tests, nil
}
