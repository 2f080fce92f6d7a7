package app

import (
	"context"
	"errors"
	"os"
	"time"

	"company/internal/api"
	"company/internal/app/startup"
	"company/internal/company"
	"company/internal/office"
)

// Serve answers other processes on the office's socket. With company serve it also answers browsers,
// if the config sets an address. It starts no work.
func (a *App) Serve() error {
	listener, err := office.ListenSocket(a.lock, a.env)
	if err != nil {
		return err
	}
	server := api.New(a, api.ServerInfo{Version: a.version, Office: a.office.ID, PID: os.Getpid(),
		Serving: a.kind == Serving, Foreground: a.kind == Foreground || a.kind == Passing, Passing: a.kind == Passing,
		ReadOnly: a.fault != nil, Config: a.loaded.Hash, Setup: a.setup}, a.log, a.secrets)
	if a.desk != nil {
		server.SetDesk(a.desk)
	}
	if a.kind == Serving {
		if err := a.openAddress(server); err != nil {
			return errors.Join(err, listener.Close())
		}
	}
	server.Start(listener)
	a.server = server
	return nil
}

// StartWork starts the office's work in this process: the handlers of effects and the loops. It does
// nothing if work has started. It returns the tasks that recovery: ask has paused. It may be called
// again after an error.
func (a *App) StartWork(ctx context.Context) (paused []company.TaskID, err error) {
	a.starting.Lock()
	defer a.starting.Unlock()
	switch {
	case a.fault != nil:
		return nil, a.fault
	case a.working.Err() != nil || a.kind == Passing:
		return nil, company.E(company.EHeld, "the company is ending").Fix("try again")
	case a.worked != nil:
		return nil, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.working, cancel)()
	startup.Settle()
	opened := len(a.closers)
	defer func() {
		if err != nil {
			a.closeSince(opened)
			a.git = nil
		}
	}()
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
	a.pool = pool
	a.syncPoolSize()
	a.worked = make(chan struct{})
	a.atWork.Store(true)
	go func() { // Stop ends it
		defer close(a.worked)
		if a.failed = a.runLoops(a.working, pool); a.failed != nil {
			a.fail(a.failed)
		}
	}()
	return paused, nil
}

// End stops the server and the work. It returns the error of Stop.
func (a *App) End() error {
	a.stopServer()
	return a.Stop()
}

// stopServer answers the running requests and stops the server, if there is one. An answer that hangs does not keep
// the work from ending.
//
//nolint:contextcheck // it is called when the context of the process has ended
func (a *App) stopServer() {
	if a.server == nil || !a.serverEnds.CompareAndSwap(false, true) {
		return
	}
	defer time.AfterFunc(apiPatience, a.cancelWork).Stop()
	a.server.Stop()
}

// IsUnused reports whether no client has used this office within span, and nothing here can continue without a person.
func (a *App) IsUnused(span time.Duration) bool {
	return a.server.IsUnused(span) && !(a.atWork.Load() && a.Source().IsBusy())
}

// Failed returns a context that ends when the work fails because of the ledger. Its cause is the error.
func (a *App) Failed() context.Context { return a.lifetime }

// RequestEnd asks the process to end, for a client. It returns EConflict if the process ends otherwise.
func (a *App) RequestEnd() error {
	switch a.kind {
	case Serving:
		return company.E(company.EConflict, "this office is already being served").Fix("stop company serve first")
	case Foreground, Passing:
		return company.E(company.EConflict, "a command works in this office until its task ends").
			Fix("wait for it, or interrupt it")
	}
	a.endOnce.Do(func() { close(a.ended) })
	return nil
}

// EndRequested returns a channel that is closed when a client has asked the process to end.
func (a *App) EndRequested() <-chan struct{} { return a.ended }
