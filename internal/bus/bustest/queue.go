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
	"company/internal/lib/hosttest"
)

func (s *store) mustPut(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if err := s.Queue().Put(s.ctx, bus.Item{ID: id, Body: []byte("body of " + id)}); err != nil {
			t.Fatalf("put %s: %v", id, err)
		}
	}
}

func (s *store) mustLease(t *testing.T, id string) bus.Lease {
	t.Helper()
	lease, err := s.Queue().Lease(s.ctx)
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
	if l, err := s.Queue().Lease(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("leased %v, %v; want nothing", l, err)
	}
}

// requireDepth waits until the queue counts so many items. A driver may count an item that is given back
// a moment later.
func (s *store) requireDepth(t *testing.T, waiting, leased int) {
	t.Helper()
	hosttest.Eventually(t, fmt.Sprintf("%d items wait and %d are leased", waiting, leased), func() (any, bool) {
		w, l, err := s.Queue().Depth(s.ctx)
		return fmt.Sprintf("%d wait, %d are leased, %v", w, l, err), err == nil && w == waiting && l == leased
	})
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
	lease := s.mustLease(t, "a")
	b := s.mustLease(t, "b/../*.>")
	s.requireDepth(t, 1, 2)
	mustSucceed(t, lease.Ack(s.ctx))
	mustSucceed(t, b.Ack(s.ctx))
	mustSucceed(t, s.mustLease(t, "c").Ack(s.ctx))
	requireErr(t, lease.Ack(s.ctx), bus.ErrLeaseLost)
	requireErr(t, lease.Extend(s.ctx), bus.ErrLeaseLost)
	requireErr(t, lease.Nack(s.ctx, 0), bus.ErrLeaseLost)
	s.requireDepth(t, 0, 0)
	s.requireNothing(t)

	// A put wakes a waiting caller.
	got := make(chan error, 1)
	go func() {
		l, err := s.Queue().Lease(s.ctx)
		if err == nil && l.Item().ID != "d" {
			err = fmt.Errorf("leased %s", l.Item().ID)
		}
		got <- err
	}()
	s.mustPut(t, "d")
	mustSucceed(t, <-got)

	requireErr(t, s.Queue().Put(s.ctx, bus.Item{}), bus.ErrNotAllowed)
}

// queuePutTwice checks that a second put has no effect while the item is in the queue.
func queuePutTwice(t *testing.T, s *store) {
	s.mustPut(t, "a", "a")
	s.requireDepth(t, 1, 0)
	lease := s.mustLease(t, "a")
	s.mustPut(t, "a")
	s.requireDepth(t, 0, 1)
	mustSucceed(t, lease.Ack(s.ctx))
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
	s.mustLease(t, "b")
	s.requireNothing(t)
	s.reopenStore(t)
	s.mustPut(t, "b", "a") // a was settled and is put again
	s.requireDepth(t, 2, 0)
}

func queueExpiry(t *testing.T, s *store) {
	s.leaseTTL = 200 * time.Millisecond
	s.reopenStore(t)
	s.mustPut(t, "a")
	var old []bus.Lease
	for range 3 {
		old = append(old, s.mustLease(t, "a")) // waits until the last lease has expired
	}
	s.mustLease(t, "a")
	for _, lease := range old {
		requireErr(t, lease.Extend(s.ctx), bus.ErrLeaseLost)
		requireErr(t, lease.Ack(s.ctx), bus.ErrLeaseLost)
		requireErr(t, lease.Nack(s.ctx, 0), bus.ErrLeaseLost)
	}
}

func queueExtend(t *testing.T, s *store) {
	const ttl = 500 * time.Millisecond
	s.leaseTTL = ttl
	s.reopenStore(t)
	s.mustPut(t, "a")
	lease := s.mustLease(t, "a")
	for start := time.Now(); time.Since(start) < 2*ttl; {
		extended := time.Now()
		if err := lease.Extend(s.ctx); err != nil {
			if errors.Is(err, bus.ErrLeaseLost) { // this machine was suspended for ttl
				lease, start = s.mustLease(t, "a"), time.Now()
				continue
			}
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(s.ctx, 50*time.Millisecond)
		taken, err := s.Queue().Lease(ctx)
		cancel()
		if err == nil && time.Since(extended) >= ttl { // the machine was suspended again
			lease, start = taken, time.Now()
		} else if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("leased %v, %v; want nothing", taken, err)
		}
	}
	s.mustLease(t, "a")
	requireErr(t, lease.Extend(s.ctx), bus.ErrLeaseLost)
}

func queueNackDelay(t *testing.T, s *store) {
	s.mustPut(t, "a", "b")
	lease := s.mustLease(t, "a")
	mustSucceed(t, lease.Nack(s.ctx, time.Hour))
	requireErr(t, lease.Ack(s.ctx), bus.ErrLeaseLost)
	s.mustLease(t, "b") // a is older, but not due
	s.requireDepth(t, 0, 2)
	s.mustPut(t, "c")
	c := s.mustLease(t, "c")
	start := time.Now() // the delay counts from within Nack
	mustSucceed(t, c.Nack(s.ctx, 300*time.Millisecond))
	again := s.mustLease(t, "c")
	if waited := time.Since(start); waited < 300*time.Millisecond {
		t.Fatalf("leased again after %v, before its delay", waited)
	}
	mustSucceed(t, again.Nack(s.ctx, 0))
	mustSucceed(t, s.mustLease(t, "c").Nack(s.ctx, time.Hour))
	s.requireNothing(t)
}

// queueConcurrentLease checks that no item ever has two holders.
func queueConcurrentLease(t *testing.T, s *store) {
	const items, workers = 40, 6
	for n := range items {
		s.mustPut(t, fmt.Sprint("i", n))
	}
	var mu sync.Mutex
	var ids []string
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
				lease, err := s.Queue().Lease(ctx)
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

// queueReopen checks that items survive the process (BUS-6), and that its leases and delays do not.
func queueReopen(t *testing.T, s *store) {
	s.mustPut(t, "b", "a", "done", "delayed", "waiting")
	lease := s.mustLease(t, "b")
	a := s.mustLease(t, "a")
	mustSucceed(t, s.mustLease(t, "done").Ack(s.ctx))
	mustSucceed(t, s.mustLease(t, "delayed").Nack(s.ctx, time.Hour))
	s.reopenStore(t)
	for _, old := range []bus.Lease{lease, a} {
		requireErr(t, old.Ack(s.ctx), bus.ErrClosed)
	}
	s.requireDepth(t, 4, 0)
	for _, id := range []string{"b", "a", "delayed", "waiting"} {
		mustSucceed(t, s.mustLease(t, id).Ack(s.ctx))
	}
	s.mustPut(t, "c")
	mustSucceed(t, s.mustLease(t, "c").Ack(s.ctx))
	s.reopenStore(t)
	s.requireDepth(t, 0, 0)
	s.requireNothing(t)
}

// Feature: agent-execution-engine, Property 18: Message Delivery Guarantee
//
// An id may be put and its item may be given back any number of times. Each item must be delivered until it is
// acknowledged once, with its own body. The log has each message that was sent, in order (BUS-3).
func queueDeliversEach(t *testing.T, s *store) {
	cases := 0
	rapid.Check(t, func(rt *rapid.T) {
		cases++
		open := map[string]bool{} // put but not acknowledged
		subject, last := fmt.Sprintf("run.t%d-01.1", cases), uint64(0)
		var sent []string
		for range rapid.IntRange(1, 6).Draw(rt, "puts") {
			id := fmt.Sprintf("%d-%d", cases, rapid.IntRange(1, 4).Draw(rt, "id"))
			if err := s.Queue().Put(s.ctx, bus.Item{ID: id, Body: []byte("body of " + id)}); err != nil {
				rt.Fatal(err)
			}
			var err error
			if last, err = s.Log().Append(s.ctx, subject, []byte(id), last, fmt.Sprint(len(sent))); err != nil {
				rt.Fatal(err)
			}
			sent = append(sent, id)
			open[id] = true
		}
		for n := 0; len(open) > 0; n++ {
			lease, err := s.Queue().Lease(s.ctx)
			if err != nil {
				rt.Fatal(err)
			}
			item := lease.Item()
			if !open[item.ID] || string(item.Body) != "body of "+item.ID {
				rt.Fatalf("leased %q with body %q; open are %v", item.ID, item.Body, open)
			}
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
		var logged []string
		err := s.Log().Read(s.ctx, subject, 0, func(m bus.Message) error {
			logged = append(logged, string(m.Data))
			return nil
		})
		if err != nil || !slices.Equal(logged, sent) {
			rt.Fatalf("the log has %v, %v; sent were %v", logged, err, sent)
		}
	})
	s.requireDepth(t, 0, 0)
}
