package feed

import (
	"context"
	"errors"

	"company/internal/company"
)

// Source is what the feed of one office is made from.
type Source struct {
	Ledger Ledger
	Office Office
	Hub    *Hub
}

// Ledger has the events of an office.
type Ledger interface {
	// Read gives the events from a number on that are stored.
	Read(ctx context.Context, from uint64, fn func(company.Event) error) error
	// ReadTask is Read for those of one task.
	ReadTask(ctx context.Context, task company.TaskID, from uint64, fn func(company.Event) error) error
}

// Office has the tasks as they are now.
type Office interface {
	// FindTask finds a task, archived or not; nil: there is none, or it cannot be read.
	FindTask(ctx context.Context, id company.TaskID) *company.Task
}

// Range is a part of the feed.
type Range struct {
	From  uint64         // the number of the first event; 0 is 1
	Until uint64         // of the last one, without what happens in between; 0: it goes on
	Task  company.TaskID // of this task alone; empty: of all
}

// errRead ends a read of the ledger that has what it was for.
var errRead = errors.New("feed: read")

// Follow gives a part of the feed: until the range ends, or ctx. What happens between
// two events comes between them, never before the event that it follows from. A
// listener that is too far behind for the hub's ring reads events in the ledger, and
// misses what happened between those.
func (s Source) Follow(ctx context.Context, r Range, fn func(Item) error) error {
	joined, end := s.Hub.addListener()
	defer end()
	next, place := max(1, r.From), uint64(0)
	for r.Until == 0 || next <= r.Until {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		v := s.Hub.lookFrom(place, next)
		if v.missing > 0 {
			if err := s.readPast(ctx, r, next, v.missing, fn); err != nil {
				return err
			}
			next = v.missing + 1
			continue
		}
		for i, e := range v.entries {
			at := v.place + uint64(i)
			place = at + 1
			switch {
			case e.seq == 0 && (at < joined || r.Until > 0), e.seq > 0 && (e.seq < next || r.Until > 0 && e.seq > r.Until):
				continue
			case e.seq > 0:
				next = e.seq + 1
			}
			if r.Task != "" && e.of != r.Task {
				continue
			}
			if err := fn(e.describeOnce()); err != nil {
				return err
			}
		}
		if len(v.entries) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
		case <-v.wait:
		}
	}
	return nil
}

// findTask finds the task of an event; nil: the event is of none.
func (s Source) findTask(ctx context.Context, id company.TaskID) *company.Task {
	if id == "" {
		return nil
	}
	return s.Office.FindTask(ctx, id)
}

const (
	// pastReads is how many listeners of an office read the ledger at a time. Commands need it, too.
	pastReads = 4
	// portionEvents and portionBytes bound what one of them reads in its turn.
	portionEvents = 1024
	portionBytes  = 4 << 20
)

// readPast gives events that the ledger alone has, in portions: a listener that takes them slowly
// keeps no other from the ledger.
func (s Source) readPast(ctx context.Context, r Range, from, upTo uint64, fn func(Item) error) error {
	if r.Until > 0 {
		upTo = min(upTo, r.Until)
	}
	for {
		events, whole, err := s.readPortion(ctx, r.Task, from, upTo)
		for _, e := range events {
			if err := fn(Describe(e, s.findTask(ctx, e.Task))); err != nil {
				return err
			}
			from = e.Seq + 1
		}
		if whole || err != nil {
			return err
		}
	}
}

// readPortion reads the next events up to a number. whole: there are no more of them.
func (s Source) readPortion(ctx context.Context, task company.TaskID, from, upTo uint64) (events []company.Event, whole bool, err error) {
	end, err := s.Hub.beginRead(ctx)
	if err != nil {
		return nil, false, err
	}
	defer end()
	size := 0
	take := func(e company.Event) error {
		if e.Seq <= upTo {
			events = append(events, e)
			size += len(e.Data)
		}
		if whole = e.Seq >= upTo; whole || len(events) >= portionEvents || size >= portionBytes {
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
