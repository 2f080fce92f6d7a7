package cli

import (
	"context"
	"os"
	"sync"

	"company/internal/api"
	"company/internal/office"
)

// startWork opens the office for work in this process: staff, socket, loop. The
// function it returns stops all of it and waits.
func (h *officeApp) startWork(ctx context.Context, a *app) (stop func() error, err error) {
	pool, err := h.wireHandlers(ctx)
	if err != nil {
		return nil, err
	}
	if err := h.orch.Start(ctx, h.configWorkers); err != nil {
		return nil, err
	}
	if err := h.pauseUnfinished(ctx, a); err != nil {
		return nil, err
	}
	l, err := office.ListenSocket(h.lock, a.env)
	if err != nil {
		return nil, err
	}
	srv := api.New(h, api.ServerInfo{Version: Version, Office: h.office.ID, PID: os.Getpid(), Serving: h.serving}, h.log)
	srv.Start(l)
	h.pool = pool
	h.syncPoolSize()
	wctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	var werr error
	wg.Go(func() {
		if werr = h.runLoops(wctx, pool); werr != nil {
			h.fail(werr)
		}
	})
	return func() error {
		srv.Stop()
		cancel()
		wg.Wait()
		return werr
	}, nil
}
