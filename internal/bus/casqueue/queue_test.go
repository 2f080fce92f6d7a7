package casqueue

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"company/internal/bus"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// memory is a store that lasts as long as the test.
type memory struct {
	read func(bus.Message) // after a look, before its answer

	mu      sync.Mutex
	seq     uint64
	records map[string]bus.Message
}

func (m *memory) WriteItem(
	_ context.Context, subject string, data []byte, expect uint64, _ time.Duration,
) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.records[subject].Seq != expect {
		return 0, bus.ErrConflict
	}
	m.seq++
	m.records[subject] = bus.Message{Subject: subject, Seq: m.seq, Data: data}
	return m.seq, nil
}

func (m *memory) LastItem(_ context.Context, subject string) (bus.Message, error) {
	m.mu.Lock()
	r, ok := m.records[subject]
	m.mu.Unlock()
	if m.read != nil {
		m.read(r)
	}
	if !ok {
		return r, bus.ErrNotFound
	}
	return r, nil
}

func (m *memory) CheckAlive(ctx context.Context) error { return context.Cause(ctx) }

func (m *memory) WithClosing(ctx context.Context) (context.Context, func()) {
	return ctx, func() {}
}

// TestOrderIsNoClocks: the wall clock is set back by a day while items wait, and
// the queue is opened anew. What was put first is leased first: newer items do not
// pass it for a day.
func TestOrderIsNoClocks(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store := &memory{records: map[string]bus.Message{}}
	q := New(store, time.Minute)
	put := func(id string) {
		t.Helper()
		if err := q.Put(ctx, bus.Item{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	tomorrow := record{ID: "d", State: waiting, Put: time.Now().Add(24 * time.Hour).UTC()}
	if _, err := q.write(ctx, tomorrow, 0); err != nil {
		t.Fatal(err)
	}
	put("c")
	q = New(store, time.Minute)
	for _, id := range []string{"d", "c"} {
		if err := q.Load(store.records[subjectOf(id)]); err != nil {
			t.Fatal(err)
		}
	}
	put("b")
	put("a")
	for _, want := range []string{"d", "c", "b", "a"} {
		l, err := q.Lease(ctx, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Item().ID; got != want {
			t.Errorf("leased %s, want %s", got, want)
		}
	}
}

// TestPutTwiceAtOnce: two put the same item, and it is leased before the slower one has
// its answer. What that one saw in the store is older than the lease, and does not
// take it from its holder (DST-3).
func TestPutTwiceAtOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for seed := range 200 {
		store := &memory{records: map[string]bus.Message{}}
		store.read = func(bus.Message) { time.Sleep(time.Duration(seed%4) * 100 * time.Microsecond) }
		q := New(store, time.Minute)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if err := q.Put(ctx, bus.Item{ID: "a"}); err != nil {
					t.Error(err)
				}
			})
		}
		l, err := q.Lease(ctx, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Extend(ctx); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		wg.Wait()
		if err := l.Ack(ctx); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if waiting, leased, err := q.Depth(ctx); waiting+leased > 0 || err != nil {
			t.Fatalf("seed %d: %d wait, %d are leased, %v", seed, waiting, leased, err)
		}
	}
}

// TestPutAfterAFailedPut: of two that put the same item the second one waits for the
// first, and puts it itself when that fails.
func TestPutAfterAFailedPut(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is full")
	failing := make(chan struct{})
	store := &failingOnce{memory: &memory{records: map[string]bus.Message{}}, failing: failing, err: broken}
	q := New(store, time.Minute)
	first := make(chan error, 1)
	go func() { first <- q.Put(t.Context(), bus.Item{ID: "a"}) }()
	<-failing
	second := make(chan error, 1)
	go func() { second <- q.Put(t.Context(), bus.Item{ID: "a"}) }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := q.Put(ctx, bus.Item{ID: "a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a put that nobody waits for: %v", err)
	}
	failing <- struct{}{}
	if err := <-first; !errors.Is(err, broken) {
		t.Errorf("the first put: %v", err)
	}
	if err := <-second; err != nil {
		t.Errorf("the second put: %v", err)
	}
	if waiting, _, _ := q.Depth(t.Context()); waiting != 1 {
		t.Errorf("%d items wait, want 1", waiting)
	}
}

// failingOnce fails its first write, when it is told to.
type failingOnce struct {
	*memory
	once    sync.Once
	failing chan struct{}
	err     error
}

func (f *failingOnce) WriteItem(
	ctx context.Context, subject string, data []byte, expect uint64, keep time.Duration,
) (seq uint64, err error) {
	f.once.Do(func() {
		f.failing <- struct{}{}
		<-f.failing
		err = f.err
	})
	if err != nil {
		return 0, err
	}
	return f.memory.WriteItem(ctx, subject, data, expect, keep)
}
