package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"

	"company/internal/company"
	"company/internal/container"
	"company/internal/container/docker"
	"company/internal/gates"
	"company/internal/gitops"
)

// judge runs the hidden tests on the branches of a lab. Each run has a fresh container without a network. Its image
// has the packages in the branch's own lock files.
type judge struct {
	b       *bencher
	l       *lab
	office  string // in which images are built
	mirror  *gitops.Mirror
	runtime container.Runtime
	runner  *gates.Runner
}

// judgement is the result of the hidden tests on one commit.
type judgement struct {
	Check  company.GateCheck
	Passed []string // names of tests, if the report has them
}

// openJudge opens the judge of a case. The caller closes it.
func (b *bencher) openJudge(ctx context.Context, l *lab) (*judge, error) {
	store, err := gitops.Open(gitops.Config{Root: l.dir + ".git"})
	if err != nil {
		return nil, err
	}
	mirror, err := store.Mirror(ctx, "case", l.dir)
	if err != nil {
		return nil, err
	}
	j := &judge{b: b, l: l, office: l.dir + ".office", mirror: mirror}
	if err := b.writeOffice(j.office, []byte(officeConfig)); err != nil {
		return nil, err
	}
	logger := slog.New(slog.DiscardHandler)
	if j.runtime, err = docker.Open(ctx, docker.Options{Log: logger}); err != nil {
		return nil, err
	}
	j.runner, err = gates.NewRunner(gates.Runner{Runtime: j.runtime, Office: filepath.Base(b.dir),
		Timeout: l.c.TestTime, Logger: logger, Limits: container.Limits{}.WithDefaults()})
	if err != nil {
		err = errors.Join(err, j.close())
	}
	return j, err
}

func (j *judge) close() error { return j.runtime.Close() }

// run runs the hidden tests on a branch. An error means that there is no verdict.
func (j *judge) run(ctx context.Context, branch string) (judgement, error) {
	var built struct{ ID, Tag string }
	if err := j.b.runJSON(ctx, j.l.dir, &built, "image", "build", "--base", branch, "--office", j.office,
		"--set", "gates.test="+j.l.c.Run); err != nil {
		return judgement{}, err
	}
	info, err := j.mirror.FetchBase(ctx, nil, gitops.Source{Path: j.l.dir}, branch)
	if err != nil {
		return judgement{}, err
	}
	tree, err := j.mirror.Tree(ctx, info.OID)
	if err != nil {
		return judgement{}, err
	}
	found, err := gates.Detect(ctx, j.mirror, info.OID, gates.Options{Lint: gates.None, Types: gates.None,
		Build: gates.None, Test: gates.CommandOverride(j.l.c.Run)})
	if err != nil {
		return judgement{}, err
	}
	check, passed, err := j.runner.RunOnce(ctx, gates.Job{Mirror: j.mirror, Tree: tree, Gates: found.Gates[:1],
		Image: gates.Image{Key: built.Tag, ID: built.ID}, Label: "t1", Epoch: 1})
	return judgement{check, passed}, err
}

// runJSON runs a command of the company in a folder, with the settings of all attempts, and reads its result.
func (b *bencher) runJSON(ctx context.Context, dir string, into any, args ...string) error {
	for _, setting := range b.listSettings() {
		args = append(args, "--set", setting)
	}
	cmd, said := b.newCommand(ctx, dir, append(args, "-o", "json")...)
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err == nil {
		err = json.Unmarshal(out, into)
	}
	if err != nil {
		return company.E(company.EInternal, "company "+args[0]+" failed").Because(said.lastError()).Wrap(err)
	}
	return nil
}
