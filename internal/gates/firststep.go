package gates

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"company/internal/company"
	"company/internal/container"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/gitops"
	"company/internal/service"
)

// A suite that is slow on the base is run in two steps: for a ticket the packages that it
// touches and those that depend on them, for the merged tree all. What the first step
// misses, such as a test that reads the source of another package, the second one finds.

// EvaluateTicket is Evaluate for a ticket that is to be merged onto a tested commit: of a
// slow suite the tests are run that the change from there can reach, where these are known
// and not more than half. A verdict on the whole tree that is there already counts instead.
func (r *Runner) EvaluateTicket(ctx context.Context, s *company.State, t *company.Task, m *gitops.Mirror, onto, tree company.OID, label string, started func(string)) (company.GateResult, error) {
	return r.evaluateTree(ctx, s, t, Job{Mirror: m, Tree: tree, Since: onto, Label: label, OnCheckStarted: started, services: service.AreIn(t.Prepared.ImageLayers)})
}

// takesFirstStep says whether a check is run in two steps: it is a test that takes long on
// the base, and whose failures there, if any, have names. In a replay the record tells what
// took long.
func (r *Runner) takesFirstStep(j Job, i int) (ecosystem.PartTester, bool) {
	base := j.baselineCheck(i)
	if j.Since == "" || !j.Gates[i].IsTest() || base == nil || base.Absent || base.Skipped {
		return nil, false
	}
	slow := r.FirstStepAfter > 0 && base.RunTime() > r.FirstStepAfter
	if r.Record != nil {
		if part, known := r.Record.RanPart(j.Tree, i); known {
			slow = part
		}
	}
	if !slow {
		return nil, false
	}
	if base.ExitCode != 0 && (base.Counts == nil || base.Counts.Failed != len(base.Tests) || len(base.Unrun()) > 0) {
		return nil, false
	}
	e, ok := catalog.PlanterOf(j.Gates[i].Plant).(ecosystem.PartTester)
	return e, ok && e.ListCommand(j.Gates[i], nil) != ""
}

// narrowCheck gives a job whose check runs the tests that its change can reach; part is nil
// where all are to be run.
func (r *Runner) narrowCheck(ctx context.Context, j Job, i int) (Job, *ecosystem.TestPart, error) {
	e, ok := r.takesFirstStep(j, i)
	if !ok {
		return j, nil, nil
	}
	d, err := j.Mirror.Diff(ctx, j.Since, j.Tree, 0)
	if err != nil {
		return j, nil, err
	}
	var changed []string
	for _, c := range d.Changes {
		if !isPlainMode(c.OldMode) || !isPlainMode(c.NewMode) {
			return j, nil, nil // what a link stands for its place does not tell
		}
		changed = append(changed, c.Path)
	}
	gate := j.Gates[i]
	output, ok, err := r.listTests(ctx, j, i, e.ListCommand(gate, changed))
	if err != nil || !ok {
		return j, nil, err
	}
	part, ok := e.FindPart(gate, changed, output)
	all := j.Gates
	j.Gates = slices.Clone(all)
	if !ok || len(part.Names) == 0 || 2*len(part.Names) > part.Of || !j.runReport(i, e.PartCommand(gate, part.Names)) {
		j.Gates = all
		return j, nil, nil
	}
	j.part = &part
	return j, &part, nil
}

// maxArgument is how long the script of a check on some folders may be: Linux takes 128 KiB
// in one argument of a program.
const maxArgument = 100 << 10

// runReport has a check run a command of some folders alone, and says whether it does: one
// that is too long for a shell leaves the check as it was.
func (j Job) runReport(i int, command string) bool {
	g := j.Gates[i]
	g.Report, g.Probe = command, ""
	if len(checkScript(g, false)) > maxArgument {
		return false
	}
	j.Gates[i] = g
	return true
}

// listTests runs a command on a job's tree and gives its output. Not ok: it failed, or
// printed too much.
func (r *Runner) listTests(ctx context.Context, j Job, i int, command string) (output string, ok bool, err error) {
	cctx, cancel := context.WithTimeoutCause(ctx, leastTimeout, errTimeout)
	defer cancel()
	labels := container.Labels{Office: r.Office, Run: j.Label, Epoch: j.Epoch, Role: "gate"}
	out := &boundedBuffer{most: maxReport}
	exit, err := r.runScript(cctx, j, container.Spec{Name: labels.Name("list", j.Tree.Short(), fmt.Sprint(i)), Labels: labels, Limits: r.limitsFor(j)},
		checkScript(company.GateCommand{Command: command, Dir: j.Gates[i].Dir}, false), out, io.Discard)
	if err != nil && !errors.Is(err, errNotBegun) && ctx.Err() == nil && cctx.Err() != nil {
		return "", false, nil // it took too long
	}
	if errors.Is(err, errDiskFull) && ctx.Err() == nil {
		return "", false, nil // the check itself gets more room
	}
	return out.text.String(), exit.Code == 0 && !exit.OOMKilled && !out.full, err
}

// boundedBuffer keeps the first bytes that are written to it.
type boundedBuffer struct {
	text bytes.Buffer
	most int
	full bool // more was written
}

// Write never fails: a failing writer would end the container.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.full = b.full || b.text.Len()+len(p) > b.most; !b.full {
		b.text.Write(p)
	}
	return len(p), nil
}

// wasToRun says whether a test of the base is among those that a job runs, by its name.
func (j Job) wasToRun(test string) bool { return j.part == nil || j.part.Has(test) }

// isPlainMode says whether a side of a change is a file, or none.
func isPlainMode(mode int) bool {
	return mode == 0 || mode == gitops.ModeFile || mode == gitops.ModeExec
}

// isDecidedBy says whether the result of a part is the verdict of a first step. One that ran no
// test shows nothing, and one may be red for being a part: then all is run. With services
// each may be: tests find there what those before them left.
func (j Job) isDecidedBy(i int, c company.GateCheck) bool {
	if c.Against(j.baselineCheck(i)) != company.ComparedFailed {
		return c.Counts != nil && c.Counts.Passed+c.Counts.Failed > 0
	}
	e, ok := catalog.PlanterOf(j.Gates[i].Plant).(ecosystem.PartTester)
	return ok && !j.services && e.IsRedForAll(c)
}
