package dispatch

import (
	"context"
	"errors"

	"company/internal/bus"
	"company/internal/company"
)

// heldRun is a run in the hands of a worker, from the lease of its item until it
// is let go. Run makes it and claims the run; Work, which the claim makes due,
// takes it over: both know it by the run and by the fence of the claim.
type heldRun struct {
	run     company.RunID
	worker  string
	lease   bus.Lease
	working bool               // Work has taken it over; guarded by the pool
	claimed company.Assignment // empty: the claim was refused. Read it after decided is closed
	decided chan struct{}      // closed when the ledger has answered the claim
	done    chan struct{}      // closed when the run was let go

	leased context.Context // ends when the lease is lost
	lose   context.CancelFunc
}

// holdRun notes that a free worker is about to claim a run. It comes before the
// claim: Work may begin before the claim's own answer is back. Nil: the run is
// in a worker's hands already, or there are fewer workers than when its item was leased.
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

// setClaim notes how the claim was answered.
func (h *heldRun) setClaim(a company.Assignment) {
	h.claimed = a
	close(h.decided)
}

// hasFence says whether the run was claimed under this fence.
func (h *heldRun) hasFence(fence uint64) bool {
	return h.claimed.Claimed != nil && h.claimed.Claimed.Fence == fence
}

// letGo frees the worker. Work that waits for the claim's answer learns that
// there is no claim.
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

// takeOver finds what a claim was made with; the caller lets go of it. Nil:
// nothing here holds the run under this fence.
func (p *Pool) takeOver(run company.RunID, fence uint64) *heldRun {
	p.mu.Lock()
	h := p.held[run]
	p.mu.Unlock()
	if h == nil {
		return nil
	}
	<-h.decided // whatever comes of the work: it is this claim that it has to let go
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[run] != h || !h.hasFence(fence) {
		return nil
	}
	h.working = true
	return h
}

// letGoVoid lets go of a claim that was void before its work could begin, as when
// the task was cancelled in between: nothing will take that over.
func (p *Pool) letGoVoid(ctx context.Context, h *heldRun) {
	now, err := p.Coordinator.Standing(ctx, h.run, h.claimed.Claimed.Fence)
	switch {
	case company.CodeOf(err) == company.ENotFound: // there is no such run any more
	case err != nil || now.Held && now.Ended == "":
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !h.working && p.held[h.run] == h {
		p.letGoLocked(h)
	}
}

// Work has the worker that claimed a run do it.
func (p *Pool) Work(ctx context.Context, e company.Effect) error {
	held := p.takeOver(e.Run, e.Fence)
	if held == nil {
		_, err := p.Coordinator.Decide(ctx, company.Release{Run: e.Run, Fence: e.Fence, Why: "no worker here holds its lease"})
		return err
	}
	defer p.letGo(held)
	wctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(held.leased, func() { stop(errLeaseLost) })()
	err := p.Worker.Do(wctx, held.claimed)
	if errors.Is(context.Cause(wctx), errLeaseLost) {
		return nil // the claim was let go; that is no failed attempt
	}
	return err
}

var errLeaseLost = errors.New("dispatch: the lease was lost")
