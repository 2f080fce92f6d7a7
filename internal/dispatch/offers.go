package dispatch

import (
	"context"
	"encoding/json"
	"time"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/retry"
)

// putEvery is how often an item is put again that should lie on the queue.
const putEvery = time.Minute

// KeepQueued has the item of a run that is on offer lie on the queue, until that is
// no longer due: the run was claimed, or the offer is void. It is an effect like
// any other: a process that dies before the item is there leaves an offer, and
// the next one offers the run in its own epoch. The item's id is the offer's, so
// that to put it twice changes nothing. It is put again from time to time,
// because the queue is derived: it may be wiped, or come from a backup in which
// this very item was done with.
func (p *Pool) KeepQueued(ctx context.Context, e company.Effect) error {
	body, err := json.Marshal(e.Offer)
	if err != nil {
		return err
	}
	item := bus.Item{ID: e.Key, Body: body}
	if err := p.Queue.Put(ctx, item); err != nil {
		return company.E(company.EBus, "run "+string(e.Run)+" could not be put on the queue").Wrap(err)
	}
	for {
		if err := retry.Sleep(ctx, p.putEvery); err != nil {
			return err
		}
		if err := p.Queue.Put(ctx, item); err != nil && ctx.Err() == nil {
			p.Logger.WarnContext(ctx, "item not put again", "item", item.ID, "err", err)
		}
	}
}
