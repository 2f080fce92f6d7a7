package nats

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/lib/hosttest"
)

// TestForgottenItems: once a done item is forgotten, its id may be put anew,
// here and on disk; and a queue that has forgotten everything still gives
// higher fences after it was opened again (BUS-6).
func TestForgottenItems(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	dir := t.TempDir()
	var b *Bus
	open := func() {
		t.Helper()
		opened, err := Open(ctx, Options{Dir: dir, itemMemory: time.Second}) // the least that the server knows
		if err != nil {
			t.Fatal(err)
		}
		b = opened.(*Bus)
	}
	open()
	defer func() { b.Close() }()
	var fence uint64
	for round := range 2 {
		for n := range 3 {
			// Dropped while the item is remembered, so put until it counts.
			for waiting := 0; waiting == 0; {
				if err := b.queue.Put(ctx, bus.Item{ID: fmt.Sprint(n)}); err != nil {
					t.Fatal(err)
				}
				var err error
				if waiting, _, err = b.queue.Depth(ctx); err != nil {
					t.Fatal(err)
				}
			}
			l, err := b.queue.Lease(ctx, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if l.Fence() <= fence || l.Deliveries() != 1 {
				t.Fatalf("round %d: fence %d after %d, delivery %d", round, l.Fence(), fence, l.Deliveries())
			}
			fence = l.Fence()
			if err := l.Ack(ctx); err != nil {
				t.Fatal(err)
			}
		}
		hosttest.Eventually(t, "the server has dropped the records of done items", func() (any, bool) {
			info, err := b.items.Info(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return info.State.Msgs, info.State.Msgs == 0
		})
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		open()
	}
}

// TestStore: nobody else on the machine may look in, or dial, and what is
// acknowledged is on the disk (DST-3).
func TestStore(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the store has mode %v, %v", info.Mode(), err)
	}
	// A kill -9 cannot show this: the page cache survives it.
	if !b.(*Bus).server.JetStreamConfig().SyncAlways {
		t.Error("records are acknowledged before they are synced")
	}
	if addr := b.(*Bus).server.Addr(); addr != nil {
		t.Errorf("the server listens on %v", addr) // BUS-5
	}
}
