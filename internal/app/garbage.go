package app

import (
	"context"

	"company/internal/gitops"
	"company/internal/image"
	"company/internal/upkeep"
)

// DockerError is why the daemon's leftovers are missing from a list of garbage.
type DockerError struct{ Err error }

func (e *DockerError) Error() string { return e.Err.Error() }
func (e *DockerError) Unwrap() error { return e.Err }

// FindGarbage lists the leftovers of ended tasks, with work that no branch
// holds: of tasks that ended before the retention, or of all with recent. A
// *DockerError comes beside the list of this disk. The function that it returns
// closes the opened parts, after the removal.
func (a *App) FindGarbage(ctx context.Context, recent bool) (all []upkeep.Garbage, done func(), err error) {
	done = func() {}
	cfg, err := GitConfig(a.office.Paths, a.loaded.Config, a.env)
	if err != nil {
		return nil, done, err
	}
	store, err := gitops.Open(cfg)
	if err != nil {
		return nil, done, err
	}
	if all, err = a.keeper.FindGarbage(ctx, recent, store); err != nil {
		return nil, done, err
	}
	daemon := DaemonOf(a.loaded.Config, a.env, a.log)
	rt, err := daemon.OpenRuntime(ctx)
	if err != nil {
		return upkeep.SortGarbage(all), done, &DockerError{err}
	}
	done = func() { _ = rt.Close() } // it started nothing
	images, err := image.New(image.Config{Logger: a.log, Daemon: daemon.Host})
	if err != nil {
		return upkeep.SortGarbage(all), done, &DockerError{err}
	}
	done = func() { images.Close(); _ = rt.Close() }
	docker, err := a.keeper.FindDockerGarbage(ctx, recent, rt, images)
	if err != nil {
		err = &DockerError{err}
	}
	return upkeep.SortGarbage(append(all, docker...)), done, err
}
