package nats

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"company/internal/bus"

	natsclient "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// workers is the name of the queue's consumer.
const workers = "workers"

// Queue is a work-queue stream with one consumer. The server removes a message once it is acknowledged. It
// keeps the consumer's state in memory, so leases end with the process. It implements bus.Queue.
type Queue struct {
	bus      *Bus
	ttl      time.Duration
	consumer jetstream.Consumer
}

// Lease gives one holder the exclusive use of an item. It implements bus.Lease.
//
// The server does not tell an acknowledgement of an expired lease from one of the next. So a lease
// considers itself expired a little earlier than the server does.
type Lease struct {
	queue *Queue
	item  bus.Item
	msg   jetstream.Msg

	mu  sync.Mutex
	end time.Time
}

var (
	_ bus.Queue = (*Queue)(nil)
	_ bus.Lease = (*Lease)(nil)
)

func openQueue(ctx context.Context, b *Bus, ttl time.Duration) (*Queue, error) {
	stream, err := b.ensureStream(ctx, jetstream.StreamConfig{
		Name: queueStream, Subjects: []string{bus.ItemPrefix + "*"}, Retention: jetstream.WorkQueuePolicy,
	})
	if err != nil {
		return nil, err
	}
	consumer, err := stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: workers, MemoryStorage: true, AckPolicy: jetstream.AckExplicitPolicy, AckWait: ttl,
		MaxDeliver: -1, MaxAckPending: -1,
	})
	if err != nil {
		return nil, fmt.Errorf("open the queue: %w", err)
	}
	return &Queue{bus: b, ttl: ttl, consumer: consumer}, nil
}

// Put implements bus.Queue.
func (q *Queue) Put(ctx context.Context, item bus.Item) error {
	if err := bus.CheckItem(item); err != nil {
		return err
	}
	msg := &natsclient.Msg{Subject: bus.ItemSubject(item.ID), Data: item.Body}
	_, err := q.bus.publishMessage(ctx, msg, 0)
	if err != nil && !errors.Is(err, bus.ErrConflict) { // a conflict: it is in the queue
		return fmt.Errorf("put %s: %w", item.ID, err)
	}
	return nil
}

// Lease implements bus.Queue.
func (q *Queue) Lease(ctx context.Context) (bus.Lease, error) {
	ctx, cancel := q.bus.WithClosing(ctx)
	defer cancel()
	// The client refuses a deadline that is about to pass.
	fetching, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	for {
		if err := q.bus.CheckAlive(ctx); err != nil {
			return nil, err
		}
		msg, err := q.consumer.Next(jetstream.FetchContext(fetching))
		switch {
		case err == nil:
			id, err := bus.ItemID(msg.Subject())
			if err != nil {
				return nil, fmt.Errorf("lease an item: %w", err)
			}
			return &Lease{queue: q, item: bus.Item{ID: id, Body: msg.Data()}, msg: msg, end: q.endOfLease()}, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, natsclient.ErrTimeout):
			continue // there was no item for a while
		}
		return nil, fmt.Errorf("lease an item: %w", q.bus.explainError(err))
	}
}

func (q *Queue) endOfLease() time.Time { return time.Now().Add(q.ttl - q.ttl/10) }

// Depth implements bus.Queue.
func (q *Queue) Depth(ctx context.Context) (waiting, leased int, err error) {
	if err := q.bus.CheckAlive(ctx); err != nil {
		return 0, 0, err
	}
	info, err := q.consumer.Info(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("count items: %w", q.bus.explainError(err))
	}
	return int(info.NumPending), info.NumAckPending, nil
}

// Item implements bus.Lease.
func (l *Lease) Item() bus.Item { return l.item }

// Extend implements bus.Lease.
func (l *Lease) Extend(ctx context.Context) error {
	end := l.queue.endOfLease()
	return l.changeLease(ctx, end, l.msg.InProgress)
}

// Ack implements bus.Lease.
func (l *Lease) Ack(ctx context.Context) error {
	return l.changeLease(ctx, time.Time{}, func() error { return l.msg.DoubleAck(ctx) })
}

// Nack implements bus.Lease.
func (l *Lease) Nack(ctx context.Context, delay time.Duration) error {
	return l.changeLease(ctx, time.Time{}, func() error { return l.msg.NakWithDelay(delay) })
}

// changeLease calls tell, which tells the server what becomes of the item, and sets the new end of the lease. A zero
// end gives the item up. It returns ErrLeaseLost if the lease has ended already.
func (l *Lease) changeLease(ctx context.Context, end time.Time, tell func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.queue.bus.CheckAlive(ctx); err != nil {
		return err
	}
	if !time.Now().Before(l.end) {
		return fmt.Errorf("queue item %s: %w", l.item.ID, bus.ErrLeaseLost)
	}
	if err := tell(); err != nil {
		return fmt.Errorf("queue item %s: %w", l.item.ID, l.queue.bus.explainError(err))
	}
	l.end = end
	return nil
}
