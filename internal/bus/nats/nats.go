// Package nats is the default driver of the bus. It embeds a NATS server in this process, reached
// through an in-process connection, with JetStream on files.
//
// The driver owns one directory and locks it against other processes. Two servers on one store would
// both acknowledge the same sequence, and one server's records would be lost. It opens no port. Every
// acknowledged record is synced to disk.
//
// Three streams hold all records: LEDGER has one subject, which the server itself refuses to purge.
// JOURNALS has a subject per run, because a stream per run would not scale to thousands of runs. QUEUE
// has a subject per item. Blobs are plain files next to the streams.
//
// JetStream truncates a stream at a record whose checksum fails and starts without the later records.
// So Open reads the streams' files first (blocks.go). A damaged ledger or journal is ELedger and is
// left unchanged. A damaged queue is moved aside.
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
	"company/internal/bus/localfiles"
	"company/internal/company"
	"company/internal/lib/safedir"

	natsserver "github.com/nats-io/nats-server/v2/server"
	natsclient "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	startTimeout   = 60 * time.Second // recovery of a large store on a busy machine
	publishTimeout = 60 * time.Second // a sync may stall behind other writers of the disk
	ackTimeout     = 30 * time.Second // limit of one append; after it the outcome is unknown
	cleanupTimeout = 5 * time.Second
	endTimeout     = 20 * time.Second // limit of the server's shutdown, which may be stuck
	damagedQueue   = "queue.damaged"  // folder of the newest queue that could not be read
)

// Driver describes the driver on an embedded NATS server.
var Driver = bus.Driver{Name: "nats", Records: "jetstream",
	Open: func(ctx context.Context, folder *safedir.Folder, log *slog.Logger) (bus.Bus, error) {
		return Open(ctx, Options{Folder: folder, Logger: log})
	}}

// Options configures the location of the store and the reporting of problems.
type Options struct {
	Dir        string          // created with mode 0700 if it does not exist
	Folder     *safedir.Folder // Dir, already open; nil opens Dir
	Logger     *slog.Logger    // receives the server's warnings and errors; nil drops them
	ServerName string          // defaults to "company"
	LeaseTTL   time.Duration   // defaults to bus.LeaseTTL

	ackTimeout time.Duration // defaults to the constant
	endTimeout time.Duration // defaults to the constant
}

// Bus is an open store. It implements bus.Bus.
type Bus struct {
	dir    string
	log    *Log
	queue  *Queue
	blobs  *localfiles.Blobs
	lock   *localfiles.Lock
	server *natsserver.Server
	conn   *natsclient.Conn
	js     jetstream.JetStream

	ackTimeout, endTimeout time.Duration

	closing context.Context // done once Close has begun
	close   context.CancelCauseFunc
	once    sync.Once

	broken context.Context // done once the server failed to write a file; the cause is an error with a code
	fail   func(error)
}

var _ bus.Bus = (*Bus)(nil)

// Open starts the server on opts.Dir. EHeld names the process that has the directory open. EBus means
// that the store cannot be opened.
func Open(ctx context.Context, opts Options) (bus.Bus, error) {
	opts.Logger = cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	opts.ServerName = cmp.Or(opts.ServerName, "company")
	own, lock, err := localfiles.Claim(opts.Folder, opts.Dir)
	if err != nil {
		return nil, err
	}
	dir := own.Path()
	b := &Bus{dir: dir, lock: lock, ackTimeout: cmp.Or(opts.ackTimeout, ackTimeout),
		endTimeout: cmp.Or(opts.endTimeout, endTimeout)}
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

func (b *Bus) start(ctx context.Context, own *safedir.Folder, opts Options) error {
	// The server opens the store's files by path.
	if err := errors.Join(own.Still(), own.Plain()); err != nil {
		return err
	}
	err := checkStreams(ctx, own, func(d damage) error {
		opts.Logger.Warn("the queue of the bus is damaged: it was put aside, and is filled again from the ledger", "file",
			d.file, "offset", d.offset, "kept", own.Join(damagedQueue))
		return errors.Join(own.RemoveAll(damagedQueue), own.Rename(path.Join(streamsDir, queueStream), damagedQueue),
			own.Sync(streamsDir))
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
		// Headers need room of their own.
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
		return err // serverLog.Fatalf was called, so the server would never be ready
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
	if b.queue, err = openQueue(ctx, b, cmp.Or(opts.LeaseTTL, bus.LeaseTTL)); err != nil {
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

// Log returns the append-only records of this store.
func (b *Bus) Log() bus.Log { return b.log }

// Queue returns the work queue of this store.
func (b *Bus) Queue() bus.Queue { return b.queue }

// Blobs returns the content-addressed files of this store.
func (b *Bus) Blobs() bus.Blobs { return b.blobs }

// Broken implements bus.Bus. The context is done if the server failed to write one of its files, or is
// stuck. The server then does not answer appends to that stream until it is restarted, even if there
// is disk space again. So all appends are refused.
func (b *Bus) Broken() context.Context { return b.broken }

// Close ends pending operations with ErrClosed, stops the server and unlocks the directory. It may be
// called again.
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

// endServer stops the server. A server with a stuck stream (see Log.Purge) never stops. After a
// timeout it is left running until the process ends, and endServer returns EBus.
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
		return company.E(company.EBus, "the server of the bus does not stop").
			Because(fmt.Sprintf("it was asked to %s ago", b.endTimeout)).
			Fix("stored records are safe; end this process before you open the office again")
	}
}

// WithClosing returns a context that also ends, with ErrClosed, when the bus closes.
func (b *Bus) WithClosing(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(b.closing, func() { cancel(bus.ErrClosed) })
	return ctx, func() { stop(); cancel(nil) }
}

// ensureStream creates or opens a stream with the limits that all three streams share: one replica,
// and no record is ever dropped for age or space.
func (b *Bus) ensureStream(ctx context.Context, cfg jetstream.StreamConfig) (jetstream.Stream, error) {
	cfg.Storage = jetstream.FileStorage
	cfg.Discard = jetstream.DiscardNew
	cfg.Replicas = 1
	cfg.AllowDirect = true
	cfg.Duplicates = duplicateWindow
	// An update writes and syncs the stream's configuration even if it is unchanged.
	if s, err := b.js.Stream(ctx, cfg.Name); err == nil && hasConfig(s.CachedInfo().Config, cfg) {
		return s, nil
	}
	s, err := b.js.CreateOrUpdateStream(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open stream %s: %w", cfg.Name, err)
	}
	return s, nil
}

// duplicateWindow is how long the server remembers the ids of records in memory; the default is two
// minutes. This memory does not help here. Each append names the record before it, which the server
// checks first, and repeats are found by their ids among the stored records.
const duplicateWindow = time.Second

// hasConfig reports whether a stream has the configuration that ensureStream asks for. It ignores the
// other fields, which the server sets itself.
func hasConfig(has, want jetstream.StreamConfig) bool {
	return slices.Equal(has.Subjects, want.Subjects) && has.Storage == want.Storage && has.Retention == want.Retention &&
		has.Discard == want.Discard && has.Replicas == want.Replicas && has.AllowDirect == want.AllowDirect &&
		has.DenyDelete == want.DenyDelete && has.DenyPurge == want.DenyPurge && has.Duplicates == want.Duplicates
}

// publishMessage appends one message, synced, under compare-and-set on its subject.
func (b *Bus) publishMessage(
	ctx context.Context, msg *natsclient.Msg, expect uint64, opts ...jetstream.PublishOpt,
) (uint64, error) {
	if err := cmp.Or(b.CheckAlive(ctx), b.whyBroken()); err != nil {
		return 0, err
	}
	opts = append(opts, jetstream.WithExpectLastSequencePerSubject(expect))
	// The client waits until the caller's deadline, which for a run is an
	// hour away. A server that cannot write never answers.
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
		return 0, company.E(company.EBus, "the bus cannot store a record of "+msg.Subject).
			Fix("check the free space of the office's disk").Wrap(err)
	case errors.Is(err, natsclient.ErrMaxPayload):
		return 0, bus.ErrTooLarge
	}
	// All other errors came after the message was sent: a timeout, a
	// cancelled context, a closed connection. If a sync failed, the server shows
	// a record that is not on disk. The error of whyBroken then keeps callers from
	// reading the log again.
	return 0, cmp.Or(b.whyBroken(), fmt.Errorf("%w: %w", bus.ErrUnknown, err))
}

// whyBroken returns the reason why no records can be stored any more, or nil.
func (b *Bus) whyBroken() error { return context.Cause(b.broken) }

func writeError(cause error) error {
	return company.E(company.EBus, "the server of the bus cannot write its files and stores nothing more").
		Fix("check that the office's disk has space and is writable, then start the company again: stored " +
			"records are safe").Wrap(cause)
}

// CheckAlive returns an error if the bus is closed or ctx has ended.
func (b *Bus) CheckAlive(ctx context.Context) error {
	if b.closing.Err() != nil {
		return bus.ErrClosed
	}
	return context.Cause(ctx)
}

// explainError translates the error of an operation that changed no data.
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

// serverLog passes on warnings and errors of the server. It is the only way to learn of a failed write
// at once, because requests to the server wait for the stuck stream.
type serverLog struct {
	l    *slog.Logger
	fail func(error) // called with the error of a failed write
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
