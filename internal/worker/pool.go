package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/retry"
)

// queueItem is what lies on the queue: which run, offered in which epoch.
type queueItem struct {
	Run   company.RunID `json:"run"`
	Epoch uint64        `json:"epoch"`
}

// leaseTTL is how long an item stays a worker's without a sign of life.
const leaseTTL = 30 * time.Second

// Pool leases runs from the queue and works on them, at most Max at a time.
// Workers pull; nothing here listens (BUS-5).
type Pool struct {
	Queue  bus.Queue
	Desk   company.Decider
	Worker *Worker
	Logger *slog.Logger

	ttl    time.Duration // of a lease
	mu     sync.Mutex
	max    int
	busy   map[company.RunID]*leasedRun
	change chan struct{} // closed and replaced when max grows or a worker is free
}

// leasedRun is one run in a worker's hands.
type leasedRun struct {
	lease   bus.Lease
	worker  string
	fence   uint64                  // of the claim, once claimed is closed
	claimed chan struct{}           // closed when the claim has been decided
	done    chan struct{}           // closed when the run has been let go of
	stop    context.CancelCauseFunc // of the work, once it has begun; guarded by the pool
	lost    bool                    // the lease; guarded by the pool
}

// NewPool makes a pool of max workers.
func NewPool(q bus.Queue, d company.Decider, w *Worker, max int, l *slog.Logger) *Pool {
	return &Pool{Queue: q, Desk: d, Worker: w, Logger: l, ttl: leaseTTL, max: max, busy: map[company.RunID]*leasedRun{}, change: make(chan struct{})}
}

// Status is what a pool is doing (WRK-8).
type Status struct {
	Total   int `json:"total"`
	Active  int `json:"active"`
	Idle    int `json:"idle"`
	Pending int `json:"pending_tasks"`
}

// Status counts workers and what waits for them.
func (p *Pool) Status(ctx context.Context) (Status, error) {
	waiting, _, err := p.Queue.Depth(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	return Status{Total: p.max, Active: len(p.busy), Idle: max(0, p.max-len(p.busy)), Pending: waiting}, err
}

// SetMax changes how many work at a time. Those that work go on.
func (p *Pool) SetMax(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.max = n
	p.notifyChange()
}

func (p *Pool) notifyChange() {
	close(p.change)
	p.change = make(chan struct{})
}

// Run leases and claims until ctx ends. What it claimed is worked on by the
// effect that the claim makes due.
func (p *Pool) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		if err := p.awaitFree(ctx); err != nil {
			return nil
		}
		lease, err := p.Queue.Lease(ctx, p.ttl)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			p.Logger.WarnContext(ctx, "no lease", "err", err)
			if retry.Sleep(ctx, time.Second) != nil {
				return nil
			}
			continue
		}
		if err := company.Guard("claiming a run", func() error { p.claimLease(ctx, lease, &wg); return nil }); err != nil {
			p.Logger.ErrorContext(ctx, "run not claimed", "item", lease.Item().ID, "err", err, "details", company.DetailsOf(err))
		}
	}
}

// awaitFree waits for a worker who has nothing to do.
func (p *Pool) awaitFree(ctx context.Context) error {
	for {
		p.mu.Lock()
		ok, change := len(p.busy) < p.max, p.change
		p.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-change:
		}
	}
}

// claimLease claims the run of a lease. A refused item is acknowledged: whoever may
// have the run is told anew.
func (p *Pool) claimLease(ctx context.Context, lease bus.Lease, wg *sync.WaitGroup) {
	var t queueItem
	if err := json.Unmarshal(lease.Item().Body, &t); err != nil || !t.Run.Valid() {
		p.Logger.WarnContext(ctx, "unreadable item buried", "item", lease.Item().ID)
		p.settleItem(ctx, lease.Bury)
		return
	}
	sh := &leasedRun{lease: lease, claimed: make(chan struct{}), done: make(chan struct{})}
	p.mu.Lock()
	if p.busy[t.Run] != nil {
		p.mu.Unlock()
		p.settleItem(ctx, func(ctx context.Context) error { return lease.Nack(ctx, time.Second) })
		return
	}
	sh.worker = p.freeName()
	p.busy[t.Run] = sh
	p.mu.Unlock()
	offered := p.awaitOffer(ctx, t)
	// The lease is known before the claim is decided: the effect that the
	// claim makes due looks for it here, and waits for the claim's fence.
	evs, err := p.Desk.Do(ctx, sh.worker, company.Claim{Run: t.Run, Epoch: t.Epoch, Worker: sh.worker})
	sh.fence = company.ClaimedFence(evs)
	close(sh.claimed)
	if err != nil {
		p.removeRun(t.Run)
		if company.CodeOf(err) != company.EStale && company.CodeOf(err) != company.EConflict {
			p.Logger.WarnContext(ctx, "claim refused", "run_id", t.Run, "err", err)
		}
		if !offered && lease.Deliveries() < maxUnknownDeliveries {
			// The ledger has not said so yet. Once it has, nobody puts the
			// item there again: it must still be there.
			p.settleItem(ctx, func(ctx context.Context) error { return lease.Nack(ctx, time.Second) })
			return
		}
		p.settleItem(ctx, lease.Ack)
		return
	}
	wg.Go(func() { p.keepLease(ctx, t.Run, sh) })
}

// freeName is the lowest free worker's: w1, w2, …
func (p *Pool) freeName() string {
	for n := 1; ; n++ {
		name := fmt.Sprintf("w%d", n)
		taken := false
		for _, sh := range p.busy {
			taken = taken || sh.worker == name
		}
		if !taken {
			return name
		}
	}
}

// keepLease extends the lease while the run is worked on, and gives the item back
// to nobody when it is done: the ledger knows what became of the run.
func (p *Pool) keepLease(ctx context.Context, run company.RunID, sh *leasedRun) {
	tick := time.NewTicker(p.ttl / 3)
	defer tick.Stop()
	for {
		select {
		case <-sh.done:
			p.settleItem(ctx, sh.lease.Ack)
			return
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := sh.lease.Extend(ctx); errors.Is(err, bus.ErrLeaseLost) {
				p.Logger.WarnContext(ctx, "lease lost", "run_id", run)
				p.mu.Lock()
				sh.lost = true
				stop := sh.stop
				p.mu.Unlock()
				if stop != nil {
					stop(errLeaseLost)
				}
				return
			}
		}
	}
}

func (p *Pool) settleItem(ctx context.Context, do func(context.Context) error) {
	sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := do(sctx); err != nil && !errors.Is(err, bus.ErrLeaseLost) && !errors.Is(err, bus.ErrClosed) {
		p.Logger.WarnContext(sctx, "queue item not settled", "err", err)
	}
}

func (p *Pool) removeRun(run company.RunID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if sh := p.busy[run]; sh != nil {
		delete(p.busy, run)
		close(sh.done)
		p.notifyChange()
	}
}

// Offer is the doer that puts a due run on the queue. The item is there before
// the ledger says so: dying in between costs an item that nobody may claim,
// never a run that nobody can find.
func (p *Pool) Offer(ctx context.Context, e company.Effect) (company.Command, error) {
	// Should a new epoch begin now, the item is of the old one or the new one,
	// but the key is of the old: the offer is refused, and the run put there
	// again under the key that is due then.
	body, err := json.Marshal(queueItem{Run: e.Run, Epoch: p.Desk.View().Office.Epoch})
	if err != nil {
		return nil, err
	}
	if err := p.Queue.Put(ctx, bus.Item{ID: e.Key, Body: body}); err != nil {
		return nil, company.E(company.EBus, "run "+string(e.Run)+" could not be put on the queue").Wrap(err)
	}
	return company.Offer{Run: e.Run, Item: e.Key}, nil
}

// maxUnknownDeliveries is how often an item comes back that the ledger does not
// know of. One whose offer was refused for good is given up then.
const maxUnknownDeliveries = 30

// awaitOffer waits for the ledger to say what the queue says already, and
// whether that is settled: the run is on offer, or this item is of no use any
// more (an older epoch's, or its run has ended).
func (p *Pool) awaitOffer(ctx context.Context, t queueItem) (settled bool) {
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end) && ctx.Err() == nil; {
		s := p.Desk.View()
		task := s.Tasks[t.Run.Task()]
		if task == nil || task.Status.Ended() || s.Office.Epoch != t.Epoch {
			return true
		}
		if r := task.Runs[t.Run]; r != nil && (r.Offered == t.Epoch || r.Held || r.Ended) {
			return true
		}
		time.Sleep(2 * time.Millisecond)
	}
	return false
}

// Work is the doer of a claimed run.
func (p *Pool) Work(ctx context.Context, e company.Effect) (company.Command, error) {
	t, err := p.Desk.View().Task(e.Task)
	if err != nil {
		return nil, err
	}
	r := t.Runs[e.Run]
	p.mu.Lock()
	sh := p.busy[e.Run]
	p.mu.Unlock()
	if r == nil {
		return nil, company.E(company.ENotFound, "there is no run "+string(e.Run))
	}
	if sh != nil {
		select {
		case <-sh.claimed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if sh == nil || sh.fence != r.Fence {
		// Claimed by somebody who has let go of the lease without a word.
		return company.Release{Run: e.Run, Fence: r.Fence, Why: "no worker here holds its lease"}, nil
	}
	defer p.removeRun(e.Run)
	wctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	p.mu.Lock()
	sh.stop = stop
	if sh.lost {
		stop(errLeaseLost)
	}
	p.mu.Unlock()
	err = p.Worker.Do(wctx, t, r)
	if errors.Is(context.Cause(wctx), errLeaseLost) {
		return nil, nil // the claim was let go; that is no failed attempt
	}
	return nil, err
}

var errLeaseLost = errors.New("worker: the lease was lost")
