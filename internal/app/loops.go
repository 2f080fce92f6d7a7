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
func (h *App) runLoops(ctx context.Context, pool *dispatch.Pool) error {
	var wg sync.WaitGroup
	wctx, cancel := context.WithCancel(ctx)
	wg.Go(func() { _ = pool.Run(wctx) })
	wg.Go(func() {
		h.projector.Run(wctx, projection.Hooks{Written: func() { h.syncPoolSize(); h.syncWarmPool() }, Idle: debug.FreeOSMemory})
	})
	wg.Go(func() {
		upkeep.SweepEarlierEpochs(wctx, h.runtime, h.office.ID, func() uint64 { return h.View().Office.Epoch }, upkeep.SweepAgainAfter, h.log)
	})
	if h.repackJob.Run != nil {
		wg.Go(func() { h.repackJob.RunNow(wctx, h.log) })
	}
	if h.serving {
		if err := h.webhooks.StartServer(wctx, &wg, h.publishItem); err != nil {
			cancel()
			wg.Wait()
			return err
		}
		for _, r := range h.jobs {
			wg.Go(func() { r.RunLoop(wctx, func() bool { return h.View().Office.Stopped }, h.publishItem) })
		}
	}
	err := h.orch.Run(ctx)
	cancel()
	wg.Wait()
	return err
}

// syncWarmPool has containers of the newest open task's image ready, and none when
// nothing is to be done.
func (h *App) syncWarmPool() {
	s := h.View()
	for i := len(s.Open) - 1; i >= 0 && !s.Office.Stopped; i-- {
		if t := s.Tasks[s.Open[i]]; t.Prepared != nil && !t.Paused && !t.DryRun {
			h.sandboxes.Warm(t.Prepared.Image, s.Office.Epoch, h.loaded.Config.Workers.Warm)
			return
		}
	}
	h.sandboxes.Warm("", s.Office.Epoch, 0)
}

// syncPoolSize gives the pool as many workers as there are to be.
func (h *App) syncPoolSize() {
	if n := h.View().Office.WorkerCount(); h.pool != nil && n > 0 && n != h.poolSize {
		h.pool.SetMax(n)
		h.poolSize = n
	}
}
