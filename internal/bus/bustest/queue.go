package bustest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"company/internal/bus"
)

// long is a time to live that no case exceeds.
const long = 10 * time.Minute

func (s *store) mustPut(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if err := s.Queue().Put(s.ctx, bus.Item{ID: id, Body: []byte("body of " + id)}); err != nil {
			t.Fatalf("put %s: %v", id, err)
		}
	}
}

func (s *store) mustLease(t *testing.T, id string, ttl time.Duration) bus.Lease {
	t.Helper()
	lease, err := s.Queue().Lease(s.ctx, ttl)
	if err != nil {
		t.Fatalf("lease: %v", err)
	}
	if item := lease.Item(); item.ID != id || string(item.Body) != "body of "+id {
		t.Fatalf("leased %q with body %q, want %q", item.ID, item.Body, id)
	}
	return lease
}

// requireNothing checks that no item can be leased now.
func (s *store) requireNothing(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, 50*time.Millisecond)
	defer cancel()
	if l, err := s.Queue().Lease(ctx, long); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("leased %v, %v; want nothing", l, err)
	}
}

func (s *store) requireDepth(t *testing.T, waiting, leased int) {
	t.Helper()
	w, l, err := s.Queue().Depth(s.ctx)
	if err != nil || w != waiting || l != leased {
		t.Fatalf("%d wait, %d are leased, %v; want %d, %d", w, l, err, waiting, leased)
	}
}

func mustSucceed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func queueOrder(t *testing.T, s *store) {
	s.requireNothing(t)
	s.mustPut(t, "a", "b/../*.>", "c")
	lease := s.mustLease(t, "a", long)
	b := s.mustLease(t, "b/../*.>", long)
	if lease.Fence() >= b.Fence() || lease.Deliveries() != 1 {
		t.Fatalf("fences %d, %d; deliveries %d", lease.Fence(), b.Fence(), lease.Deliveries())
	}
	s.requireDepth(t, 1, 2)
	mustSucceed(t, lease.Ack(s.ctx))
	mustSucceed(t, b.Ack(s.ctx))
	mustSucceed(t, s.mustLease(t, "c", long).Ack(s.ctx))
	requireErr(t, lease.Ack(s.ctx), bus.ErrLeaseLost)
	requireErr(t, lease.Extend(s.ctx), bus.ErrLeaseLost)
	s.requireDepth(t, 0, 0)
	s.requireNothing(t)

	// A put wakes a waiting caller.
	got := make(chan error, 1)
	go func() {
		l, err := s.Queue().Lease(s.ctx, long)
		if err == nil && l.Item().ID != "d" {
			err = fmt.Errorf("leased %s", l.Item().ID)
		}
		got <- err
	}()
	s.mustPut(t, "d")
	mustSucceed(t, <-got)

	_, err := s.Queue().Lease(s.ctx, 0)
	requireErr(t, err, bus.ErrNotAllowed)
	requireErr(t, s.Queue().Put(s.ctx, bus.Item{}), bus.ErrNotAllowed)
}

// queuePutTwice checks that a second put has no effect in any state of the item.
func queuePutTwice(t *testing.T, s *store) {
	s.mustPut(t, "a", "a")
	s.requireDepth(t, 1, 0)
	lease := s.mustLease(t, "a", long)
	s.mustPut(t, "a")
	s.requireDepth(t, 0, 1)
	mustSucceed(t, lease.Ack(s.ctx))
	s.mustPut(t, "a")
	s.requireDepth(t, 0, 0)
	s.reopenStore(t)
	s.mustPut(t, "a")
	s.requireNothing(t)

	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := s.Queue().Put(s.ctx, bus.Item{ID: "b", Body: []byte("body of b")}); err != nil {
				t.Errorf("put: %v", err)
			}
		})
	}
	wg.Wait()
	s.mustLease(t, "b", long)
	s.requireNothing(t)
}

func queueExpiry(t *testing.T, s *store) {
	s.mustPut(t, "a")
	var fence uint64
	var old []bus.Lease
	for n := 1; n <= 3; n++ {
		lease := s.mustLease(t, "a", 20*time.Millisecond)
		if lease.Fence() <= fence || lease.Deliveries() != n {
			t.Fatalf("lease %d has fence %d after %d, %d deliveries", n, lease.Fence(), fence, lease.Deliveries())
		}
		fence = lease.Fence()
		old = append(old, lease)
	}
	l := s.mustLease(t, "a", long) // waits until the last lease has expired
	for _, lease := range old {
		requireErr(t, lease.Extend(s.ctx), bus.ErrLeaseLost)
		requireErr(t, lease.Ack(s.ctx), bus.ErrLeaseLost)
		requireErr(t, lease.Nack(s.ctx, 0), bus.ErrLeaseLost)
		requireErr(t, lease.Bury(s.ctx), bus.ErrLeaseLost)
	}
	mustSucceed(t, l.Ack(s.ctx))
	s.requireNothing(t)
}

func queueExtend(t *testing.T, s *store) {
	s.mustPut(t, "a")
	const ttl = 500 * time.Millisecond
	lease := s.mustLease(t, "a", ttl)
	fence := lease.Fence()
	for start := time.Now(); time.Since(start) < 2*ttl; {
		extended := time.Now()
		if err := lease.Extend(s.ctx); err != nil {
			if errors.Is(err, bus.ErrLeaseLost) { // this machine was suspended for ttl
				lease, start = s.mustLease(t, "a", ttl), time.Now()
				fence = lease.Fence()
				continue
			}
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(s.ctx, 50*time.Millisecond)
		taken, err := s.Queue().Lease(ctx, ttl)
		cancel()
		if err == nil && time.Since(extended) >= ttl { // the machine was suspended again
			lease, start = taken, time.Now()
			fence = lease.Fence()
		} else if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("leased %v, %v; want nothing", taken, err)
		}
	}
	if lease.Fence() != fence {
		t.Fatalf("extending moved the fence from %d to %d", fence, lease.Fence())
	}
	again := s.mustLease(t, "a", long)
	requireErr(t, lease.Extend(s.ctx), bus.ErrLeaseLost)
	mustSucceed(t, again.Extend(s.ctx))
	mustSucceed(t, again.Ack(s.ctx))
}

func queueNackDelay(t *testing.T, s *store) {
	s.mustPut(t, "a", "b")
	lease := s.mustLease(t, "a", long)
	mustSucceed(t, lease.Nack(s.ctx, time.Hour))
	requireErr(t, lease.Ack(s.ctx), bus.ErrLeaseLost)
	b := s.mustLease(t, "b", long) // a is older, but not due
	s.requireDepth(t, 1, 1)
	s.mustPut(t, "c")
	c := s.mustLease(t, "c", long)
	start := time.Now() // the delay counts from within Nack
	mustSucceed(t, c.Nack(s.ctx, 300*time.Millisecond))
	again := s.mustLease(t, "c", long)
	if waited := time.Since(start); waited < 300*time.Millisecond {
		t.Fatalf("leased again after %v, before its delay", waited)
	}
	if again.Deliveries() != 2 || again.Fence() <= b.Fence() {
		t.Fatalf("delivery %d with fence %d", again.Deliveries(), again.Fence())
	}
	mustSucceed(t, again.Nack(s.ctx, 0))
	mustSucceed(t, s.mustLease(t, "c", long).Nack(s.ctx, time.Hour))
	s.requireNothing(t)
	s.reopenStore(t)
	s.requireNothing(t)
	s.requireDepth(t, 2, 1)
}

func queueBury(t *testing.T, s *store) {
	s.mustPut(t, "a", "b", "c")
	lease, b := s.mustLease(t, "a", long), s.mustLease(t, "b", long)
	mustSucceed(t, b.Bury(s.ctx))
	mustSucceed(t, lease.Bury(s.ctx))
	requireErr(t, lease.Bury(s.ctx), bus.ErrLeaseLost)
	for range 2 {
		dead, err := s.Queue().Dead(s.ctx)
		mustSucceed(t, err)
		if len(dead) != 2 || dead[0].ID != "b" || dead[1].ID != "a" || string(dead[1].Body) != "body of a" {
			t.Fatalf("dead letters %v, want b and a", dead)
		}
		s.mustPut(t, "a") // a dead item still exists
		s.requireDepth(t, 1, 0)
		s.reopenStore(t)
	}
	s.mustLease(t, "c", long)
	s.requireNothing(t)
}

// queueConcurrentLease checks that no item ever has two holders and that fences are unique.
func queueConcurrentLease(t *testing.T, s *store) {
	const items, workers = 40, 6
	for n := range items {
		s.mustPut(t, fmt.Sprint("i", n))
	}
	var mu sync.Mutex
	var ids []string
	fences := map[uint64]bool{}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				mu.Lock()
				enough := len(ids) == items
				mu.Unlock()
				if enough {
					return
				}
				ctx, cancel := context.WithTimeout(s.ctx, time.Second)
				lease, err := s.Queue().Lease(ctx, long)
				cancel()
				if errors.Is(err, context.DeadlineExceeded) {
					continue // others hold the last ones
				}
				if err == nil {
					err = lease.Ack(s.ctx)
				}
				if err != nil {
					t.Errorf("lease or ack: %v", err)
					return
				}
				mu.Lock()
				ids = append(ids, lease.Item().ID)
				if fences[lease.Fence()] {
					t.Errorf("fence %d was given twice", lease.Fence())
				}
				fences[lease.Fence()] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(ids)
	if len(ids) != items || len(slices.Compact(ids)) != items {
		t.Fatalf("%d acks for %d items: %v", len(ids), items, ids)
	}
}

// queueReopen checks that leases, delays and fences survive the process (BUS-6).
func queueReopen(t *testing.T, s *store) {
	s.mustPut(t, "b")
	lease := s.mustLease(t, "b", long) // never settled, so the queue considers it held
	s.mustPut(t, "a")
	a := s.mustLease(t, "a", 50*time.Millisecond)
	s.reopenStore(t)
	again := s.mustLease(t, "a", long)
	if again.Fence() <= lease.Fence() || again.Fence() <= a.Fence() || again.Deliveries() != 2 {
		t.Fatalf("fence %d after %d and %d, delivery %d", again.Fence(), a.Fence(), lease.Fence(), again.Deliveries())
	}
	s.mustPut(t, "c")
	c := s.mustLease(t, "c", long)
	s.requireNothing(t)
	mustSucceed(t, again.Ack(s.ctx))
	mustSucceed(t, c.Ack(s.ctx))
	s.reopenStore(t)
	s.requireDepth(t, 0, 1)
	s.mustPut(t, "d")
	if d := s.mustLease(t, "d", long); d.Fence() <= c.Fence() {
		t.Fatalf("fence %d after %d", d.Fence(), c.Fence())
	}
}

// queueDeliversEach is a property test (BUS-3). An id may be put and its item may be given back any
// number of times. Each item must be delivered until it is acknowledged once, with its own body and
// with increasing fences.
func queueDeliversEach(t *testing.T, s *store) {
	cases, fence := 0, uint64(0)
	rapid.Check(t, func(rt *rapid.T) {
		cases++
		open := map[string]bool{} // put but not acknowledged
		for range rapid.IntRange(1, 6).Draw(rt, "puts") {
			id := fmt.Sprintf("%d-%d", cases, rapid.IntRange(1, 4).Draw(rt, "id"))
			if err := s.Queue().Put(s.ctx, bus.Item{ID: id, Body: []byte("body of " + id)}); err != nil {
				rt.Fatal(err)
			}
			open[id] = true
		}
		for n := 0; len(open) > 0; n++ {
			lease, err := s.Queue().Lease(s.ctx, long)
			if err != nil {
				rt.Fatal(err)
			}
			item := lease.Item()
			if !open[item.ID] || string(item.Body) != "body of "+item.ID || lease.Fence() <= fence {
				rt.Fatalf("%q with body %q and fence %d came after fence %d; open are %v", item.ID, item.Body, lease.Fence(),
					fence, open)
			}
			fence = lease.Fence()
			if n < 20 && rapid.Bool().Draw(rt, "gives back") {
				err = lease.Nack(s.ctx, 0)
			} else {
				delete(open, item.ID)
				err = lease.Ack(s.ctx)
			}
			if err != nil {
				rt.Fatal(err)
			}
		}
		if waiting, leased, err := s.Queue().Depth(s.ctx); err != nil || waiting != 0 || leased != 0 {
			rt.Fatalf("%d wait, %d are leased, %v", waiting, leased, err)
		}
	})
}
