package dispatch

import (
	"context"
	"errors"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/company"
)

// forgetfulQueue keeps nothing: each item that is put is told and gone.
type forgetfulQueue struct {
	bus.Queue
	puts chan bus.Item
	fail error
}

func (q *forgetfulQueue) Put(_ context.Context, item bus.Item) error {
	if q.fail != nil {
		return q.fail
	}
	q.puts <- item
	return nil
}

// The item of a run that is on offer is put there again for as long as that is
// due: a queue that was wiped leaves no run without its item.
func TestEnqueueKeepsTheItemThere(t *testing.T) {
	q := &forgetfulQueue{puts: make(chan bus.Item)}
	p := setup(t).pool
	p.Queue = q
	p.putEvery = time.Millisecond
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error)
	e := company.Effect{Key: "enqueue t1-01.1 3.2", Run: first, Offer: company.OfferID{Run: first, Epoch: 3, Number: 2}}
	go func() {
		ended <- p.KeepQueued(ctx, e)
	}()
	for range 3 {
		if item := <-q.puts; item.ID != e.Key || string(item.Body) != `{"run":"t1-01.1","epoch":3,"offer":2}` {
			t.Fatalf("%s: %s", item.ID, item.Body)
		}
	}
	why := errors.New("it is claimed")
	cancel(why)
	for {
		select {
		case <-q.puts:
			continue
		case err := <-ended:
			if !errors.Is(err, why) {
				t.Fatal(err)
			}
		}
		break
	}
}

// A queue that does not take the item is a failure of the effect.
func TestEnqueueFails(t *testing.T) {
	p := setup(t).pool
	p.Queue = &forgetfulQueue{fail: errors.New("full")}
	if err := p.KeepQueued(t.Context(), company.Effect{Key: "k", Run: first}); company.CodeOf(err) != company.EBus {
		t.Fatal(err)
	}
}
