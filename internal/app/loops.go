package app

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"

	"company/internal/company"
	"company/internal/engine/dispatch"
	"company/internal/present/feed"
	"company/internal/upkeep"
	"company/internal/upkeep/projection"
)

// runLoops runs the company until ctx ends.
func (a *App) runLoops(ctx context.Context, pool *dispatch.Pool) error {
	var wg sync.WaitGroup
	wctx, cancel := context.WithCancel(ctx)
	wg.Go(func() { _ = pool.Run(wctx) })
	wg.Go(func() {
		a.projector.Run(
			wctx, projection.Hooks{Written: func() { a.syncPoolSize(); a.syncWarmPool(); a.noteImagesAtWork() },
				Idle: debug.FreeOSMemory})
	})
	wg.Go(func() {
		upkeep.SweepEarlierEpochs(wctx, a.runtime, a.office.ID, func() uint64 { return a.View().Office.Epoch },
			upkeep.SweepAgainAfter, a.log)
	})
	if a.repackJob.Run != nil {
		wg.Go(func() { a.repackJob.RunNow(wctx, a.log) })
	}
	if a.archiveJob.Run != nil {
		wg.Go(func() { a.archiveJob.RunNow(wctx, a.log) })
	}
	if a.imagesJob.Run != nil {
		wg.Go(func() {
			a.imagesJob.RunLoop(wctx, func() bool { return a.View().Office.Stopped }, func(item feed.Item) {
				a.log.Info("worker images", "what", item.Text)
			})
		})
	}
	wg.Go(func() {
		if err := a.notices.Run(wctx); err != nil {
			a.log.Warn("notices have ended", "err", err)
		}
	})
	if a.kind == Serving {
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

// runOrchestrator runs the orchestrator until ctx ends or the bus cannot store data. It watches
// the bus directly, because without a lease, which cannot be stored either, there may be no
// further record that fails.
func (a *App) runOrchestrator(ctx context.Context) error {
	defer context.AfterFunc(a.bus.Broken(), func() { _ = a.orch.FailStore(context.Cause(a.bus.Broken())) })()
	return a.orch.Run(ctx)
}

// syncWarmPool keeps containers ready for the images of open tasks.
func (a *App) syncWarmPool() {
	s := a.View()
	a.sandboxes.Warm(s.Office.Epoch, planWarm(s, a.loaded.Config.Workers.Warm, a.sandboxes.RoomForWarm()))
}

// planWarm returns how many containers of each image to keep ready. Four limits apply: a maximum
// per image, the expected runs of its tasks, the number of workers, and the room in memory. Newer
// tasks come first.
func planWarm(state *company.State, each, room int) map[string]int {
	out := map[string]int{}
	left := min(state.Office.WorkerCount(), room)
	for _, id := range slices.Backward(state.Open) {
		task := state.Tasks[id]
		if state.Office.Stopped || !task.IsPrepared() || task.Paused || task.DryRun {
			continue
		}
		image, runs := task.Prepared.Image, countRunsToCome(task)
		if n := min(each-out[image], runs, left); n > 0 {
			out[image] += n
			left -= n
		}
	}
	return out
}

// countRunsToCome counts the subtasks that still need a container for their worker or reviewer. A
// subtask under review counts until the review ends, because its reviewer takes a container some
// time after the review is due. A task in planning counts as one.
func countRunsToCome(task *company.Task) int {
	if len(task.Subtasks) == 0 {
		return 1
	}
	n := 0
	for _, sub := range task.Subtasks {
		switch sub.Status {
		case company.SubtaskPending, company.SubtaskAssigned, company.SubtaskRunning, company.SubtaskInGate,
			company.SubtaskReviewing:
			n++
		}
	}
	return n
}

// syncPoolSize sets the size of the pool to the number of workers.
func (a *App) syncPoolSize() {
	if n := a.View().Office.WorkerCount(); a.pool != nil && n > 0 && n != a.poolSize {
		a.pool.SetMax(n)
		a.poolSize = n
	}
}
