package app

import (
	"context"
	"errors"
	"slices"
	"time"

	"company/internal/company"
	"company/internal/gitops"
	"company/internal/image"
	"company/internal/view"
)

// DockerError is why the daemon's leftovers are missing from a list of garbage.
type DockerError struct{ Err error }

func (e *DockerError) Error() string { return e.Err.Error() }
func (e *DockerError) Unwrap() error { return e.Err }

// FindGarbage lists the leftovers of ended tasks, with work that no branch
// holds: of tasks that ended before the retention, or of all with recent. A
// *DockerError comes beside the list of this disk. The function that it returns
// closes the opened parts, after the removal.
func (h *App) FindGarbage(ctx context.Context, recent bool) (all []Garbage, done func(), err error) {
	k := retentionPolicy{state: h.View(), office: h.office, before: h.Now(), unmerged: true}
	if !recent {
		k.before = k.before.AddDate(0, 0, -h.loaded.Config.RetentionDays)
	}
	found, err := h.listGarbage(ctx, k)
	if err != nil {
		return nil, func() {}, err
	}
	docker, done, err := h.listDockerGarbage(ctx, k)
	if err != nil {
		err = &DockerError{err}
	}
	return sortGarbage(append(found, docker...)), done, err
}

// listGarbage are those on this disk.
func (h *App) listGarbage(ctx context.Context, k retentionPolicy) ([]Garbage, error) {
	files, err := k.listRunFiles(ctx)
	if err != nil {
		return nil, company.E(company.EConfig, "the folders of runs cannot be read").Wrap(err).Fix("see that they are yours")
	}
	cfg, err := GitConfig(h.office.Paths, h.loaded.Config, h.env)
	if err != nil {
		return nil, err
	}
	store, err := gitops.Open(cfg)
	if err != nil {
		return nil, err
	}
	repos, err := k.listRepositories(ctx, store, cfg.Remote)
	return append(files, repos...), err
}

// listDockerGarbage are those that the daemon keeps. What it opened is closed by
// the function that it returns, after the removal.
func (h *App) listDockerGarbage(ctx context.Context, k retentionPolicy) (all []Garbage, done func(), err error) {
	done = func() {}
	rt, err := OpenRuntime(ctx, h.log)
	if err != nil {
		return nil, done, err
	}
	done = func() { _ = rt.Close() } // it started nothing
	images, err := image.New(image.Config{Logger: h.log})
	if err != nil {
		return nil, done, err
	}
	done = func() { images.Close(); _ = rt.Close() }
	if all, err = k.listContainers(ctx, rt); err != nil {
		return nil, done, err
	}
	old, err := k.listImages(ctx, images)
	return append(all, old...), done, err
}

// retentionJob is the round that puts old things away while a company serves.
func (h *App) retentionJob(store *gitops.Store, images *image.Builder) periodicJob {
	return periodicJob{name: "cleanup", interval: time.Hour, limit: 10 * time.Minute, run: func(ctx context.Context) error {
		// What ended this moment may still be letting go.
		k := retentionPolicy{state: h.View(), office: h.office, before: h.Now().Add(-10*time.Minute).AddDate(0, 0, -h.loaded.Config.RetentionDays)}
		settled := h.settleRuns(ctx)
		all, err := k.listRunFiles(ctx)
		if err != nil {
			return err
		}
		repos, err := k.listRepositories(ctx, store, h.loaded.Config.Git.Remote)
		if err != nil {
			return err
		}
		old, err := k.listImages(ctx, images)
		var failed []error
		for _, l := range sortGarbage(append(append(all, repos...), old...)) {
			failed = append(failed, l.Remove(ctx))
		}
		return errors.Join(append(failed, err, settled)...)
	}}
}

// listPrunable are the images that no task needs any more: of this office or,
// with all, of this machine, parents last.
func ListPrunable(ctx context.Context, used []view.TaskImage, b *image.Builder, all bool) ([]Garbage, error) {
	var keep, gone []string
	for _, t := range used {
		switch {
		case t.Open || t.Needed && !all:
			keep = append(keep, t.Image)
		default:
			gone = append(gone, t.Image)
		}
	}
	if !all {
		// A task that ended this moment needs no image; a follow-up is based on
		// the image of the task that it follows, and open pull requests keep it.
		return listUnusedImages(ctx, b, keep, gone)
	}
	unused, err := b.Unused(ctx, keep, false)
	if err != nil {
		return nil, err
	}
	entries, err := b.List(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b image.ImageEntry) int { return len(b.Layers) - len(a.Layers) })
	var out []Garbage
	for _, e := range entries {
		if unused(e) {
			out = append(out, Garbage{Kind: "image", Name: e.Tag, removal: func(ctx context.Context) error {
				_, err := b.Prune(ctx, func(o image.ImageEntry) bool { return o.Tag == e.Tag })
				return err
			}})
		}
	}
	return out, nil
}
