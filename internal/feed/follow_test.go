package feed

import (
	"context"
	"errors"
	"slices"
	"testing"

	"company/internal/company"
)

type fakeLedger func(ctx context.Context, from uint64, fn func(company.Event) error) error

func (f fakeLedger) Follow(ctx context.Context, from uint64, fn func(company.Event) error) error {
	return f(ctx, from, fn)
}

// emptyOffice has no task.
type emptyOffice struct{}

func (emptyOffice) View() *company.State { return company.NewState() }

// What happens between two events is passed on after the event that it follows
// from, however late that event comes.
func TestFollowKeepsTheOrder(t *testing.T) {
	t.Parallel()
	live, enough := &Broadcaster{}, errors.New("enough")
	s := Source{
		Live: live, Office: emptyOffice{},
		Ledger: fakeLedger(func(ctx context.Context, from uint64, fn func(company.Event) error) error {
			live.Publish(Item{Kind: "after 1", After: 1}) // Follow has subscribed
			live.Publish(Item{Kind: "after 3", After: 3})
			for seq := from; seq <= 3; seq++ {
				if err := fn(company.Event{Seq: seq, Kind: "test"}); err != nil {
					return err
				}
			}
			<-ctx.Done()
			return ctx.Err()
		}),
	}
	var seqs []uint64
	between := map[string]uint64{} // the newest event before it
	err := s.Follow(t.Context(), 0, func(it Item) error {
		if it.Seq > 0 {
			seqs = append(seqs, it.Seq)
		} else if between[it.Kind] = 0; len(seqs) > 0 {
			between[it.Kind] = seqs[len(seqs)-1]
		}
		if len(seqs) == 3 && len(between) == 2 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || !slices.Equal(seqs, []uint64{1, 2, 3}) || between["after 1"] < 1 || between["after 3"] < 3 {
		t.Errorf("%v: events %v, between them %v", err, seqs, between)
	}
}

// When the ledger can be followed no more, the feed ends with the reason.
func TestFollowEndsWithTheLedger(t *testing.T) {
	t.Parallel()
	broken := errors.New("the ledger broke")
	s := Source{Live: &Broadcaster{}, Ledger: fakeLedger(func(context.Context, uint64, func(company.Event) error) error { return broken })}
	if err := s.Follow(t.Context(), 1, func(Item) error { return nil }); !errors.Is(err, broken) {
		t.Error(err)
	}
}

func subscribedTo(b *Broadcaster) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.subs) == 1
}

// A subscriber who does not read misses items and holds up nothing.
func TestASlowSubscriberHoldsUpNothing(t *testing.T) {
	t.Parallel()
	b := &Broadcaster{}
	slow, end := b.Subscribe()
	for range 1000 {
		b.Publish(Item{Kind: "test"})
	}
	if n := len(slow); n == 0 || n == 1000 {
		t.Errorf("%d items are kept", n)
	}
	if it := <-slow; it.SchemaVersion != 1 {
		t.Errorf("%+v", it)
	}
	end()
	b.Publish(Item{Kind: "test"})
	if subscribedTo(b) {
		t.Error("it is still subscribed")
	}
}
