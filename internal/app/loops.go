package app

import (
	"context"
	"runtime/debug"
	"sync"

	"company/internal/dispatch"
	"company/internal/projection"
	"company/internal/upkeep"
)

// runLoops keeps the company working until ctx ends.
func (a *App) runLoops(ctx context.Context, pool *dispatch.Pool) error {
	var wg sync.WaitGroup
	wctx, cancel := context.WithCancel(ctx)
	wg.Go(func() { _ = pool.Run(wctx) })
	wg.Go(func() {
		a.projector.Run(wctx, projection.Hooks{Written: func() { a.syncPoolSize(); a.syncWarmPool() }, Idle: debug.FreeOSMemory})
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
	err := a.orch.Run(ctx)
	cancel()
	wg.Wait()
	return err
}

// syncWarmPool has containers of the newest open task's image ready, and none when
// nothing is to be done.
func (a *App) syncWarmPool() {
	s := a.View()
	for i := len(s.Open) - 1; i >= 0 && !s.Office.Stopped; i-- {
		if t := s.Tasks[s.Open[i]]; t.IsPrepared() && !t.Paused && !t.DryRun {
			a.sandboxes.Warm(t.Prepared.Image, s.Office.Epoch, a.loaded.Config.Workers.Warm)
			return
		}
	}
	a.sandboxes.Warm("", s.Office.Epoch, 0)
}

// syncPoolSize gives the pool as many workers as there are to be.
func (a *App) syncPoolSize() {
	if n := a.View().Office.WorkerCount(); a.pool != nil && n > 0 && n != a.poolSize {
		a.pool.SetMax(n)
		a.poolSize = n
	}
}
