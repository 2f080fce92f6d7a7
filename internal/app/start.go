package app

import (
	"context"
	"os"
	"sync"

	"company/internal/api"
	"company/internal/company"
	"company/internal/office"
)

// Start opens the office for work in this process: handlers of effects, socket,
// loop. With serving it goes on until it is stopped, and not only until a task
// ends. It gives the tasks that recovery: ask paused.
func (h *App) Start(ctx context.Context, serving bool) (paused []company.TaskID, err error) {
	h.serving = serving
	pool, err := h.wireHandlers(ctx)
	if err != nil {
		return nil, err
	}
	if err := h.orch.Start(ctx, h.configWorkers); err != nil {
		return nil, err
	}
	if paused, err = h.pauseUnfinished(ctx); err != nil {
		return nil, err
	}
	l, err := office.ListenSocket(h.lock, h.env)
	if err != nil {
		return nil, err
	}
	srv := api.New(h, api.ServerInfo{Version: h.version, Office: h.office.ID, PID: os.Getpid(), Serving: serving}, h.log)
	srv.Start(l)
	h.pool = pool
	h.syncPoolSize()
	wctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	var failed error
	wg.Go(func() {
		if failed = h.runLoops(wctx, pool); failed != nil {
			h.fail(failed)
		}
	})
	h.stopWork = func() error {
		srv.Stop()
		cancel()
		wg.Wait()
		return failed
	}
	return paused, nil
}

// Stop ends the work that start began, and waits for it.
func (h *App) Stop() error { return h.stopWork() }
