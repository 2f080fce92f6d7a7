package upkeep

import (
	"context"
	"errors"
	"slices"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/container/image"
	"company/internal/gitops"
)

// policyOf returns a policy that keeps the data of tasks that ended within the retention period. With recent, it keeps
// no data of ended tasks. It also finds work that is on no branch.
func (u *Keeper) policyOf(recent bool) retentionPolicy {
	policy := retentionPolicy{keeper: u, state: u.State.View(), office: u.Office, before: u.State.Now(), unmerged: true}
	if !recent {
		policy.before = policy.before.AddDate(0, 0, -u.RetentionDays)
	}
	return policy
}

// FindGarbage finds the files of ended tasks on this disk, including work that is on no branch. It covers tasks that
// ended before the retention period, or with recent all ended tasks.
func (u *Keeper) FindGarbage(ctx context.Context, recent bool, store *gitops.Store) ([]Garbage, error) {
	policy := u.policyOf(recent)
	files, err := policy.listRunFiles(ctx)
	if err != nil {
		return nil, company.E(company.EConfig, "cannot read the folders of runs").Wrap(err).Fix("check that you own them")
	}
	repos, err := policy.listRepositories(ctx, store, u.Remote)
	if err != nil {
		return append(files, repos...), err
	}
	blobs, err := policy.listBlobs(ctx, policy.before)
	if blobs != nil {
		repos = append(repos, *blobs)
	}
	return append(files, repos...), err
}

// FindDockerGarbage finds the same in the Docker daemon. With atWork it skips containers, because a company at work
// removes its own.
func (u *Keeper) FindDockerGarbage(
	ctx context.Context, recent, atWork bool, rt container.Runtime, images *image.Builder,
) ([]Garbage, error) {
	policy := u.policyOf(recent)
	var all []Garbage
	if !atWork {
		var err error
		if all, err = policy.listContainers(ctx, rt); err != nil {
			return nil, err
		}
	}
	old, err := policy.listImages(ctx, images)
	return append(all, old...), err
}

// RetentionJob returns the job that removes data of old tasks in a serving company.
func (u *Keeper) RetentionJob(store *gitops.Store, images *image.Builder) Job {
	return Job{Name: "cleanup", Interval: time.Hour, Limit: 10 * time.Minute, Run: func(ctx context.Context) error {
		// A task that just ended may still be releasing resources.
		policy := retentionPolicy{keeper: u, state: u.State.View(), office: u.Office,
			before: u.State.Now().Add(-10*time.Minute).AddDate(0, 0, -u.RetentionDays)}
		settled := u.SettleRuns(ctx, false)
		all, err := policy.listRunFiles(ctx)
		if err != nil {
			return err
		}
		repos, err := policy.listRepositories(ctx, store, u.Remote)
		if err != nil {
			return err
		}
		old, err := policy.listImages(ctx, images)
		var failed []error
		blobs, blobErr := u.listOldBlobs(ctx, policy)
		for _, l := range SortGarbage(slices.Concat(all, repos, old, blobs)) {
			if err := l.Remove(ctx); !errors.Is(err, errInUse) {
				failed = append(failed, err)
			}
		}
		return errors.Join(append(failed, err, blobErr, settled)...)
	}}
}

// listOldBlobs lists the blobs that a serving company may remove, once a day.
func (u *Keeper) listOldBlobs(ctx context.Context, policy retentionPolicy) ([]Garbage, error) {
	now := u.State.Now()
	if now.Before(u.collected.Add(collectEvery)) {
		return nil, nil
	}
	before := policy.before
	// A blob has the time of the wall clock. The office's clock is ahead of it after the wall clock was set back.
	for _, clock := range []time.Time{now, time.Now()} {
		if most := clock.Add(-minBlobAge); before.After(most) {
			before = most
		}
	}
	blobs, err := policy.listBlobs(ctx, before)
	if err != nil {
		return nil, err
	}
	u.collected = now
	if blobs == nil {
		return nil, nil
	}
	return []Garbage{*blobs}, nil
}
