package file

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"company/internal/bus"
	"company/internal/bus/localfiles"
	"company/internal/lib/safedir"
)

const (
	logName    = "log"            // folder of the files in the folder of the bus
	ackTimeout = 30 * time.Second // limit of one append; after it the outcome is unknown
)

// Driver describes the driver on files.
var Driver = bus.Driver{Name: "file", Records: logName,
	Open: func(ctx context.Context, folder *safedir.Folder, log *slog.Logger) (bus.Bus, error) {
		return Open(ctx, Options{Folder: folder, Logger: log})
	}}

// Options configures the location of the store and the reporting of problems.
type Options struct {
	Dir      string          // created with mode 0700 if it does not exist
	Folder   *safedir.Folder // Dir, already open; nil opens Dir
	Logger   *slog.Logger    // receives reports of truncated bytes at a start; nil drops them
	LeaseTTL time.Duration   // defaults to bus.LeaseTTL
}

// Bus is an open store. It implements bus.Bus.
type Bus struct {
	own    *safedir.Folder
	disk   disk
	logger *slog.Logger
	queue  *Queue
	blobs  *localfiles.Blobs
	lock   *localfiles.Lock

	writing [64]sync.Mutex // held by the writer of a subject; see writerLock
	lastSeq atomic.Uint64  // of all subjects

	mu       sync.RWMutex
	subjects map[string]*track // those that hold records
	changed  chan struct{}     // closed when records were added

	broken context.Context // done once a sync failed; the cause is an error with a code
	fail   context.CancelCauseFunc

	closing context.Context // done once Close has begun
	close   context.CancelCauseFunc
	appends sync.WaitGroup
	once    sync.Once
}

var _ bus.Bus = (*Bus)(nil)

// Open opens the files in a folder and finds their records. EHeld names the process that has the folder
// open. ELedger says where a file is damaged. EBus means that the store cannot be opened.
func Open(ctx context.Context, opts Options) (bus.Bus, error) {
	own, lock, err := localfiles.Claim(opts.Folder, opts.Dir)
	if err != nil {
		return nil, err
	}
	dir := own.Path()
	b, err := openLocked(ctx, own, opts)
	if err != nil {
		return nil, errors.Join(localfiles.OpenError(dir, err), lock.Release())
	}
	b.lock = lock
	return b, nil
}

func openLocked(ctx context.Context, own *safedir.Folder, opts Options) (*Bus, error) {
	if err := errors.Join(own.Mkdir(logName), own.Sync(".")); err != nil {
		return nil, err
	}
	folder, err := own.Sub(logName)
	if err != nil {
		return nil, err
	}
	b, err := openDisk(ctx, folderDisk{folder}, opts)
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	b.own = folder
	if b.blobs, err = localfiles.OpenBlobs(own); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// openDisk opens the files on a disk, without the lock and blobs.
func openDisk(ctx context.Context, d disk, opts Options) (*Bus, error) {
	b := &Bus{disk: d, logger: cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)),
		subjects: map[string]*track{}, changed: make(chan struct{})}
	b.closing, b.close = context.WithCancelCause(context.Background())
	b.broken, b.fail = context.WithCancelCause(context.Background())
	b.queue = newQueue(b, cmp.Or(opts.LeaseTTL, bus.LeaseTTL))
	err := b.recoverFiles(ctx)
	if err == nil {
		err = b.queue.loadItems(ctx)
	}
	return b, err
}

// Log returns the records of this store.
func (b *Bus) Log() bus.Log { return Log{b} }

// Queue returns the work queue of this store.
func (b *Bus) Queue() bus.Queue { return b.queue }

// Blobs returns the content-addressed files of this store.
func (b *Bus) Blobs() bus.Blobs { return b.blobs }

// Broken implements bus.Bus.
func (b *Bus) Broken() context.Context { return b.broken }

// Close ends pending operations with ErrClosed, waits for appends and releases the folder. It may be
// called again.
func (b *Bus) Close() error {
	var err error
	b.once.Do(func() {
		b.close(bus.ErrClosed)
		b.appends.Wait()
		if b.blobs != nil {
			err = b.blobs.Close()
		}
		err = errors.Join(err, b.own.Close())
		if b.lock != nil {
			err = errors.Join(err, b.lock.Release())
		}
	})
	return err
}

// withClosing returns a context that also ends, with ErrClosed, when the bus closes.
func (b *Bus) withClosing(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(b.closing, func() { cancel(bus.ErrClosed) })
	return ctx, func() { stop(); cancel(nil) }
}

// checkAlive returns an error if the bus is closed or ctx has ended.
func (b *Bus) checkAlive(ctx context.Context) error {
	if b.closing.Err() != nil {
		return bus.ErrClosed
	}
	return context.Cause(ctx)
}
