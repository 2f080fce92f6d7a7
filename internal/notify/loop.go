package notify

import (
	"context"
	"errors"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/feed"
)

// Way delivers messages. Its name is that in the config.
type Way interface {
	Name() string
	// Deliver delivers a message, until ctx ends.
	Deliver(ctx context.Context, m Message) error
}

// deliveryTime bounds one delivery by one way, its repeats included.
const deliveryTime = 45 * time.Second

// Feed is the feed of an office.
type Feed interface {
	// FollowNew gives the lines of the feed from now on, until ctx ends.
	FollowNew(ctx context.Context, fn func(feed.Item) error) error
}

// Loop notifies about one office.
type Loop struct {
	Ways []Way
	Feed Feed
	// Link is the address of the page, or nothing. It opens nothing by itself: arguments of
	// a program are seen by other users of a machine, and a webhook goes to others.
	Link func() string
	// Report is called with a way that does not work, once until it works again, from one
	// goroutine for each way.
	Report func(way string, err error)
}

// Run notifies until ctx ends, and returns when all that it began has ended.
func (l Loop) Run(ctx context.Context) error {
	if len(l.Ways) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	items := make(chan feed.Item)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	var queues []chan Message
	for _, way := range l.Ways {
		queue := make(chan Message, 1)
		queues = append(queues, queue)
		wg.Go(func() { l.deliverAll(ctx, way, queue) })
	}
	followed := make(chan error, 1)
	wg.Go(func() {
		followed <- l.Feed.FollowNew(ctx, func(it feed.Item) error {
			select {
			case items <- it:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	})
	var g gatherer
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Stop()
		if at, ok := g.nextDue(); ok {
			timer.Reset(time.Until(at))
		}
		select {
		case err := <-followed:
			if ctx.Err() != nil {
				return nil
			}
			return err
		case it := <-items:
			g.takeItem(it, time.Now())
		case now := <-timer.C:
			m := newMessage(g.takePending(now), l.Link())
			for _, queue := range queues {
				select {
				case queue <- m:
				default: // it is still at the message before; the office keeps what needs the president
				}
			}
		}
	}
}

// deliverAll delivers messages by one way, one after the other.
func (l Loop) deliverAll(ctx context.Context, way Way, queue <-chan Message) {
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-queue:
			dctx, cancel := context.WithTimeoutCause(ctx, deliveryTime, errors.New("it took longer than "+deliveryTime.String()))
			err := company.Guard("notify."+way.Name(), func() error { return way.Deliver(dctx, m) })
			cancel()
			if err != nil && ctx.Err() == nil && !failing {
				l.Report(way.Name(), err)
			}
			failing = err != nil
		}
	}
}
