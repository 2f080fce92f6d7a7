// Package gates judges trees. It owns what the gates of a project are
// (detected at the base commit, or given in the config, and pinned), and
// running them: each check is the own command of a fresh, offline container
// into which the tree is streamed, and the daemon's exit code is the verdict.
//
// It promises that a verdict is about exactly the tree that it names, that
// test runs only if lint passed, and that a gate which cannot start is red or
// an error, never green. It does not parse what a check prints, and never
// believes what a container says of itself.
package gates

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/gitops"
)

// How the report of a check is read (company.GateCommand.Parse).
const (
	GoJSON   = "go-json"   // go test -json, on stdout
	TAP      = "tap"       // TAP 13 and 14, on stdout
	Cargo    = "cargo"     // the text of cargo test
	Unittest = "unittest"  // the text of python3 -m unittest -v
	Lines    = "lines"     // a finding per line: path:line:column: text
	JUnit    = "junit"     // JUnit XML in ReportFile
	JestJSON = "jest-json" // what jest --json writes, in ReportFile
)

// ReportFile is where, in a gate's container, a check leaves its report.
const ReportFile = "/tmp/company-report"

// Hash names a set of pinned gates.
func Hash(cmds []company.GateCommand) company.Hash {
	if cmds == nil {
		cmds = []company.GateCommand{}
	}
	h, err := company.HashOf(cmds)
	if err != nil {
		panic(fmt.Sprintf("gates: commands without canonical form: %v", err))
	}
	return h
}

// Runner runs gates in containers.
type Runner struct {
	Runtime container.Runtime
	Office  string
	Limits  container.Limits
	Timeout time.Duration // of one check; 0: 30 min
	// Keep stores the whole output of a check and names it.
	Keep   func(ctx context.Context, output []byte) (company.Hash, error)
	Logger *slog.Logger
	// Image is the image that a tree of a task is judged in; where the tree's
	// dependencies may not be had, refused says which, and that is the
	// verdict. Nil: the task's own image judges every tree.
	Image func(ctx context.Context, t *company.Task, m *gitops.Mirror, tree company.OID) (image, refused string, err error)
}

// Job is one tree to be judged.
type Job struct {
	Mirror *gitops.Mirror
	Tree   company.OID
	Gates  []company.GateCommand
	Hash   company.Hash
	Image  string
	Label  string // subtask or task: whose containers these are
	Epoch  uint64
	// Started is told before each check, for the feed. It may be nil.
	Started func(name string)
}

// Run judges a tree. An error means that no verdict could be reached (the
// daemon is gone, the container ran out of memory): it is not the work's fault
// and the effect is tried again.
func (r *Runner) Run(ctx context.Context, j Job) (company.GateResult, error) {
	res := company.GateResult{Tree: j.Tree, GateHash: j.Hash, Image: j.Image}
	if len(j.Gates) == 0 {
		res.Untested = true
		return res, nil
	}
	passed := true
	for i, g := range j.Gates {
		if !passed {
			res.Checks = append(res.Checks, company.GateCheck{Name: g.Name, Command: g.Command, Skipped: true})
			continue
		}
		if j.Started != nil {
			j.Started(g.Name)
		}
		check, err := r.check(ctx, j, i, g)
		if err != nil {
			return company.GateResult{}, err
		}
		res.Checks = append(res.Checks, check)
		passed = check.Passed
	}
	res.Passed = passed
	return res, nil
}

// script is what the container's shell is given.
func script(g company.GateCommand) string {
	if g.Dir == "" {
		return g.Command
	}
	return "cd -- " + quoted(g.Dir) + " || exit\n" + g.Command
}

var errTooLong = errors.New("gates: the check ran too long")

func (r *Runner) check(ctx context.Context, j Job, n int, g company.GateCommand) (company.GateCheck, error) {
	limit := r.Timeout
	if limit == 0 {
		limit = 30 * time.Minute
	}
	cctx, cancel := context.WithTimeoutCause(ctx, limit, errTooLong)
	defer cancel()
	labels := container.Labels{Office: r.Office, Run: j.Label, Epoch: j.Epoch, Role: "gate"}
	out := &output{}
	began := time.Now()
	tr, tw := io.Pipe()
	tarred := make(chan struct{})
	go func() {
		defer close(tarred)
		tw.CloseWithError(j.Mirror.Tar(cctx, j.Tree, tw))
	}()
	exit, err := container.RunGate(cctx, r.Runtime, container.Spec{
		// The tree and the check are part of the name: two gates of one
		// subtask never want the same container.
		Name: labels.Name("gate", j.Tree.Short(), fmt.Sprint(n)), Image: j.Image, Labels: labels, Limits: r.Limits,
		Command: []string{"/usr/local/bin/toolbox", "gate", "--", "/bin/sh", "-c", script(g)},
	}, tr, out, out)
	tr.CloseWithError(io.ErrClosedPipe)
	<-tarred
	check := company.GateCheck{Name: g.Name, Command: g.Command, Took: time.Since(began), Output: out.text()}
	switch {
	case err != nil && errors.Is(context.Cause(cctx), errTooLong) && ctx.Err() == nil:
		check.ExitCode = 124
		check.Output += fmt.Sprintf("\n[the check was ended after %s]", limit)
	case err != nil:
		return check, err
	case exit.OOMKilled:
		return check, company.E(company.EGates, "the "+g.Name+" gate ran out of memory").
			Because("the container's memory limit was hit; that says nothing about the work").Fix("raise workers.memory")
	default:
		check.ExitCode, check.Passed = exit.Code, exit.Code == 0
	}
	if r.Keep != nil {
		h, err := r.Keep(ctx, out.log)
		if err != nil {
			return check, err
		}
		check.Log = h
	}
	return check, nil
}

// Judge reaches a verdict on a tree for a task: from the cache where the same
// tree was judged before, else by running the gates.
func (r *Runner) Judge(ctx context.Context, s *company.State, t *company.Task, m *gitops.Mirror, tree company.OID, label string, started func(string)) (company.GateResult, error) {
	p, image := t.Prepared, t.Prepared.Image
	if r.Image != nil && len(p.Gates) > 0 {
		other, refused, err := r.Image(ctx, t, m, tree)
		if err != nil {
			return company.GateResult{}, err
		}
		if image = other; refused != "" {
			return notPrepared(p, tree, image, refused), nil
		}
	}
	if hit, ok := s.Verdicts[company.GateKey(tree, p.GateHash, image)]; ok {
		hit.Cached = true
		return hit, nil
	}
	return r.Run(ctx, Job{Mirror: m, Tree: tree, Gates: p.Gates, Hash: p.GateHash, Image: image,
		Label: label, Epoch: s.Office.Epoch, Started: started})
}

// notPrepared is the verdict on a tree whose dependencies may not be had, or
// cannot be: red, before any check.
func notPrepared(p *company.Prepared, tree company.OID, image, why string) company.GateResult {
	res := company.GateResult{Tree: tree, GateHash: p.GateHash, Image: image}
	for i, g := range p.Gates {
		c := company.GateCheck{Name: g.Name, Command: g.Command, Skipped: i > 0}
		if i == 0 {
			c.ExitCode, c.Output = 1, why
		}
		res.Checks = append(res.Checks, c)
	}
	return res
}
