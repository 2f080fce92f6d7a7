package app

import (
	"context"
	"errors"

	"company/internal/container/image"
	"company/internal/gitops"
	"company/internal/upkeep"
)

// FindLeftovers lists the items that a cleanup would remove: of tasks that ended before the
// retention, or of all ended tasks with recent. With unmerged it includes work that no branch
// holds. It removes nothing. It may be called while the company is running, and then omits the
// company's containers.
func (a *App) FindLeftovers(ctx context.Context, recent, unmerged bool) (upkeep.Report, error) {
	report, _, err := a.runCleanup(ctx, true, recent, unmerged)
	return report, err
}

// Cleanup removes the items that FindLeftovers lists. No company may be running, because its
// containers are removed, too. failed holds the errors of items that remain.
func (a *App) Cleanup(ctx context.Context, recent, unmerged bool) (report upkeep.Report, failed []error, err error) {
	return a.runCleanup(ctx, false, recent, unmerged)
}

// runCleanup finds the leftovers and removes them, unless it is a dry run.
func (a *App) runCleanup(
	ctx context.Context, dryRun, recent, unmerged bool,
) (report upkeep.Report, failed []error, err error) {
	report = upkeep.NewReport(dryRun)
	all, done, err := a.findGarbage(ctx, recent)
	defer done()
	var noDocker *dockerError
	if errors.As(err, &noDocker) {
		report.Docker, report.DockerError = false, noDocker.Error()
	} else if err != nil {
		return report, nil, err
	}
	return report, report.Remove(ctx, all, unmerged), nil
}

// dockerError is the reason why the daemon's leftovers are missing from a list.
type dockerError struct{ error }

func (e *dockerError) Unwrap() error { return e.error }

// findGarbage lists the leftovers of ended tasks, including work that no branch holds: of tasks
// that ended before the retention, or of all with recent. A *dockerError comes with the list of
// this disk. done closes the opened parts and is called after the removal.
func (a *App) findGarbage(ctx context.Context, recent bool) (all []upkeep.Garbage, done func(), err error) {
	done = func() {}
	// Opening a store removes incomplete files of a killed process. The running company has such
	// files in use, so its open store is used.
	store, atWork, err := a.openStore()
	if err != nil {
		return nil, done, err
	}
	if all, err = a.keeper.FindGarbage(ctx, recent, store); err != nil {
		return nil, done, err
	}
	daemon := DaemonOf(a.loaded.Config, a.env, a.log)
	rt, err := daemon.OpenRuntime(ctx)
	if err != nil {
		return upkeep.SortGarbage(all), done, &dockerError{err}
	}
	done = func() { _ = rt.Close() } // no container was started
	images, err := image.New(image.Config{Logger: a.log, Daemon: daemon.Host})
	if err != nil {
		return upkeep.SortGarbage(all), done, &dockerError{err}
	}
	done = func() { images.Close(); _ = rt.Close() }
	docker, err := a.keeper.FindDockerGarbage(ctx, recent, atWork, rt, images)
	if err != nil {
		err = &dockerError{err}
	}
	return upkeep.SortGarbage(append(all, docker...)), done, err
}

// openStore returns the store of the work, or opens one if no work has started.
func (a *App) openStore() (store *gitops.Store, atWork bool, err error) {
	a.starting.Lock() // work that starts makes such files
	defer a.starting.Unlock()
	if a.git != nil {
		return a.git, true, nil
	}
	cfg, err := GitConfig(a.office.Paths, a.loaded.Config, a.env)
	if err == nil {
		store, err = gitops.Open(cfg)
	}
	return store, false, err
}
