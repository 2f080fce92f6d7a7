package cli

import (
	"context"
	"os"
	"sync"

	"company/internal/office"
	"company/internal/server"
)

// serve opens the office for work in this process: staff, socket, loop. The
// function it returns stops all of it and waits.
func (h *house) serve(ctx context.Context, a *app) (stop func() error, err error) {
	pool, err := h.staff(ctx)
	if err != nil {
		return nil, err
	}
	if err := h.orch.Start(ctx, h.workers); err != nil {
		return nil, err
	}
	if err := h.holdBack(ctx, a); err != nil {
		return nil, err
	}
	l, err := office.ListenSocket(h.lock, a.env)
	if err != nil {
		return nil, err
	}
	srv := server.New(h, server.Hello{Version: Version, Office: h.office.ID, PID: os.Getpid(), Serving: h.serving}, h.log)
	srv.Start(l)
	h.pool = pool
	h.keepTeam()
	wctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	var werr error
	wg.Go(func() {
		if werr = h.work(wctx, pool); werr != nil {
			h.die(werr)
		}
	})
	return func() error {
		srv.Stop()
		cancel()
		wg.Wait()
		return werr
	}, nil
}
