package upkeep

import (
	"context"
	"errors"
	"slices"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/gitops"
	"company/internal/image"
)

// policyOf names the parts that are still needed: of tasks that ended after the retention, or
// with recent of none that has ended. It also finds work that no branch holds.
func (u *Keeper) policyOf(recent bool) retentionPolicy {
	k := retentionPolicy{keeper: u, state: u.State.View(), office: u.Office, before: u.State.Now(), unmerged: true}
	if !recent {
		k.before = k.before.AddDate(0, 0, -u.RetentionDays)
	}
	return k
}

// FindGarbage finds what ended tasks have left on this disk, work that no branch
// holds with it: of tasks that ended before the retention, or of all with recent.
func (u *Keeper) FindGarbage(ctx context.Context, recent bool, store *gitops.Store) ([]Garbage, error) {
	k := u.policyOf(recent)
	files, err := k.listRunFiles(ctx)
	if err != nil {
		return nil, company.E(company.EConfig, "the folders of runs cannot be read").Wrap(err).Fix("see that they are yours")
	}
	repos, err := k.listRepositories(ctx, store, u.Remote)
	if err != nil {
		return append(files, repos...), err
	}
	blobs, err := k.listBlobs(ctx, k.before)
	if blobs != nil {
		repos = append(repos, *blobs)
	}
	return append(files, repos...), err
}

// FindDockerGarbage finds the same of what the daemon keeps. A company at work removes its
// containers itself: with atWork none is found.
func (u *Keeper) FindDockerGarbage(ctx context.Context, recent, atWork bool, rt container.Runtime, images *image.Builder) ([]Garbage, error) {
	k := u.policyOf(recent)
	var all []Garbage
	if !atWork {
		var err error
		if all, err = k.listContainers(ctx, rt); err != nil {
			return nil, err
		}
	}
	old, err := k.listImages(ctx, images)
	return append(all, old...), err
}

// RetentionJob is the round that puts old tasks away in a company that serves.
func (u *Keeper) RetentionJob(store *gitops.Store, images *image.Builder) Job {
	return Job{Name: "cleanup", Interval: time.Hour, Limit: 10 * time.Minute, Run: func(ctx context.Context) error {
		// What ended this moment may still be letting go.
		k := retentionPolicy{keeper: u, state: u.State.View(), office: u.Office, before: u.State.Now().Add(-10*time.Minute).AddDate(0, 0, -u.RetentionDays)}
		settled := u.SettleRuns(ctx, false)
		all, err := k.listRunFiles(ctx)
		if err != nil {
			return err
		}
		repos, err := k.listRepositories(ctx, store, u.Remote)
		if err != nil {
			return err
		}
		old, err := k.listImages(ctx, images)
		var failed []error
		blobs, blobErr := u.listOldBlobs(ctx, k)
		for _, l := range SortGarbage(slices.Concat(all, repos, old, blobs)) {
			if err := l.Remove(ctx); !errors.Is(err, errInUse) {
				failed = append(failed, err)
			}
		}
		return errors.Join(append(failed, err, blobErr, settled)...)
	}}
}

// listOldBlobs is the blobs that a serving company may remove, once a day.
func (u *Keeper) listOldBlobs(ctx context.Context, k retentionPolicy) ([]Garbage, error) {
	now := u.State.Now()
	if now.Before(u.collected.Add(collectEvery)) {
		return nil, nil
	}
	before := k.before
	// A blob has the time of the wall clock, which the office's is ahead of once it was set back.
	for _, clock := range []time.Time{now, time.Now()} {
		if most := clock.Add(-minBlobAge); before.After(most) {
			before = most
		}
	}
	blobs, err := k.listBlobs(ctx, before)
	if err != nil {
		return nil, err
	}
	u.collected = now
	if blobs == nil {
		return nil, nil
	}
	return []Garbage{*blobs}, nil
}
