package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/lib/retry"
)

// retryAfter is the delay before a failed lease or claim is retried.
const retryAfter = time.Second

// leasers limits how many items are leased at a time. Each lease waits for a sync of the queue, and concurrent leases
// share one.
const leasers = 4

// Run leases items and claims their runs until ctx ends. Leases and claims for free workers run concurrently, so that
// they share appends. It never waits while holding an item: one that cannot be claimed is released at once.
func (p *Pool) Run(ctx context.Context) error {
	var loops sync.WaitGroup
	for range leasers {
		loops.Go(func() {
			if err := company.Guard("leasing items", func() error { p.leaseItems(ctx); return nil }); err != nil {
				p.Logger.ErrorContext(ctx, "no items are leased any more", "err", err, "details", company.DetailsOf(err))
			}
		})
	}
	loops.Wait()
	return nil
}

// leaseItems leases items for free workers until ctx ends. It then waits for the goroutines that keep their leases.
func (p *Pool) leaseItems(ctx context.Context) {
	var keepers sync.WaitGroup
	defer keepers.Wait()
	for p.awaitFree(ctx) == nil {
		lease, err := p.Queue.Lease(ctx)
		if err != nil {
			p.endLeasing()
			if ctx.Err() == nil {
				p.Logger.WarnContext(ctx, "no lease", "err", err)
			}
			_ = retry.Sleep(ctx, retryAfter) // awaitFree notices the end of ctx
			continue
		}
		offer, held := p.takeItem(ctx, lease)
		if held == nil {
			continue
		}
		keepers.Go(func() {
			err := company.Guard("claiming a run", func() error {
				if p.claimRun(ctx, held, offer) {
					p.keepLease(ctx, held)
				}
				return nil
			})
			if err != nil {
				p.Logger.ErrorContext(ctx, "run not claimed", "item", lease.Item().ID, "err", err, "details",
					company.DetailsOf(err))
			}
		})
	}
}

// takeItem reads a leased item and reserves a free worker for its run. held is nil if the run must not be claimed;
// the item is then settled.
func (p *Pool) takeItem(ctx context.Context, lease bus.Lease) (offer company.OfferID, held *heldRun) {
	defer p.endLeasing()
	if err := json.Unmarshal(lease.Item().Body, &offer); err != nil || !offer.Run.Valid() {
		p.Logger.WarnContext(ctx, "unreadable item removed", "item", lease.Item().ID)
		p.settleItem(ctx, lease.Ack)
		return offer, nil
	}
	if held = p.holdRun(offer.Run, lease); held == nil {
		// an earlier offer of it is being released, or there is no free worker left
		p.settleItem(ctx, func(ctx context.Context) error { return lease.Nack(ctx, retryAfter) })
	}
	return offer, held
}

// claimRun claims the run of a leased item for its worker. If it returns false, the worker is free and the item is
// settled.
func (p *Pool) claimRun(ctx context.Context, held *heldRun, offer company.OfferID) (claimed bool) {
	defer func() {
		if !claimed {
			p.letGo(held)
		}
	}()
	assignment, err := p.Coordinator.Claim(
		ctx, company.Claim{Run: offer.Run, Epoch: offer.Epoch, Offer: offer.Number, Worker: held.worker})
	if err == nil {
		held.setClaim(assignment)
		return true
	}
	switch company.CodeOf(err) {
	case company.EStale, company.EConflict, company.EStopped, company.ENotFound:
		// The ledger has no such offer and never will, because a new offer has a new number.
		p.settleItem(ctx, held.lease.Ack)
	default:
		p.Logger.WarnContext(ctx, "claim refused", "run_id", offer.Run, "err", err)
		p.settleItem(ctx, func(ctx context.Context) error { return held.lease.Nack(ctx, retryAfter) })
	}
	return false
}

// keepLease extends the lease until the run is released, and then acknowledges the item. The ledger has the outcome
// of the run.
func (p *Pool) keepLease(ctx context.Context, held *heldRun) {
	tick := time.NewTicker(p.extendEvery)
	defer tick.Stop()
	for {
		select {
		case <-held.done:
			p.settleItem(ctx, held.lease.Ack)
			return
		case <-ctx.Done():
			return
		case <-tick.C:
			if held.leased.Err() == nil && errors.Is(held.lease.Extend(ctx), bus.ErrLeaseLost) {
				p.Logger.WarnContext(ctx, "lease lost", "run_id", held.run)
				held.lose()
			}
			p.letGoVoid(ctx, held)
		}
	}
}

// settleItem acknowledges or returns an item. If that fails, the item comes again and the ledger refuses it.
func (p *Pool) settleItem(ctx context.Context, do func(context.Context) error) {
	sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := do(sctx); err != nil && !errors.Is(err, bus.ErrLeaseLost) && !errors.Is(err, bus.ErrClosed) {
		p.Logger.WarnContext(sctx, "queue item not settled", "err", err)
	}
}
