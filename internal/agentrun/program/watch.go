package program

import (
	"context"
	"errors"
	"sync"
	"time"

	"company/internal/agentrun/relay"
)

// watch decides when a running program is ended.
type watch struct {
	limits Limits
	halt   func() error
	model  *relay.Relay // nil without a model

	asksModel bool // the program does nothing without a request
	before    int  // requests to the model before the program started
}

// The causes with which a program is ended.
var (
	errSilent    = errors.New("program: it fell silent")
	errNoRequest = errors.New("program: it made no request")
	errPrompt    = errors.New("program: it asks a person")
	errFinal     = errors.New("program: it printed its result and did not end")
)

const (
	watchEvery = 100 * time.Millisecond
	haltEvery  = time.Second
)

// startWatching watches a program in the background. end stops that and waits for it.
func (w *watch) startWatching(ctx context.Context, said *output, stop context.CancelCauseFunc) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	if w.model != nil {
		w.before = w.model.State().Asked
	}
	var watching sync.WaitGroup
	watching.Go(func() {
		began := time.Now()
		look, halt := time.NewTicker(watchEvery), time.NewTicker(haltEvery)
		defer look.Stop()
		defer halt.Stop()
		for {
			var err error
			select {
			case <-ctx.Done():
				return
			case <-halt.C:
				err = w.halt()
			case now := <-look.C:
				if err = said.journalOld(context.WithoutCancel(ctx), now); err == nil {
					err = w.findEnd(now, began, said.readProgress())
				}
			}
			if err != nil {
				stop(err)
				return
			}
		}
	})
	return func() {
		cancel()
		watching.Wait()
	}
}

// findEnd returns why a program is ended now, nil if it goes on.
func (w *watch) findEnd(now, began time.Time, p progress) error {
	newest := laterOf(began, p.newest)
	if w.model != nil {
		state := w.model.State()
		newest = laterOf(newest, state.Newest)
		switch {
		case state.Open > 0:
			return nil
		case state.Ended != nil && now.Sub(state.EndedAt) > w.limits.Final:
			return state.Ended
		}
	}
	quiet := now.Sub(newest)
	switch {
	case quiet > w.limits.Begin && !w.hasBegun(true):
		return errNoRequest
	case !p.final.IsZero() && now.Sub(p.final) > w.limits.Final:
		return errFinal
	case p.asks && quiet > w.limits.Prompt:
		return errPrompt
	case quiet > w.limits.Silence:
		return errSilent
	}
	return nil
}

// hasBegun reports whether the program has begun to work.
func (w *watch) hasBegun(printed bool) bool {
	hasAsked := w.model != nil && w.model.State().Asked > w.before
	return hasAsked || printed && (w.model == nil || !w.asksModel)
}

// modelEnd returns why the model is not asked any more, nil if it may be.
func (w *watch) modelEnd() error {
	if w.model == nil {
		return nil
	}
	return w.model.State().Ended
}

func laterOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
