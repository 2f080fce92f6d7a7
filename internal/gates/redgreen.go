package gates

import (
	"context"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/gitops"
)

// maxShown is how many tests a red-green report names.
const maxShown = 50

// redGreen finds out which tests of a whole task show anything: the test gates
// are run once more on the base with nothing but the change's test files. A
// test that passes with the change and not there went from red to green.
//
// It is a report and no verdict: what it cannot find out it says.
func (r *Runner) redGreen(ctx context.Context, s *company.State, t *company.Task, m *gitops.Mirror, res company.GateResult) (*company.RedGreen, error) {
	out := &company.RedGreen{}
	files, n, err := withTestsOf(ctx, m, t.Prepared.Base.OID, t.Head)
	if err != nil {
		return nil, err
	}
	out.Files = n
	if n == 0 {
		return out, nil
	}
	if r.Load == nil || t.Baseline == nil {
		out.Reason = "the tests of the base are not known"
		return out, nil
	}
	image, _, err := r.imageFor(ctx, t, m, t.Prepared.Base.OID)
	if err != nil {
		return nil, err
	}
	j := Job{Mirror: m, Tree: res.Tree, Files: files, Gates: t.Prepared.Gates, Hash: t.Prepared.GateHash,
		Image: image, Label: string(t.ID), Epoch: s.Office.Epoch}
	known := false
	for i, g := range j.Gates {
		if g.IsLint() || i >= len(res.Checks) || i >= len(t.Baseline.Checks) || res.Checks[i].Counts == nil {
			continue
		}
		known = true
		if err := r.without(ctx, j, i, res.Checks[i], t.Baseline.Checks[i], out); err != nil {
			return nil, err
		}
	}
	if !known {
		out.Reason = "the test gate does not say which tests it runs"
	}
	slices.Sort(out.Proof)
	slices.Sort(out.Idle)
	out.Proof, out.Idle = out.Proof[:min(len(out.Proof), maxShown)], out.Idle[:min(len(out.Idle), maxShown)]
	return out, nil
}

// without runs one test gate without the change and adds what it shows.
func (r *Runner) without(ctx context.Context, j Job, i int, now, base company.GateCheck, out *company.RedGreen) error {
	passes, err := r.passed(ctx, now)
	if err != nil {
		return err
	}
	old, err := r.passed(ctx, base)
	if err != nil {
		return err
	}
	// What the base fails in, always or now and then, shows nothing by passing
	// here.
	for _, f := range append(names(base.Tests), base.Flaky...) {
		delete(passes, f)
	}
	_, bare, err := r.once(ctx, j, i, 0)
	if err != nil {
		return err
	}
	if bare == nil || bare.odd != "" {
		out.Reason = "without the change the tests report nothing"
		return nil
	}
	there, fails := map[string]bool{}, map[string]bool{}
	for _, n := range bare.passed {
		there[n] = true
	}
	for _, f := range bare.failed {
		fails[f.Name] = true
	}
	for n := range passes {
		fresh := !old[n]
		if fresh {
			out.Fresh++
		}
		// What is neither new nor fails there only lies beside a test that
		// does not build without the change.
		switch {
		case !there[n] && (fresh || fails[n]):
			out.Shown++
			out.Proof = append(out.Proof, n)
		case there[n] && fresh:
			out.Idle = append(out.Idle, n)
		}
	}
	return nil
}

// passed are the names of the tests that passed in a check.
func (r *Runner) passed(ctx context.Context, c company.GateCheck) (map[string]bool, error) {
	out := map[string]bool{}
	if c.Names == "" {
		return out, nil
	}
	text, err := r.Load(ctx, c.Names)
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

// withTestsOf are the files of the base with the test files of the head, and
// how many of these differ.
func withTestsOf(ctx context.Context, m *gitops.Mirror, base, head company.OID) ([]gitops.Entry, int, error) {
	d, err := m.Diff(ctx, base, head, 0)
	if err != nil {
		return nil, 0, err
	}
	tests := map[string]bool{}
	for _, c := range d.Changes {
		if c.NewMode != 0 && c.NewMode != gitops.ModeGitlink && company.IsTest(c.Path) {
			tests[c.Path] = true
		}
	}
	if len(tests) == 0 {
		return nil, 0, nil
	}
	was, err := m.List(ctx, base)
	if err != nil {
		return nil, 0, err
	}
	now, err := m.List(ctx, head)
	if err != nil {
		return nil, 0, err
	}
	var out []gitops.Entry
	for _, e := range was {
		if !tests[e.Path] {
			out = append(out, e)
		}
	}
	for _, e := range now {
		if tests[e.Path] {
			out = append(out, e)
		}
	}
	return out, len(tests), nil
}
