package app

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"company/internal/api"
	"company/internal/app/startup"
	"company/internal/company"
	"company/internal/office"
)

// Start starts the office's work in this process: effect handlers, socket and loops. With serving
// it runs until it is stopped, and does not end with a task. It returns the tasks that recovery:
// ask has paused.
func (a *App) Start(ctx context.Context, serving bool) (paused []company.TaskID, err error) {
	startup.Settle()
	a.serving = serving
	pool, err := a.wireHandlers(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.orch.Start(ctx, a.configWorkers); err != nil {
		return nil, err
	}
	if paused, err = a.pauseUnfinished(ctx); err != nil {
		return nil, err
	}
	listener, err := office.ListenSocket(a.lock, a.env)
	if err != nil {
		return nil, err
	}
	srv := api.New(
		a, api.ServerInfo{Version: a.version, Office: a.office.ID, PID: os.Getpid(), Serving: serving,
			Runtime: a.runtime.Kind()}, a.log)
	if a.desk != nil {
		srv.SetDesk(a.desk)
	}
	if serving {
		if err := a.openAddress(srv); err != nil {
			return nil, errors.Join(err, listener.Close())
		}
	}
	a.atWork.Store(true)
	srv.Start(listener)
	a.server = srv
	a.pool = pool
	a.syncPoolSize()
	wctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	var failed error
	wg.Go(func() {
		if failed = a.runLoops(wctx, pool); failed != nil {
			a.fail(failed)
		}
	})
	a.stopWork = func() error { //nolint:contextcheck // it is called when ctx has ended
		a.atWork.Store(false)
		late := time.AfterFunc(apiPatience, cancel) // an answer that hangs must not keep the work from ending
		srv.Stop()
		late.Stop()
		cancel()
		wg.Wait()
		return failed
	}
	return paused, nil
}
