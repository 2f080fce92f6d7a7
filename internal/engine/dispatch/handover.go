package dispatch

import (
	"context"
	"errors"

	"company/internal/bus"
	"company/internal/company"
)

// heldRun is a run that a worker holds, from the lease of its item until its release. Run creates it and claims the
// run. Work, which the claim makes due, takes it over. Both find it by the run and the fence of the claim.
type heldRun struct {
	run     company.RunID
	worker  string
	lease   bus.Lease
	working bool               // Work has taken it over; guarded by the pool's mu
	claimed company.Assignment // empty if the claim was refused; read it only after decided is closed
	decided chan struct{}      // closed when the ledger has answered the claim
	done    chan struct{}      // closed when the run is released

	leased context.Context // ends when the lease is lost
	lose   context.CancelFunc
}

// holdRun reserves a free worker for a run. It is called before the claim, because Work may start before the claim
// returns. It returns nil if a worker already holds the run, or if there are fewer workers than when its item was
// leased.
func (p *Pool) holdRun(run company.RunID, lease bus.Lease) *heldRun {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[run] != nil || len(p.held) >= p.size {
		return nil
	}
	h := &heldRun{run: run, worker: p.freeName(), lease: lease, decided: make(chan struct{}), done: make(chan struct{})}
	h.leased, h.lose = context.WithCancel(context.Background())
	p.held[run] = h
	return h
}

// setClaim records the answer to the claim.
func (h *heldRun) setClaim(a company.Assignment) {
	h.claimed = a
	close(h.decided)
}

// hasFence reports whether the run was claimed under this fence.
func (h *heldRun) hasFence(fence uint64) bool {
	return h.claimed.Claimed != nil && h.claimed.Claimed.Fence == fence
}

// letGo frees the worker. Work that waits for the claim's answer then sees an empty claim.
func (p *Pool) letGo(h *heldRun) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.letGoLocked(h)
}

func (p *Pool) letGoLocked(h *heldRun) {
	delete(p.held, h.run)
	select {
	case <-h.decided:
	default:
		h.setClaim(company.Assignment{})
	}
	close(h.done)
	h.lose()
	p.notifyChange()
}

// takeOver returns the held run of a claim. The caller must release it with letGo. It returns nil if no worker here
// holds the run under this fence.
func (p *Pool) takeOver(run company.RunID, fence uint64) *heldRun {
	p.mu.Lock()
	h := p.held[run]
	p.mu.Unlock()
	if h == nil {
		return nil
	}
	<-h.decided // wait, because whatever the result, this claim must be released
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[run] != h || !h.hasFence(fence) {
		return nil
	}
	h.working = true
	return h
}

// letGoVoid releases a claim that became void before its work began, for example because the task was cancelled. No
// Work will take it over.
func (p *Pool) letGoVoid(ctx context.Context, h *heldRun) {
	now, err := p.Coordinator.Standing(ctx, h.run, h.claimed.Claimed.Fence)
	switch {
	case company.CodeOf(err) == company.ENotFound: // the run no longer exists
	case err != nil || now.Held && now.Ended == "":
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !h.working && p.held[h.run] == h {
		p.letGoLocked(h)
	}
}

// Work makes the worker that claimed a run carry it out.
func (p *Pool) Work(ctx context.Context, effect company.Effect) error {
	held := p.takeOver(effect.Run, effect.Fence)
	if held == nil {
		_, err := p.Coordinator.Decide(
			ctx, company.Release{Run: effect.Run, Fence: effect.Fence, Why: "no worker here holds its lease"})
		return err
	}
	defer p.letGo(held)
	wctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(held.leased, func() { stop(errLeaseLost) })()
	err := p.Worker.Do(wctx, held.claimed)
	if errors.Is(context.Cause(wctx), errLeaseLost) {
		return nil // the claim was released; this is not a failed attempt
	}
	return err
}

var errLeaseLost = errors.New("dispatch: the lease was lost")
