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
	"company/internal/container/service"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/gitops"
)

// A suite that is slow on the base is run in two steps. For a ticket, it runs the packages that the ticket touches
// and those that depend on them. For the merged tree, it runs all. Failures that the first step misses, for example
// in a test that reads another package's source, are found by the second.

// EvaluateTicket is like Evaluate, for a ticket that is to be merged onto a tested commit. Of a slow suite it runs
// only the tests that the change since then can affect, if these are known and at most half of all. An existing
// verdict on the whole tree is used instead.
func (r *Runner) EvaluateTicket(
	ctx context.Context, state *company.State, task *company.Task, mirror *gitops.Mirror, onto, tree company.OID,
	label string,
	started func(string),
) (company.GateResult, error) {
	return r.evaluateTree(ctx, state, task,
		Job{Mirror: mirror, Tree: tree, Since: onto, Label: label, OnCheckStarted: started,
			services: service.AreIn(task.Prepared.ImageLayers)})
}

// takesFirstStep reports whether a check is run in two steps: it is a test gate that is slow on the base, and its
// failures there, if any, have names. In a replay the record decides whether it was slow.
func (r *Runner) takesFirstStep(job Job, i int) (ecosystem.PartTester, bool) {
	base := job.baselineCheck(i)
	if job.Since == "" || !job.Gates[i].IsTest() || base == nil || base.Absent || base.Skipped {
		return nil, false
	}
	slow := r.FirstStepAfter > 0 && base.RunTime() > r.FirstStepAfter
	if r.Record != nil {
		if part, known := r.Record.RanPart(job.Tree, i); known {
			slow = part
		}
	}
	if !slow {
		return nil, false
	}
	if base.ExitCode != 0 && (base.Counts == nil || base.Counts.Failed != len(base.Tests) || len(base.Unrun()) > 0) {
		return nil, false
	}
	e, ok := catalog.PlanterOf(job.Gates[i].Plant).(ecosystem.PartTester)
	return e, ok && e.ListCommand(job.Gates[i], nil) != ""
}

// narrowCheck returns a job whose check only runs the tests that its change can affect. part is nil if all tests must
// run.
func (r *Runner) narrowCheck(ctx context.Context, job Job, i int) (Job, *ecosystem.TestPart, error) {
	partTester, ok := r.takesFirstStep(job, i)
	if !ok {
		return job, nil, nil
	}
	diff, err := job.Mirror.Diff(ctx, job.Since, job.Tree, 0)
	if err != nil {
		return job, nil, err
	}
	var changed []string
	for _, fileChange := range diff.Changes {
		if !isPlainMode(fileChange.OldMode) || !isPlainMode(fileChange.NewMode) {
			return job, nil, nil // a link's path does not show what it links to
		}
		changed = append(changed, fileChange.Path)
	}
	gate := job.Gates[i]
	output, ok, err := r.listTests(ctx, job, i, partTester.ListCommand(gate, changed))
	if err != nil || !ok {
		return job, nil, err
	}
	part, ok := partTester.FindPart(gate, changed, output)
	gateCommands := job.Gates
	job.Gates = slices.Clone(gateCommands)
	if !ok || len(part.Names) == 0 || 2*len(part.Names) > part.Of ||
		!job.runReport(i, partTester.PartCommand(gate, part.Names)) {
		job.Gates = gateCommands
		return job, nil, nil
	}
	job.part = &part
	return job, &part, nil
}

// maxArgument limits the script of a check on some folders. Linux allows 128 KiB in one program argument.
const maxArgument = 100 << 10

// runReport makes a check run a command on some folders only. It returns false and leaves the check unchanged if the
// command is too long for a shell.
func (j Job) runReport(i int, command string) bool {
	gateCommand := j.Gates[i]
	gateCommand.Report, gateCommand.Probe = command, ""
	if len(checkScript(gateCommand, false)) > maxArgument {
		return false
	}
	j.Gates[i] = gateCommand
	return true
}

// listTests runs a command on a job's tree and returns its output. ok is false if it failed or printed too much.
func (r *Runner) listTests(ctx context.Context, job Job, i int, command string) (output string, ok bool, err error) {
	cctx, cancel := context.WithTimeoutCause(ctx, leastTimeout, errTimeout)
	defer cancel()
	labels := container.Labels{Office: r.Office, Run: job.Label, Epoch: job.Epoch, Role: "gate"}
	out := &boundedBuffer{most: maxReport}
	exit, err := r.runScript(cctx, job,
		container.Spec{Name: labels.Name("list", job.Tree.Short(), fmt.Sprint(i)), Labels: labels, Limits: r.limitsFor(job)},
		checkScript(company.GateCommand{Command: command, Dir: job.Gates[i].Dir}, false), out, io.Discard)
	if err != nil && !errors.Is(err, errNotBegun) && ctx.Err() == nil && cctx.Err() != nil {
		return "", false, nil // it took too long
	}
	if errors.Is(err, errDiskFull) && ctx.Err() == nil {
		return "", false, nil // the check itself gets more space
	}
	return out.text.String(), exit.Code == 0 && !exit.OOMKilled && !out.full, err
}

// boundedBuffer keeps the text that is written to it up to a limit.
type boundedBuffer struct {
	text bytes.Buffer
	most int
	full bool // more was written
}

// Write never fails, because a failing writer would end the container.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.full = b.full || b.text.Len()+len(p) > b.most; !b.full {
		b.text.Write(p)
	}
	return len(p), nil
}

// wasToRun reports whether a job's tests include the given test of the base.
func (j Job) wasToRun(test string) bool { return j.part == nil || j.part.Has(test) }

// isPlainMode reports whether a side of a change is a regular file or missing.
func isPlainMode(mode int) bool {
	return mode == 0 || mode == gitops.ModeFile || mode == gitops.ModeExec
}

// isDecidedBy reports whether the result of a part is the verdict. A part that ran no test decides nothing. A part
// may also be red only because it is a part; then all tests are run. With services, any part may, because tests may
// depend on data left by earlier ones.
func (j Job) isDecidedBy(i int, gateCheck company.GateCheck) bool {
	if gateCheck.Against(j.baselineCheck(i)) != company.ComparedFailed {
		return gateCheck.Counts != nil && gateCheck.Counts.Passed+gateCheck.Counts.Failed > 0
	}
	e, ok := catalog.PlanterOf(j.Gates[i].Plant).(ecosystem.PartTester)
	return ok && !j.services && e.IsRedForAll(gateCheck)
}
