package feed

import (
	"context"
	"sync"

	"company/internal/company"
)

// Source is what the feed of one office is made from.
type Source struct {
	Ledger Ledger
	Office Office
	// Live passes on what happens between two events.
	Live *Broadcaster
}

// Ledger has the events of an office.
type Ledger interface {
	// Follow gives the events from a number on, until ctx ends.
	Follow(ctx context.Context, from uint64, fn func(company.Event) error) error
}

// Office has the state as it is now.
type Office interface {
	View() *company.State
}

// Follow gives the feed from event number from on, until ctx ends. What
// happens between two events comes between them, never before the event that
// it follows from.
func (s Source) Follow(ctx context.Context, from uint64, fn func(Item) error) error {
	live, end := s.Live.Subscribe()
	defer end()
	ctx, cancel := context.WithCancelCause(ctx)
	events := make(chan company.Event)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel(nil)
	from = max(1, from)
	wg.Go(func() {
		err := s.Ledger.Follow(ctx, from, func(e company.Event) error {
			select {
			case events <- e:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		cancel(err)
	})
	last := from - 1
	var early []Item // their events have not come yet
	for {
		var next []Item
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case e := <-events:
			last = e.Seq
			next = append(next, Describe(e, s.Office.View().Tasks[e.Task]))
		case it := <-live:
			early = append(early, it)
		}
		for len(early) > 0 && early[0].After <= last {
			next, early = append(next, early[0]), early[1:]
		}
		for _, it := range next {
			if err := fn(it); err != nil {
				return err
			}
		}
	}
}
