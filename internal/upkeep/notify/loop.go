package notify

import (
	"context"
	"errors"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/present/feed"
)

// Way delivers messages in one way. Its name is the one in the config.
type Way interface {
	Name() string
	// Deliver delivers a message, until ctx ends.
	Deliver(ctx context.Context, m Message) error
}

// deliveryTime is the timeout of a delivery in one way, with its retries.
const deliveryTime = 45 * time.Second

// Feed is the feed of an office.
type Feed interface {
	// FollowNew calls fn for new lines of the feed until ctx ends.
	FollowNew(ctx context.Context, fn func(feed.Item) error) error
}

// Loop notifies about one office.
type Loop struct {
	Ways []Way
	Feed Feed
	// Link returns the address of the page, or "". The address alone must give no access: other users of the machine see
	// a program's arguments, and a webhook sends it to other servers.
	Link func() string
	// Report is called when a way starts to fail, once until it works again. Each way calls it from its own goroutine.
	Report func(way string, err error)
}

// Run notifies until ctx ends, and returns when all its goroutines have ended.
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
		followed <- l.Feed.FollowNew(ctx, func(item feed.Item) error {
			select {
			case items <- item:
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
		case item := <-items:
			g.takeItem(item, time.Now())
		case now := <-timer.C:
			message := newMessage(g.takePending(now), l.Link())
			for _, queue := range queues {
				select {
				case queue <- message:
				default: // it still delivers the previous message; the office's state keeps all questions
				}
			}
		}
	}
}

// deliverAll delivers messages in one way, one at a time.
func (l Loop) deliverAll(ctx context.Context, way Way, queue <-chan Message) {
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case message := <-queue:
			dctx, cancel := context.WithTimeoutCause(ctx, deliveryTime, errors.New("it took longer than "+deliveryTime.String()))
			err := company.Guard("notify."+way.Name(), func() error { return way.Deliver(dctx, message) })
			cancel()
			if err != nil && ctx.Err() == nil && !failing {
				l.Report(way.Name(), err)
			}
			failing = err != nil
		}
	}
}
