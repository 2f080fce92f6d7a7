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
	"company/internal/container/image"
	"company/internal/gates"
	"company/internal/gitops"
)

// Judge runs one command on commits of a checkout, without a running company. Each run gets a
// fresh container without a network. Its image is that of a task on the base, with the packages in
// the commit's own lock files.
type Judge struct {
	task   *TaskImage
	path   string
	office string // label of its containers
	runner *gates.Runner
	gate   company.GateCommand
	used   map[string]bool // tags of its images
}

// Judgement is the result of the command on one commit.
type Judgement struct {
	Check  company.GateCheck
	Passed []string // names of tests, if the report has them
}

// OpenJudge returns a Judge that runs gates.test of the config. imageOptions.Base is the branch
// for the image. limit is the timeout of one run.
func OpenJudge(ctx context.Context, imageOptions TaskImageOptions, limit time.Duration) (*Judge, error) {
	task, err := OpenTaskImage(ctx, imageOptions)
	if err != nil {
		return nil, err
	}
	judge := &Judge{task: task, path: imageOptions.Checkout, office: "judge" + strings.ToLower(rand.Text()[:6]),
		used: map[string]bool{}}
	found, err := gates.Detect(ctx, task.mirror, task.request.Repo.Commit,
		gates.Options{Lint: gates.None, Types: gates.None, Build: gates.None,
			Test:     ToOverride(imageOptions.Config.Gates.Test),
			Services: imageOptions.Config.ServiceNames()})
	if err == nil && len(found.Gates) != 1 {
		err = company.E(company.EGates, "there is no command to judge by").Fix("set gates.test")
	}
	if err == nil {
		judge.gate = found.Gates[0]
		config := imageOptions.Config
		judge.runner, err = gates.NewRunner(gates.Runner{
			Runtime: task.runtime, Office: judge.office, Timeout: limit, Logger: imageOptions.Logger,
			Limits: container.Limits{
				MemoryBytes: int64(config.Workers.Memory), CPUs: min(config.Workers.CPUs, float64(runtime.NumCPU())),
				Pids: int64(config.Workers.PIDs), DiskBytes: int64(max(0, config.Workers.Disk)),
			},
		})
	}
	if err != nil {
		task.Close()
		return nil, err
	}
	return judge, nil
}

// Judge runs the command on the commit of a branch. An error means that there is no verdict.
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
		Mirror: j.task.mirror, Tree: tree, Gates: []company.GateCommand{j.gate},
		Image: gates.Image{Key: string(img.Key), ID: img.ID}, Label: "t1", Epoch: 1,
	})
	return Judgement{check, passed}, err
}

// imageFor builds the image of the base with the packages of a commit.
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

// RemoveImages removes the images that the judge built, and those with the given keys. It keeps
// layers with packages and toolchains, because other projects share them.
func (j *Judge) RemoveImages(ctx context.Context, keys ...string) error {
	entries, err := j.task.builder.List(ctx)
	if err != nil {
		return err
	}
	tags, past := map[string]bool{}, map[company.Hash]bool{} // tags of images, and keys of the layers with their history
	for _, imageEntry := range entries {
		if j.used[imageEntry.Tag] || slices.ContainsFunc(
			keys, func(key string) bool { return key != "" && imageEntry.IsNamed(key) }) {
			tags[imageEntry.Tag] = true
			for _, l := range imageEntry.Layers {
				past[l.Key] = past[l.Key] || l.Kind == historyLayer
			}
		}
	}
	_, err = j.task.builder.Prune(ctx, func(e image.ImageEntry) bool {
		return tags[e.Tag] || e.Kind == historyLayer && len(e.Layers) > 0 && past[e.Layers[len(e.Layers)-1].Key]
	})
	return err
}

// historyLayer is the kind of the layer that projects do not share.
const historyLayer = "repo"

// Close closes the parts opened by OpenJudge.
func (j *Judge) Close() { j.task.Close() }
