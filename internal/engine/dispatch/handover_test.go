package dispatch

import (
	"context"
	"errors"
	"testing"
	"time"

	"company/internal/company"
)

// workOn is the effect that a claim of the first run makes due.
func workOn(r *company.Run) company.Effect {
	return company.Effect{Kind: company.EffectWork, Task: "t1", Subtask: "t1-01", Run: first, Fence: r.Fence}
}

// A lost lease is not a failed attempt: the claim is let go, the work ends, and the
// run is offered again under its own id.
func TestLostLease(t *testing.T) {
	b := setup(t)
	b.queue.lose, b.pool.extendEvery = true, 100*time.Millisecond
	b.Must(company.Offer{Run: first})
	b.enqueue()
	b.start(b.pool)
	r := b.awaitHeld(first)
	if err := b.pool.Work(t.Context(), workOn(r)); err != nil {
		t.Fatalf("a lost lease counts as a failure: %v", err)
	}
	task := b.Task("t1")
	if got := task.Runs[first]; got.Held || got.Fence != r.Fence || got.Ended || got.Offered != 0 ||
		len(task.Failures) != 0 {
		t.Fatalf("%+v %+v", got, task.Failures)
	}
}

// Work that is no longer due ends, the item is acknowledged, and the worker is
// free.
func TestWorkEndsWithItsEffect(t *testing.T) {
	b := setup(t)
	b.Must(company.Offer{Run: first})
	b.enqueue()
	b.start(b.pool)
	r := b.awaitHeld(first)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.pool.Work(ctx, workOn(r)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	b.await("ack enqueue t1-01.1 1.1")
	b.Must(company.Offer{Run: second})
	b.enqueue()
	b.awaitHeld(second)
}

// A claim that nothing here has a lease for is let go.
func TestClaimOfNoLease(t *testing.T) {
	b := setup(t)
	b.Must(company.Offer{Run: first})
	b.Claim(first, "")
	if err := b.pool.Work(t.Context(), workOn(b.Task("t1").Runs[first])); err != nil {
		t.Fatal(err)
	}
	if r := b.Task("t1").Runs[first]; r.Held || r.Ended {
		t.Errorf("%+v", r)
	}
}

// lateAnswer has every answer come when it is let through.
type lateAnswer struct {
	company.Decider
	decided, through chan struct{}
}

func (d *lateAnswer) Do(ctx context.Context, actor string, c company.Command) ([]company.Event, error) {
	evs, err := d.Decider.Do(ctx, actor, c)
	d.decided <- struct{}{}
	<-d.through
	return evs, err
}

// The loop may start the work before the claim's own answer is back: it waits for
// that, and finds its lease.
func TestWorkBeforeTheClaimsAnswer(t *testing.T) {
	b := setup(t)
	late := &lateAnswer{b, make(chan struct{}), make(chan struct{})}
	p := b.newPool(late)
	b.Must(company.Offer{Run: first})
	b.put("item", company.OfferID{Run: first, Epoch: 1, Number: 1})
	b.start(p)
	<-late.decided
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error)
	r := b.awaitHeld(first)
	go func() { ended <- p.Work(ctx, workOn(r)) }()
	close(late.through)
	select {
	case <-b.began:
	case err := <-ended:
		t.Fatalf("the lease was not found: %v", err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if got := b.Task("t1").Runs[first]; got.Fence != r.Fence || got.Held {
		t.Errorf("%+v", got)
	}
}

// A claim that is void before its work could begin keeps no worker: the task was
// cancelled in between.
func TestClaimVoidBeforeItsWork(t *testing.T) {
	b := setup(t)
	b.pool.extendEvery = 100 * time.Millisecond
	b.Must(company.Offer{Run: first})
	b.enqueue()
	b.start(b.pool)
	b.awaitHeld(first)
	b.Must(company.Cancel{Task: "t1"})
	b.await("ack enqueue t1-01.1 1.1")
	if s, err := b.pool.Status(t.Context()); err != nil || s.Active != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}
