package nats

import (
	"context"
	"errors"
	"time"

	"company/internal/bus"
	"company/internal/bus/casqueue"

	natsclient "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const queuePattern = casqueue.SubjectPrefix + ">"

var _ casqueue.Store = (*Bus)(nil)

func (b *Bus) openQueue(ctx context.Context, memory time.Duration) error {
	stream, err := b.ensureStream(ctx, jetstream.StreamConfig{
		Name: queueStream, Subjects: []string{queuePattern}, MaxMsgsPerSubject: 1, AllowMsgTTL: true,
	})
	if err != nil {
		return err
	}
	b.items, b.queue = stream, casqueue.New(b, memory)
	last, err := b.lastMessage(ctx, stream, queuePattern)
	if errors.Is(err, bus.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return b.scanMessages(ctx, stream, queuePattern, 0, last.Seq, b.queue.Load)
}

// WriteItem implements casqueue.Store.
func (b *Bus) WriteItem(
	ctx context.Context, subject string, data []byte, expect uint64, keep time.Duration,
) (uint64, error) {
	var opts []jetstream.PublishOpt
	if keep > 0 {
		opts = append(opts, jetstream.WithMsgTTL(keep))
	}
	return b.publishMessage(ctx, &natsclient.Msg{Subject: subject, Data: data}, expect, opts...)
}

// LastItem implements casqueue.Store.
func (b *Bus) LastItem(ctx context.Context, subject string) (bus.Message, error) {
	return b.lastMessage(ctx, b.items, subject)
}
