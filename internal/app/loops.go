package app

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"

	"company/internal/company"
	"company/internal/dispatch"
	"company/internal/feed"
	"company/internal/projection"
	"company/internal/sandbox"
	"company/internal/upkeep"
)

// runLoops keeps the company working until ctx ends.
func (a *App) runLoops(ctx context.Context, pool *dispatch.Pool) error {
	var wg sync.WaitGroup
	wctx, cancel := context.WithCancel(ctx)
	wg.Go(func() { _ = pool.Run(wctx) })
	wg.Go(func() {
		a.projector.Run(wctx, projection.Hooks{Written: func() { a.syncPoolSize(); a.syncWarmPool(); a.noteImagesAtWork() }, Idle: debug.FreeOSMemory})
	})
	wg.Go(func() {
		upkeep.SweepEarlierEpochs(wctx, a.runtime, a.office.ID, func() uint64 { return a.View().Office.Epoch }, upkeep.SweepAgainAfter, a.log)
	})
	if a.repackJob.Run != nil {
		wg.Go(func() { a.repackJob.RunNow(wctx, a.log) })
	}
	if a.archiveJob.Run != nil {
		wg.Go(func() { a.archiveJob.RunNow(wctx, a.log) })
	}
	if a.imagesJob.Run != nil {
		wg.Go(func() {
			a.imagesJob.RunLoop(wctx, func() bool { return a.View().Office.Stopped }, func(it feed.Item) {
				a.log.Info("worker images", "what", it.Text)
			})
		})
	}
	wg.Go(func() {
		if err := a.notices.Run(wctx); err != nil {
			a.log.Warn("notices have ended", "err", err)
		}
	})
	if a.serving {
		if err := a.webhooks.StartServer(wctx, &wg, a.publishItem); err != nil {
			cancel()
			wg.Wait()
			return err
		}
		for _, r := range a.jobs {
			wg.Go(func() { r.RunLoop(wctx, func() bool { return a.View().Office.Stopped }, a.publishItem) })
		}
	}
	err := a.runOrchestrator(ctx)
	cancel()
	wg.Wait()
	return err
}

// runOrchestrator decides until ctx ends, or the bus stores nothing more. It does not wait for the next
// record to find that out: without a lease, which cannot be stored either, there may be none.
func (a *App) runOrchestrator(ctx context.Context) error {
	defer context.AfterFunc(a.bus.Broken(), func() { _ = a.orch.FailStore(context.Cause(a.bus.Broken())) })()
	return a.orch.Run(ctx)
}

// syncWarmPool has containers ready of the images of open tasks.
func (a *App) syncWarmPool() {
	s := a.View()
	a.sandboxes.Warm(s.Office.Epoch, planWarm(s, a.loaded.Config.Workers.Warm, a.sandboxes.RoomForWarm()))
}

// planWarm is how many containers of each image are to be ready: some for each image, at
// most as many as its tasks have runs to come, no more than workers in all, and no more
// than there is room for in memory. The newest tasks come first. The tree lies in them
// unless a task of the image wants a part of it alone.
func planWarm(s *company.State, each, room int) map[string]sandbox.Warmth {
	out, parts := map[string]sandbox.Warmth{}, map[string]bool{}
	left := min(s.Office.WorkerCount(), room)
	for _, id := range slices.Backward(s.Open) {
		t := s.Tasks[id]
		if s.Office.Stopped || !t.IsPrepared() || t.Paused || t.DryRun {
			continue
		}
		image, runs := t.Prepared.Image, countRunsToCome(t)
		if runs > 0 && len(t.Settings.Paths) > 0 {
			parts[image] = true
		}
		if n := min(each-out[image].Containers, runs, left); n > 0 {
			out[image] = sandbox.Warmth{Containers: out[image].Containers + n}
			left -= n
		}
	}
	for image, w := range out {
		w.LayOut = !parts[image]
		out[image] = w
	}
	return out
}

// countRunsToCome counts the subtasks that need a container again, for their worker or
// their reviewer. One under review counts until its end: its reviewer takes a container
// some time after it is due. A task that is being planned has one.
func countRunsToCome(t *company.Task) int {
	if len(t.Subtasks) == 0 {
		return 1
	}
	n := 0
	for _, sub := range t.Subtasks {
		switch sub.Status {
		case company.SubtaskPending, company.SubtaskAssigned, company.SubtaskRunning, company.SubtaskInGate, company.SubtaskReviewing:
			n++
		}
	}
	return n
}

// syncPoolSize gives the pool as many workers as there are to be.
func (a *App) syncPoolSize() {
	if n := a.View().Office.WorkerCount(); a.pool != nil && n > 0 && n != a.poolSize {
		a.pool.SetMax(n)
		a.poolSize = n
	}
}
