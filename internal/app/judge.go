package app

import (
	"context"
	"crypto/rand"
	"runtime"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/image"
)

// Judge runs one command on commits of a checkout, outside of a working company: each
// time in a fresh container without a network, of the image that a task on the base
// would have, with the packages that the commit's own lock files name.
type Judge struct {
	task   *TaskImage
	path   string
	office string // in the labels of its containers
	runner *gates.Runner
	gate   company.GateCommand
	used   map[string]bool // tags of its images
}

// Judgement is how the command ended on one commit.
type Judgement struct {
	Check  company.GateCheck
	Passed []string // names of tests, where the report tells them
}

// OpenJudge makes a judge of what gates.test of the config runs; o.Base is the branch
// whose image it takes. One run of the command has the given time.
func OpenJudge(ctx context.Context, o TaskImageOptions, limit time.Duration) (*Judge, error) {
	task, err := OpenTaskImage(ctx, o)
	if err != nil {
		return nil, err
	}
	j := &Judge{task: task, path: o.Checkout, office: "judge" + strings.ToLower(rand.Text()[:6]), used: map[string]bool{}}
	found, err := gates.Detect(ctx, task.mirror, task.request.Repo.Commit, gates.Options{Lint: gates.None, Types: gates.None, Build: gates.None, Test: ToOverride(o.Config.Gates.Test), Services: o.Config.ServiceNames()})
	if err == nil && len(found.Gates) != 1 {
		err = company.E(company.EGates, "there is no command to judge by").Fix("set gates.test")
	}
	if err == nil {
		j.gate = found.Gates[0]
		c := o.Config
		j.runner, err = gates.NewRunner(gates.Runner{
			Runtime: task.runtime, Office: j.office, Timeout: limit, Logger: o.Logger,
			Limits: container.Limits{
				MemoryBytes: int64(c.Workers.Memory), CPUs: min(c.Workers.CPUs, float64(runtime.NumCPU())), Pids: int64(c.Workers.PIDs), DiskBytes: int64(max(0, c.Workers.Disk)),
			},
		})
	}
	if err != nil {
		task.Close()
		return nil, err
	}
	return j, nil
}

// Judge runs the command on the commit of a branch. An error means that no verdict could
// be reached.
func (j *Judge) Judge(ctx context.Context, branch string) (Judgement, error) {
	info, err := j.task.mirror.FetchBase(ctx, nil, gitops.Source{Path: j.path}, branch)
	if err != nil {
		return Judgement{}, err
	}
	tree, err := j.task.mirror.Tree(ctx, info.OID)
	if err != nil {
		return Judgement{}, err
	}
	img, err := j.imageFor(ctx, info.OID)
	if err != nil {
		return Judgement{}, err
	}
	check, passed, err := j.runner.RunOnce(ctx, gates.Job{
		Mirror: j.task.mirror, Tree: tree, Gates: []company.GateCommand{j.gate}, Image: gates.Image{Key: string(img.Key), ID: img.ID}, Label: "t1", Epoch: 1,
	})
	return Judgement{check, passed}, err
}

// imageFor makes the image of the base with the packages of a commit.
func (j *Judge) imageFor(ctx context.Context, at company.OID) (image.Image, error) {
	req, repo := j.task.request, *j.task.request.Repo
	req.Repo = &repo
	if at != repo.Commit {
		repo.Locks = at
	}
	resolved, err := j.task.builder.Resolve(ctx, req)
	if err != nil {
		return image.Image{}, err
	}
	if len(resolved.Locks) > 0 {
		if repo.Locks, err = j.task.mirror.AddFiles(ctx, at, resolved.Locks); err != nil {
			return image.Image{}, err
		}
	}
	img, err := j.task.builder.Ensure(ctx, req)
	if err == nil {
		j.used[img.Tag] = true
	}
	return img, err
}

// RemoveImages removes the images that the judge had made, and those with these keys. The
// layers with packages and toolchains stay: other projects have them, too.
func (j *Judge) RemoveImages(ctx context.Context, keys ...string) error {
	entries, err := j.task.builder.List(ctx)
	if err != nil {
		return err
	}
	tags, past := map[string]bool{}, map[company.Hash]bool{} // of images, and of the layers with their history
	for _, e := range entries {
		if j.used[e.Tag] || slices.ContainsFunc(keys, func(key string) bool { return key != "" && e.IsNamed(key) }) {
			tags[e.Tag] = true
			for _, l := range e.Layers {
				past[l.Key] = past[l.Key] || l.Kind == historyLayer
			}
		}
	}
	_, err = j.task.builder.Prune(ctx, func(e image.ImageEntry) bool {
		return tags[e.Tag] || e.Kind == historyLayer && len(e.Layers) > 0 && past[e.Layers[len(e.Layers)-1].Key]
	})
	return err
}

// historyLayer is the kind of the layer that no other project has.
const historyLayer = "repo"

// Close closes what the judge was made with.
func (j *Judge) Close() { j.task.Close() }
