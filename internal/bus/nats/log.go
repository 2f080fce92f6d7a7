package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"company/internal/bus"
	"company/internal/company"

	natsclient "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sys/unix"
)

// Names of the streams.
const (
	ledgerStream   = "LEDGER"
	journalsStream = "JOURNALS"
	queueStream    = "QUEUE"
)

const (
	journalPattern = bus.JournalPrefix + ">"

	readSingly     = 24       // records that are read by a request each, before a consumer is made
	readAhead      = 256      // records in flight to a reader
	readAheadBytes = 16 << 20 // bytes in flight to a reader
	// After a longer pause (a suspended machine) a reader finds its consumer
	// removed and creates a new one.
	readerThreshold = 5 * time.Minute
	// How long a reader waits before it checks whether the remaining records
	// were purged, or were sent and got lost.
	readerPatience = 2 * time.Second
)

// Log holds append-only records by subject. It implements bus.Log.
type Log struct {
	bus      *Bus
	ledger   jetstream.Stream
	journals jetstream.Stream
}

var _ bus.Log = (*Log)(nil)

func openLog(ctx context.Context, b *Bus) (*Log, error) {
	ledger, err := b.ensureStream(ctx, jetstream.StreamConfig{
		Name: ledgerStream, Subjects: []string{bus.Ledger},
		DenyDelete: true, DenyPurge: true,
	})
	if err != nil {
		return nil, err
	}
	journals, err := b.ensureStream(ctx, jetstream.StreamConfig{Name: journalsStream, Subjects: []string{journalPattern}})
	if err != nil {
		return nil, err
	}
	return &Log{bus: b, ledger: ledger, journals: journals}, nil
}

// streamOf returns the stream of a subject. It returns an error for malformed subjects.
func (l *Log) streamOf(subject string) (jetstream.Stream, error) {
	if err := bus.CheckSubject(subject); err != nil {
		return nil, err
	}
	if subject == bus.Ledger {
		return l.ledger, nil
	}
	return l.journals, nil
}

// Append implements bus.Log.
func (l *Log) Append(ctx context.Context, subject string, data []byte, expect uint64, id string) (uint64, error) {
	if _, err := l.streamOf(subject); err != nil {
		return 0, err
	}
	if len(data) > bus.MaxRecord {
		return 0, fmt.Errorf("append %d bytes to %s: %w", len(data), subject, bus.ErrTooLarge)
	}
	msg := &natsclient.Msg{Subject: subject, Data: data}
	seq, err := l.bus.publishMessage(ctx, msg, expect, jetstream.WithMsgID(subject+idMark+id))
	if errors.Is(err, bus.ErrConflict) {
		// The server checks the sequence before the id, so repeating a stored
		// record looks like a conflict.
		if first, findErr := bus.FindID(ctx, l, subject, expect, id); findErr != nil || first > 0 {
			return first, findErr
		}
	}
	if err != nil {
		return 0, fmt.Errorf("append to %s: %w", subject, err)
	}
	return seq, nil
}

// idMark separates subject and id in the message id that the server gets. All journals share a stream,
// so the server would otherwise treat the same id of another subject as a repeat.
const idMark = " "

// readID returns the id of a record as it was given to Append. The stored ids of old records have no
// subject.
func readID(subject, stored string) string { return strings.TrimPrefix(stored, subject+idMark) }

// Last implements bus.Log.
func (l *Log) Last(ctx context.Context, subject string) (bus.Message, error) {
	stream, err := l.streamOf(subject)
	if err != nil {
		return bus.Message{}, err
	}
	return l.bus.lastMessage(ctx, stream, subject)
}

func (b *Bus) lastMessage(ctx context.Context, stream jetstream.Stream, subject string) (bus.Message, error) {
	if err := b.CheckAlive(ctx); err != nil {
		return bus.Message{}, err
	}
	raw, err := stream.GetLastMsgForSubject(ctx, subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		raw, err = lookAgain(ctx, stream, subject)
	}
	if err != nil {
		return bus.Message{}, fmt.Errorf("last record of %s: %w", subject, b.explainError(err))
	}
	return toMessage(raw), nil
}

// lookAgain repeats the request for a record that was not found. The server returns the same error for
// a record that it cannot read, but still counts it. So lookAgain compares with the count. It retries
// because others may add and remove records meanwhile.
func lookAgain(ctx context.Context, stream jetstream.Stream, subject string) (*jetstream.RawStreamMsg, error) {
	for range 8 {
		info, err := stream.Info(ctx, jetstream.WithSubjectFilter(subject))
		if err != nil {
			return nil, err
		}
		if len(info.State.Subjects) == 0 {
			return nil, jetstream.ErrMsgNotFound
		}
		raw, err := stream.GetLastMsgForSubject(ctx, subject)
		if !errors.Is(err, jetstream.ErrMsgNotFound) {
			return raw, err
		}
	}
	return nil, company.E(company.EBus, "the server of the bus cannot read the records of "+subject).
		Fix("check that the office's disk is readable, then start the company again")
}

// Read implements bus.Log.
func (l *Log) Read(ctx context.Context, subject string, from uint64, fn func(bus.Message) error) error {
	last, err := l.Last(ctx, subject)
	if errors.Is(err, bus.ErrNotFound) || err == nil && last.Seq < from {
		return nil
	}
	if err != nil {
		return err
	}
	if last.Seq == max(from, 1) {
		return fn(last)
	}
	stream, err := l.streamOf(subject)
	if err != nil {
		return err
	}
	// A consumer costs as much as some dozen requests, and most readers want fewer records.
	next := max(from, 1)
	for range readSingly {
		raw, err := stream.GetMsg(ctx, next, jetstream.WithGetMsgSubject(subject))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			break // purged meanwhile, or unreadable: the scan tells which
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", subject, l.bus.explainError(err))
		}
		if err := fn(toMessage(raw)); err != nil || raw.Sequence >= last.Seq {
			return err
		}
		next = raw.Sequence + 1
	}
	return l.bus.scanMessages(ctx, stream, subject, next, last.Seq, fn)
}

func toMessage(raw *jetstream.RawStreamMsg) bus.Message {
	return bus.Message{
		Subject: raw.Subject, Seq: raw.Sequence, ID: readID(raw.Subject, raw.Header.Get(jetstream.MsgIDHeader)),
		Time: raw.Time.UTC(), Data: raw.Data,
	}
}

// Follow implements bus.Log. It returns the cause of the end of ctx, ErrClosed, or an error of fn.
func (l *Log) Follow(ctx context.Context, subject string, from uint64, fn func(bus.Message) error) error {
	stream, err := l.streamOf(subject)
	if err != nil {
		return err
	}
	return l.bus.scanMessages(ctx, stream, subject, from, 0, fn)
}

// scanMessages calls fn for the records of a subject pattern from a sequence on, up to and including
// the sequence until. If until is 0, it continues until ctx ends.
func (b *Bus) scanMessages(
	ctx context.Context, stream jetstream.Stream, pattern string, from, until uint64, fn func(bus.Message) error,
) error {
	if err := b.CheckAlive(ctx); err != nil {
		return err
	}
	ctx, cancel := b.WithClosing(ctx)
	defer cancel()
	next := max(from, 1)
	for {
		err := b.scanOnce(ctx, stream, pattern, &next, until, fn)
		var refused callerError
		switch {
		case errors.As(err, &refused):
			return refused.error
		case errors.Is(err, jetstream.ErrConsumerDeleted), errors.Is(err, jetstream.ErrConsumerNotFound):
			continue // see readerThreshold; continue after the last record that fn has seen
		case errors.Is(err, errMissed):
			continue // the same
		case err != nil && b.closing.Err() != nil:
			return bus.ErrClosed // ctx may end a moment later
		case err != nil && ctx.Err() != nil:
			return context.Cause(ctx)
		}
		return err
	}
}

// errMissed means that a record was sent to a reader and did not arrive. The client silently drops
// records for which its buffer has no space. The buffer holds readAhead records. All of them may be in
// flight, and the server's status messages take space, too.
var errMissed = errors.New("a record did not arrive")

// callerError wraps an error of the caller's function to distinguish it from ours.
type callerError struct{ error }

func (b *Bus) scanOnce(
	ctx context.Context, stream jetstream.Stream, pattern string, next *uint64, until uint64, fn func(bus.Message) error,
) error {
	consumer, err := stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		FilterSubject: pattern, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: *next,
		AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, InactiveThreshold: readerThreshold,
	})
	if err != nil {
		return fmt.Errorf("read %s: %w", pattern, err)
	}
	defer func() {
		// Close stops the server, which removes memory consumers.
		if b.closing.Err() == nil {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
			defer cancel()
			// If this fails, the server removes the consumer after readerThreshold.
			_ = stream.DeleteConsumer(ctx, consumer.CachedInfo().Name)
		}
	}()
	messages, err := consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(readAhead, readAheadBytes),
		jetstream.WithMessagesErrOnMissingHeartbeat(false))
	if err != nil {
		return fmt.Errorf("read %s: %w", pattern, err)
	}
	defer messages.Stop()

	arrived := uint64(0) // number of records of this consumer
	quiet := false       // all sent records have arrived; wait for new ones
	wait, cancel := readerTimeout(ctx, quiet)
	defer func() { cancel() }()
	for {
		msg, err := messages.Next(jetstream.NextContext(wait))
		if err != nil && wait.Err() != nil && ctx.Err() == nil {
			if until > 0 {
				last, err := b.lastMessage(ctx, stream, pattern)
				if errors.Is(err, bus.ErrNotFound) || err == nil && last.Seq < *next {
					return nil // the remaining records were purged meanwhile
				}
				if err != nil {
					return err
				}
			}
			err := requireArrived(ctx, consumer, arrived)
			if errors.Is(err, errMissed) || errors.Is(err, jetstream.ErrConsumerNotFound) {
				return err
			}
			cancel()
			quiet = err == nil && until == 0 // if the server is too busy to answer, ask again
			wait, cancel = readerTimeout(ctx, quiet)
			continue
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", pattern, err)
		}
		if quiet {
			quiet = false
			cancel()
			wait, cancel = readerTimeout(ctx, quiet)
		}
		meta, err := msg.Metadata()
		if err != nil {
			return fmt.Errorf("read %s: %w", pattern, err)
		}
		if arrived++; meta.Sequence.Consumer != arrived {
			return errMissed
		}
		seq := meta.Sequence.Stream
		if until > 0 && seq > until {
			return nil
		}
		*next = seq + 1
		if err := fn(bus.Message{
			Subject: msg.Subject(), Seq: seq, ID: readID(msg.Subject(), msg.Headers().Get(jetstream.MsgIDHeader)),
			Time: meta.Timestamp.UTC(), Data: msg.Data(),
		}); err != nil {
			return callerError{err}
		}
		if seq == until {
			return nil
		}
	}
}

// readerTimeout limits how long a reader waits before it checks for missing records. With quiet there
// is no limit.
func readerTimeout(ctx context.Context, quiet bool) (context.Context, context.CancelFunc) {
	if quiet {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, readerPatience)
}

// requireArrived returns errMissed if the server has sent a consumer more records than arrived. The
// loss of the last record would otherwise go unnoticed, because no later record shows the gap. Records
// that arrive during this call are read again by the next consumer.
func requireArrived(ctx context.Context, consumer jetstream.Consumer, arrived uint64) error {
	info, err := consumer.Info(ctx)
	if err == nil && info.Delivered.Consumer > arrived {
		err = errMissed
	}
	return err
}

// Purge implements bus.Log. It fails with ENOSPC before it starts if the disk is full. The server
// (2.15.2, PurgeEx) records the removed messages. If it cannot write that, it deadlocks on a lock that
// it holds itself, and the stream stops answering.
func (l *Log) Purge(ctx context.Context, subject string) error {
	stream, err := l.streamOf(subject)
	if err != nil {
		return err
	}
	if stream == l.ledger {
		return fmt.Errorf("purge %s: %w", subject, bus.ErrNotAllowed)
	}
	if err := cmp.Or(l.bus.CheckAlive(ctx), l.bus.whyBroken()); err != nil {
		return err
	}
	if l.bus.isDiskFull() {
		return fmt.Errorf("purge %s: %w", subject, unix.ENOSPC)
	}
	answered, cancel := context.WithTimeoutCause(ctx, l.bus.ackTimeout, errStuck)
	defer cancel()
	err = stream.Purge(answered, jetstream.WithPurgeSubject(subject))
	if err != nil && errors.Is(context.Cause(answered), errStuck) {
		l.bus.fail(errStuck)
		err = errStuck
	}
	if err != nil {
		return fmt.Errorf("purge %s: %w", subject, l.bus.explainError(err))
	}
	return nil
}

var errStuck = errors.New("the removal of a journal was not answered, as when the disk is full")

// isDiskFull reports whether the store's disk has no space for another record.
func (b *Bus) isDiskFull() bool {
	var fs unix.Statfs_t
	return unix.Statfs(b.dir, &fs) == nil && fs.Bavail*uint64(fs.Bsize) < bus.MaxRecord
}

// Subjects implements bus.Log, in alphabetical order.
func (l *Log) Subjects(ctx context.Context) ([]string, error) {
	if err := l.bus.CheckAlive(ctx); err != nil {
		return nil, err
	}
	info, err := l.journals.Info(ctx, jetstream.WithSubjectFilter(journalPattern))
	if err != nil {
		return nil, fmt.Errorf("list journals: %w", l.bus.explainError(err))
	}
	return slices.Sorted(maps.Keys(info.State.Subjects)), nil
}
