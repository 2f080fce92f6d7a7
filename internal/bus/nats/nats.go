// Package nats is the default driver of the bus: a NATS server embedded in this
// process, reached through an in-process connection, with JetStream on files.
//
// It owns one directory. A lock on it keeps a second process out, because two
// servers on one store both acknowledge the same sequence and one's records
// vanish. It opens no port. Every acknowledged record is synced to disk.
//
// Three streams hold everything: LEDGER (one subject, which the server itself
// refuses to purge), JOURNALS (a subject per run; a stream per run would not
// carry thousands of runs) and QUEUE (a subject per item, see casqueue). Blobs
// are plain files beside them.
//
// JetStream cuts a stream off at a record whose checksum fails, and starts without all that
// came behind it. So a start reads the streams' files first (blocks.go): a damaged ledger or
// journal is ELedger and stays as it is, and a damaged queue is put aside.
package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"company/internal/bus"
	"company/internal/bus/casqueue"
	"company/internal/bus/localfiles"
	"company/internal/company"
	"company/internal/folder"

	natsserver "github.com/nats-io/nats-server/v2/server"
	natsclient "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	startTimeout   = 60 * time.Second // recovery of a large store on a busy machine
	publishTimeout = 60 * time.Second // a sync may stall behind other writers of the disk
	ackTimeout     = 30 * time.Second // of one append; then its outcome is unknown
	cleanupTimeout = 5 * time.Second
	endTimeout     = 20 * time.Second // of the server, which may be stuck
	damagedQueue   = "queue.damaged"  // keeps the newest queue that could not be read
	itemMemory     = 10 * time.Minute // how long Put knows an item that is done
)

// Options say where the store is and where trouble is reported.
type Options struct {
	Dir        string         // made with mode 0700 when absent
	Folder     *folder.Folder // Dir, held open; nil: Dir is opened
	Logger     *slog.Logger   // the server's warnings and errors; nil: dropped
	ServerName string         // "company" when empty

	itemMemory time.Duration // 0: itemMemory
	ackTimeout time.Duration // 0: ackTimeout
	endTimeout time.Duration // 0: endTimeout
}

// Bus is an open store. It implements bus.Bus.
type Bus struct {
	dir    string
	log    *Log
	queue  *casqueue.Queue
	blobs  *localfiles.Blobs
	lock   *localfiles.Lock
	server *natsserver.Server
	conn   *natsclient.Conn
	js     jetstream.JetStream
	items  jetstream.Stream // the queue's

	ackTimeout, endTimeout time.Duration

	closing context.Context // done once Close has begun
	close   context.CancelCauseFunc
	once    sync.Once

	broken context.Context // done once the server could not write a file; the cause is coded
	fail   func(error)
}

var _ bus.Bus = (*Bus)(nil)

// Open starts the server on opts.Dir. An EHeld error names the process that
// has the directory open; EBus means that the store cannot be opened.
func Open(ctx context.Context, opts Options) (bus.Bus, error) {
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	opts.ServerName = cmp.Or(opts.ServerName, "company")
	own, lock, err := localfiles.Claim(opts.Folder, opts.Dir)
	if err != nil {
		return nil, err
	}
	dir := own.Path()
	b := &Bus{dir: dir, lock: lock, ackTimeout: cmp.Or(opts.ackTimeout, ackTimeout), endTimeout: cmp.Or(opts.endTimeout, endTimeout)}
	b.closing, b.close = context.WithCancelCause(context.Background())
	broken, fail := context.WithCancelCause(context.Background())
	b.broken, b.fail = broken, func(err error) { fail(writeError(err)) }
	if err := b.start(ctx, own, opts); err != nil {
		if closeErr := b.Close(); closeErr != nil {
			err = errors.Join(err, closeErr)
		}
		return nil, localfiles.OpenError(dir, err)
	}
	return b, nil
}

func (b *Bus) start(ctx context.Context, own *folder.Folder, opts Options) error {
	// The server opens what it finds there by path.
	if err := errors.Join(own.Still(), own.Plain()); err != nil {
		return err
	}
	err := checkStreams(ctx, own, func(d Damage) error {
		opts.Logger.Warn("the queue of the bus is damaged: it was put aside, and is filled again from the ledger", "file", d.File, "offset", d.Offset, "kept", own.Join(damagedQueue))
		return errors.Join(own.RemoveAll(damagedQueue), own.Rename(path.Join(streamsDir, queueStream), damagedQueue), own.Sync(streamsDir))
	})
	if err != nil {
		return err
	}
	server, err := natsserver.NewServer(&natsserver.Options{
		ServerName:             opts.ServerName,
		DontListen:             true, // reached from this process only
		NoSigs:                 true, // signals are the program's
		NoLog:                  true,
		JetStream:              true,
		DisableJetStreamBanner: true,
		StoreDir:               own.Path(),
		SyncAlways:             true, // the default syncs every two minutes
		// Headers and the encoding of queue items need room of their own.
		MaxPayload: 2 * bus.MaxRecord,
		// By default three quarters of the free room at the start and of the store itself.
		JetStreamMaxStore: 1 << 60,
		WriteDeadline:     publishTimeout,
	})
	if err != nil {
		return err
	}
	server.SetLoggerV2(serverLog{opts.Logger, b.fail}, false, false, false)
	b.server = server
	server.Start()
	if err := b.whyBroken(); err != nil {
		return err // of serverLog.Fatalf: it would never be ready
	}
	if !server.ReadyForConnections(timeLeft(ctx, startTimeout)) {
		return fmt.Errorf("server not ready in time: %w", context.Cause(ctx))
	}

	b.conn, err = natsclient.Connect("", natsclient.InProcessServer(server),
		natsclient.Name(opts.ServerName),
		natsclient.MaxReconnects(-1), natsclient.ReconnectWait(10*time.Millisecond),
		natsclient.ErrorHandler(func(_ *natsclient.Conn, _ *natsclient.Subscription, err error) {
			opts.Logger.Warn("bus connection", "err", err)
		}))
	if err != nil {
		return err
	}
	b.js, err = jetstream.New(b.conn, jetstream.WithDefaultTimeout(publishTimeout))
	if err != nil {
		return err
	}
	if b.log, err = openLog(ctx, b); err != nil {
		return err
	}
	if err = b.openQueue(ctx, cmp.Or(opts.itemMemory, itemMemory)); err != nil {
		return err
	}
	b.blobs, err = localfiles.OpenBlobs(own)
	return err
}

func timeLeft(ctx context.Context, most time.Duration) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return min(most, time.Until(deadline))
	}
	return most
}

// Log is the append-only records of this store.
func (b *Bus) Log() bus.Log { return b.log }

// Queue is the work queue of this store.
func (b *Bus) Queue() bus.Queue { return b.queue }

// Blobs is the content-addressed files of this store.
func (b *Bus) Blobs() bus.Blobs { return b.blobs }

// Broken implements bus.Bus: the server could not write one of its files, or is stuck. From then
// on it gives no answer to an append to that stream, also when there is room again, until it is
// started anew. All appends are refused then.
func (b *Bus) Broken() context.Context { return b.broken }

// Close ends what waits in the bus with ErrClosed, stops the server and lets
// go of the directory. It may be called again.
func (b *Bus) Close() error {
	var err error
	b.once.Do(func() {
		b.close(bus.ErrClosed)
		if b.conn != nil {
			b.conn.Close()
		}
		if b.server != nil {
			err = b.endServer()
		}
		if b.blobs != nil {
			err = errors.Join(err, b.blobs.Close())
		}
		err = errors.Join(err, b.lock.Release())
	})
	return err
}

// endServer stops the server. One whose stream is stuck (see Log.Purge) never ends, and is left
// to the end of the process.
func (b *Bus) endServer() error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.server.Shutdown()
		b.server.WaitForShutdown()
	}()
	select {
	case <-ended:
		return nil
	case <-time.After(b.endTimeout):
		return company.E(company.EBus, "the server of the bus does not end").Because(fmt.Sprintf("it was told to %s ago", b.endTimeout)).
			Fix("nothing that was stored is lost; end this process before the office is opened again")
	}
}

// WithClosing is ctx that ends with ErrClosed when the bus closes.
func (b *Bus) WithClosing(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(b.closing, func() { cancel(bus.ErrClosed) })
	return ctx, func() { stop(); cancel(nil) }
}

// ensureStream makes or opens a stream with the limits that all three share: one
// replica, nothing ever dropped for age or space.
func (b *Bus) ensureStream(ctx context.Context, cfg jetstream.StreamConfig) (jetstream.Stream, error) {
	cfg.Storage = jetstream.FileStorage
	cfg.Retention = jetstream.LimitsPolicy
	cfg.Discard = jetstream.DiscardNew
	cfg.Replicas = 1
	cfg.AllowDirect = true
	cfg.Duplicates = duplicateWindow
	// An update writes and syncs the stream's configuration, also where it changes nothing.
	if s, err := b.js.Stream(ctx, cfg.Name); err == nil && hasConfig(s.CachedInfo().Config, cfg) {
		return s, nil
	}
	s, err := b.js.CreateOrUpdateStream(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open stream %s: %w", cfg.Name, err)
	}
	return s, nil
}

// duplicateWindow is how long the server remembers the ids of records, in memory, which
// would be two minutes. It does not help here: each append names the record before it,
// which the server checks first, and a repeat is found by its id among stored records.
const duplicateWindow = time.Second

// hasConfig reports whether a stream has the configuration that ensureStream asks for.
// The server gives the other fields values of its own.
func hasConfig(has, want jetstream.StreamConfig) bool {
	return slices.Equal(has.Subjects, want.Subjects) && has.Storage == want.Storage && has.Retention == want.Retention &&
		has.Discard == want.Discard && has.Replicas == want.Replicas && has.AllowDirect == want.AllowDirect &&
		has.DenyDelete == want.DenyDelete && has.DenyPurge == want.DenyPurge && has.AllowMsgTTL == want.AllowMsgTTL && has.Duplicates == want.Duplicates &&
		max(has.MaxMsgsPerSubject, 0) == max(want.MaxMsgsPerSubject, 0)
}

// publishMessage appends one message, synced, under compare-and-set on its subject.
func (b *Bus) publishMessage(ctx context.Context, msg *natsclient.Msg, expect uint64, opts ...jetstream.PublishOpt) (uint64, error) {
	if err := cmp.Or(b.CheckAlive(ctx), b.whyBroken()); err != nil {
		return 0, err
	}
	opts = append(opts, jetstream.WithExpectLastSequencePerSubject(expect))
	// The client waits as long as the caller's deadline lets it, and a run's
	// is an hour away; a server that cannot write never answers.
	ctx, cancel := context.WithTimeout(ctx, b.ackTimeout)
	defer cancel()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	defer context.AfterFunc(b.broken, func() { giveUp(b.whyBroken()) })()
	ack, err := b.js.PublishMsg(ctx, msg, opts...)
	if err == nil {
		return ack.Sequence, nil
	}
	var refusal jetstream.JetStreamError
	switch {
	case errors.As(err, &refusal) && refusal.APIError() != nil:
		switch refusal.APIError().ErrorCode {
		case jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant:
			return 0, bus.ErrConflict
		}
		return 0, company.E(company.EBus, "the bus refuses to store a record of "+msg.Subject).
			Fix("check the free space of the office's disk").Wrap(err)
	case errors.Is(err, natsclient.ErrMaxPayload):
		return 0, bus.ErrTooLarge
	}
	// Everything else came after the message was on its way: a timeout, a
	// cancelled context, a closed connection. Where a sync failed, the server shows
	// a record that is not on the disk, so no caller has to read the log again.
	return 0, cmp.Or(b.whyBroken(), fmt.Errorf("%w: %w", bus.ErrUnknown, err))
}

// whyBroken is the reason that nothing more is stored, or nil.
func (b *Bus) whyBroken() error { return context.Cause(b.broken) }

func writeError(cause error) error {
	return company.E(company.EBus, "the server of the bus could not write its files, and stores nothing more").
		Fix("see that the office's disk has room and can be written, then start the company again: nothing that was stored is lost").Wrap(cause)
}

// CheckAlive tells why no operation may start now.
func (b *Bus) CheckAlive(ctx context.Context) error {
	if b.closing.Err() != nil {
		return bus.ErrClosed
	}
	return context.Cause(ctx)
}

// explainError names what ended an operation that changed nothing.
func (b *Bus) explainError(err error) error {
	switch {
	case err == nil:
		return nil
	case b.closing.Err() != nil:
		return bus.ErrClosed
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return bus.ErrNotFound
	}
	return err
}

// serverLog passes on what an operator should see; the rest is noise. It is the only way to
// hear of a failed write at once: what asks the server waits for the stream that is stuck.
type serverLog struct {
	l    *slog.Logger
	fail func(error) // hears of a write that failed
}

func (s serverLog) Noticef(string, ...any)   {}
func (s serverLog) Debugf(string, ...any)    {}
func (s serverLog) Tracef(string, ...any)    {}
func (s serverLog) Warnf(f string, v ...any) { s.l.Warn("bus server", "says", fmt.Sprintf(f, v...)) }

func (s serverLog) Fatalf(f string, v ...any) {
	s.Errorf(f, v...)
	s.fail(fmt.Errorf(f, v...))
}

func (s serverLog) Errorf(f string, v ...any) {
	s.l.Error("bus server", "says", fmt.Sprintf(f, v...))
	if !strings.Contains(strings.ToLower(f), "critical write error") {
		return
	}
	for _, arg := range v {
		if err, ok := arg.(error); ok {
			s.fail(err)
		}
	}
}
