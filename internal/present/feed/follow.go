package feed

import (
	"context"
	"errors"
	"slices"

	"company/internal/company"
)

// Source holds the inputs of the feed of an office.
type Source struct {
	Ledger Ledger
	Office Office
	Hub    *Hub
}

// Ledger reads the events of an office.
type Ledger interface {
	// Read calls fn for the stored events, starting at a number.
	Read(ctx context.Context, from uint64, fn func(company.Event) error) error
	// ReadTask is like Read, for the events of one task.
	ReadTask(ctx context.Context, task company.TaskID, from uint64, fn func(company.Event) error) error
}

// Office finds the current tasks.
type Office interface {
	// FindTask returns a task, archived or not. It returns nil if the task does not exist or cannot be read.
	FindTask(ctx context.Context, id company.TaskID) *company.Task
}

// Range selects a part of the feed.
type Range struct {
	From  uint64         // number of the first event; 0 means 1
	Until uint64         // number of the last event, without items in between; 0 means no end
	Task  company.TaskID // only events of this task; empty means all
	Run   company.RunID  // only events of this run of the task; empty means all
	Kinds []string       // only events of these kinds, without items in between; empty means all
}

// Selects reports whether an item is of the range's run and of its kinds.
func (r Range) Selects(item Item) bool {
	return (r.Run == "" || item.Run == r.Run) && (len(r.Kinds) == 0 || item.Seq > 0 && slices.Contains(r.Kinds,
		item.Kind))
}

// errRead stops a read of the ledger that has enough events.
var errRead = errors.New("feed: read")

// Follow sends a part of the feed to a function until the range or ctx ends. Items between two events come between
// them, never before the event that they follow. A listener that is too far behind for the hub's ring gets events from
// the ledger, and misses the items between those.
func (s Source) Follow(ctx context.Context, r Range, sendItem func(Item) error) error {
	fn := func(item Item) error {
		if !r.Selects(item) {
			return nil
		}
		return sendItem(item)
	}
	joined, end := s.Hub.addListener()
	defer end()
	next, place := max(1, r.From), uint64(0)
	for r.Until == 0 || next <= r.Until {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		view := s.Hub.lookFrom(place, next)
		if view.missing > 0 {
			if err := s.readPast(ctx, r, next, view.missing, fn); err != nil {
				return err
			}
			next = view.missing + 1
			continue
		}
		for i, entry := range view.entries {
			at := view.place + uint64(i)
			place = at + 1
			switch {
			case entry.seq == 0 && (at < joined || r.Until > 0),
				entry.seq > 0 && (entry.seq < next || r.Until > 0 && entry.seq > r.Until):
				continue
			case entry.seq > 0:
				next = entry.seq + 1
			}
			if r.Task != "" && entry.of != r.Task {
				continue
			}
			if err := fn(entry.describeOnce()); err != nil {
				return err
			}
		}
		if len(view.entries) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
		case <-view.wait:
		}
	}
	return nil
}

// findTask finds the task of an event. It returns nil if the event belongs to no task.
func (s Source) findTask(ctx context.Context, id company.TaskID) *company.Task {
	if id == "" {
		return nil
	}
	return s.Office.FindTask(ctx, id)
}

const (
	// pastReads limits how many listeners of an office read the ledger at a time. Commands need it, too.
	pastReads = 4
	// portionEvents and portionBytes limit how much a listener reads in one turn.
	portionEvents = 1024
	portionBytes  = 4 << 20
)

// readPast sends events that only the ledger has. It reads them in portions, so that a slow listener does not keep
// others from the ledger.
func (s Source) readPast(ctx context.Context, r Range, from, upTo uint64, fn func(Item) error) error {
	if r.Until > 0 {
		upTo = min(upTo, r.Until)
	}
	for {
		events, whole, err := s.readPortion(ctx, r.Task, from, upTo)
		for _, event := range events {
			if err := fn(Describe(event, s.findTask(ctx, event.Task))); err != nil {
				return err
			}
			from = event.Seq + 1
		}
		if whole || err != nil {
			return err
		}
	}
}

// readPortion reads the next events up to a number. whole reports that there are no more of them.
func (s Source) readPortion(
	ctx context.Context, task company.TaskID, from, upTo uint64,
) (events []company.Event, whole bool, err error) {
	end, err := s.Hub.beginRead(ctx)
	if err != nil {
		return nil, false, err
	}
	defer end()
	size := 0
	take := func(event company.Event) error {
		if event.Seq <= upTo {
			events = append(events, event)
			size += len(event.Data)
		}
		if whole = event.Seq >= upTo; whole || len(events) >= portionEvents || size >= portionBytes {
			return errRead
		}
		return nil
	}
	if task != "" {
		err = s.Ledger.ReadTask(ctx, task, from, take)
	} else {
		err = s.Ledger.Read(ctx, from, take)
	}
	if errors.Is(err, errRead) {
		return events, whole, nil
	}
	return events, err == nil, err
}
