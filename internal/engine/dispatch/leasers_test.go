package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/company"
)

// slowQueue gives an item for each token: until then a lease waits, as it does for a sync.
type slowQueue struct {
	bus.Queue
	asked  chan struct{} // a lease is asked for
	tokens chan struct{}
	nacked chan string
	items  atomic.Int64
}

func (q *slowQueue) Lease(ctx context.Context) (bus.Lease, error) {
	q.asked <- struct{}{}
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-q.tokens:
	}
	run := company.RunID(fmt.Sprintf("t1-%02d.1", q.items.Add(1)))
	body, err := json.Marshal(company.OfferID{Run: run, Epoch: 1, Number: 1})
	return slowLease{q: q, item: bus.Item{ID: string(run), Body: body}}, err
}

type slowLease struct {
	bus.Lease
	q    *slowQueue
	item bus.Item
}

func (l slowLease) Item() bus.Item             { return l.item }
func (slowLease) Ack(context.Context) error    { return nil }
func (slowLease) Extend(context.Context) error { return nil }
func (l slowLease) Nack(context.Context, time.Duration) error {
	l.q.nacked <- l.item.ID
	return nil
}

// claimAll gives every claim, and counts them.
type claimAll struct {
	company.Coordinator
	claimed chan string
}

func (c claimAll) Claim(_ context.Context, claim company.Claim) (company.Assignment, error) {
	c.claimed <- claim.Worker
	return company.Assignment{Claimed: &company.Run{ID: claim.Run, Fence: 1, Worker: claim.Worker}}, nil
}

func (claimAll) Standing(context.Context, company.RunID, uint64) (company.Standing, error) {
	return company.Standing{}, nil
}

// startSlow runs a pool of so many workers on a slow queue until the test ends.
func startSlow(t *testing.T, workers int) (p *Pool, q *slowQueue, claimed chan string) {
	t.Helper()
	q = &slowQueue{asked: make(chan struct{}, 100), tokens: make(chan struct{}), nacked: make(chan string, 100)}
	claimed = make(chan string, 100)
	p = newPool(t, Config{Queue: q, Coordinator: claimAll{claimed: claimed}, Worker: patientWorker{}, Workers: workers})
	b := &bench{t: t}
	b.start(p)
	return p, q, claimed
}

// As many items are leased at a time as there are free workers, up to a bound, so that their
// leases share syncs. No worker gets two.
func TestLeasesShareSyncs(t *testing.T) {
	for workers, most := range map[int]int{1: 1, 2: 2, 3: 3, 9: leasers} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			p, q, claimed := startSlow(t, workers)
			for range most {
				<-q.asked // all of them before one is answered
			}
			seen := map[string]bool{}
			for range workers {
				q.tokens <- struct{}{}
				if name := <-claimed; seen[name] {
					t.Errorf("%s has two runs", name)
				} else {
					seen[name] = true
				}
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			if len(p.held) != workers || p.leasing != 0 {
				t.Errorf("%d runs are held, %d items are being leased", len(p.held), p.leasing)
			}
		})
	}
}

// Where workers have gone while items were being leased for them, the items go back.
func TestLeaseForAWorkerThatHasGone(t *testing.T) {
	p, q, claimed := startSlow(t, 4)
	for range leasers {
		<-q.asked
	}
	p.SetMax(1)
	for range leasers {
		q.tokens <- struct{}{}
	}
	<-claimed
	for range leasers - 1 {
		<-q.nacked
	}
	if len(claimed) > 0 {
		t.Errorf("%d more are claimed", len(claimed))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.held) != 1 {
		t.Errorf("%d runs are held", len(p.held))
	}
}
