package casqueue

import (
	"context"
	"testing"
	"time"

	"company/internal/bus"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// memory is a store that lasts as long as the test.
type memory struct {
	seq     uint64
	records map[string]bus.Message
}

func (m *memory) WriteItem(_ context.Context, subject string, data []byte, expect uint64, _ time.Duration) (uint64, error) {
	if m.records[subject].Seq != expect {
		return 0, bus.ErrConflict
	}
	m.seq++
	m.records[subject] = bus.Message{Subject: subject, Seq: m.seq, Data: data}
	return m.seq, nil
}

func (m *memory) LastItem(_ context.Context, subject string) (bus.Message, error) {
	r, ok := m.records[subject]
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
