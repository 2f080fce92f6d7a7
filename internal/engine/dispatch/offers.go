package dispatch

import (
	"context"
	"encoding/json"
	"time"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/lib/retry"
)

// putEvery is the interval at which an offered item is put on the queue again.
const putEvery = time.Minute

// KeepQueued keeps the item of an offered run on the queue until that is no longer due: the run was claimed, or the
// offer is void. It is an ordinary effect. If a process dies before the item is queued, the offer remains, and the
// next process offers the run in its own epoch. The item's id is the offer's, so putting it twice has no effect. It
// is put again periodically, because the queue is derived data: it may be wiped, or restored from a backup in which
// this item was already settled.
func (p *Pool) KeepQueued(ctx context.Context, effect company.Effect) error {
	body, err := json.Marshal(effect.Offer)
	if err != nil {
		return err
	}
	item := bus.Item{ID: effect.Key, Body: body}
	if err := p.Queue.Put(ctx, item); err != nil {
		return company.E(company.EBus, "cannot queue run "+string(effect.Run)).Wrap(err)
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
