package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"company/internal/bus"
	"company/internal/bus/casqueue"
	"company/internal/bus/localfiles"
	"company/internal/lib/safedir"
)

const (
	rollAt     = 64 << 20         // size of a full segment, in bytes
	ackTimeout = 30 * time.Second // limit of one append; after it the outcome is unknown
	itemMemory = 10 * time.Minute // how long Put remembers a finished item
)

// Driver describes the driver on files.
var Driver = bus.Driver{Name: "file", Records: walName,
	Open: func(ctx context.Context, folder *safedir.Folder, log *slog.Logger) (bus.Bus, error) {
		return Open(ctx, Options{Folder: folder, Logger: log})
	}}

// Options configures the location of the store and the reporting of problems.
type Options struct {
	Dir    string          // created with mode 0700 if it does not exist
	Folder *safedir.Folder // Dir, already open; nil opens Dir
	Logger *slog.Logger    // receives reports of truncated bytes at a start; nil drops them

	rollAt     int64         // defaults to the constant
	mostRoom   int64         // limit of the room of the newest segment; defaults to the constant
	itemMemory time.Duration // defaults to the constant
}

// Bus is an open store. It implements bus.Bus.
type Bus struct {
	own    *safedir.Folder
	disk   disk
	logger *slog.Logger
	queue  *casqueue.Queue
	blobs  *localfiles.Blobs
	lock   *localfiles.Lock
	rollAt int64

	inbox  inbox
	room   room            // of the newest segment; only the writer uses it
	broken error           // why writing is no longer possible; only the writer uses it
	failed context.Context // done once broken is set
	fail   context.CancelCauseFunc
	ended  chan struct{} // closed by the writer
	wake   chan struct{} // wakes the compactor; buffers one signal

	mu      sync.RWMutex
	index   *index
	sealed  []*segment // full segments, oldest first
	active  *segment   // only the writer replaces it or changes its size
	nextSeq uint64
	changed chan struct{} // closed when records were added

	closing context.Context // done once Close has begun
	close   context.CancelCauseFunc
	workers sync.WaitGroup
	once    sync.Once
}

var _ bus.Bus = (*Bus)(nil)

// Open opens the log in a folder and builds its index. EHeld names the process that has the folder
// open. ELedger says where the log is damaged. EBus means that the store cannot be opened.
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
	if err := own.Mkdir(walName); err != nil {
		return nil, err
	}
	if err := own.Sync("."); err != nil {
		return nil, err
	}
	wal, err := own.Sub(walName)
	if err != nil {
		return nil, err
	}
	b, err := openDisk(ctx, folderDisk{wal}, opts)
	if err != nil {
		return nil, errors.Join(err, wal.Close())
	}
	b.own = wal
	if b.blobs, err = localfiles.OpenBlobs(own); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// openDisk opens the log on a disk without the lock and blobs, and starts its goroutines.
func openDisk(ctx context.Context, d disk, opts Options) (*Bus, error) {
	b, err := loadDisk(ctx, d, opts)
	if err != nil {
		return nil, err
	}
	b.workers.Go(b.runWriter)
	b.workers.Go(b.runCompactor)
	return b, nil
}

// loadDisk reads the log on a disk.
func loadDisk(ctx context.Context, d disk, opts Options) (*Bus, error) {
	b := &Bus{
		disk: d, logger: cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)), rollAt: cmp.Or(opts.rollAt, rollAt),
		room:  room{most: opts.mostRoom},
		inbox: inbox{wake: make(chan struct{}, 1)}, ended: make(chan struct{}), wake: make(chan struct{}, 1),
		index: newIndex(), changed: make(chan struct{}),
	}
	b.closing, b.close = context.WithCancelCause(context.Background())
	b.failed, b.fail = context.WithCancelCause(context.Background())
	b.queue = casqueue.New(b, cmp.Or(opts.itemMemory, itemMemory))
	err := b.recoverSegments(ctx)
	if err == nil {
		err = b.loadItems()
	}
	if err != nil {
		b.close(bus.ErrClosed)
		return nil, errors.Join(err, b.closeSegments())
	}
	return b, nil
}

// loadItems loads the items in the log into the queue.
func (b *Bus) loadItems() error {
	now := time.Now()
	var items []entry
	for subject := range b.index.tracks {
		if e, ok := b.index.lastEntry(subject, now); ok && isItem(subject) {
			items = append(items, e)
		}
	}
	for _, doneItem := range b.index.done {
		if doneItem.expires > now.UnixNano() {
			items = append(items, doneItem.entry)
		}
	}
	slices.SortFunc(items, func(x, y entry) int { return cmp.Compare(x.seq, y.seq) })
	for _, e := range items {
		frame, err := b.readEntry(e)
		if err == nil {
			err = b.queue.Load(frame.toMessage())
		}
		if err != nil {
			return fmt.Errorf("open the queue: %w", err)
		}
	}
	b.index.dropFaded(now)
	return nil
}

// Log returns the records of this store.
func (b *Bus) Log() bus.Log { return Log{b} }

// Queue returns the work queue of this store.
func (b *Bus) Queue() bus.Queue { return b.queue }

// Blobs returns the content-addressed files of this store.
func (b *Bus) Blobs() bus.Blobs { return b.blobs }

// Broken implements bus.Bus.
func (b *Bus) Broken() context.Context { return b.failed }

// Close ends pending operations with ErrClosed, syncs the last mark and releases the folder. It may be
// called again.
func (b *Bus) Close() error {
	var err error
	b.once.Do(func() {
		b.close(bus.ErrClosed)
		b.workers.Wait()
		if b.broken == nil {
			err = errors.Join(b.cutRoom(), b.active.file.Sync())
		}
		if b.blobs != nil {
			err = errors.Join(err, b.blobs.Close())
		}
		err = errors.Join(err, b.closeSegments(), b.own.Close())
		if b.lock != nil {
			err = errors.Join(err, b.lock.Release())
		}
	})
	return err
}

func (b *Bus) closeSegments() error {
	var errs []error
	for _, s := range b.sealed {
		errs = append(errs, s.file.Close())
	}
	if b.active != nil {
		errs = append(errs, b.active.file.Close())
	}
	return errors.Join(errs...)
}

// WithClosing returns a context that also ends, with ErrClosed, when the bus closes.
func (b *Bus) WithClosing(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(b.closing, func() { cancel(bus.ErrClosed) })
	return ctx, func() { stop(); cancel(nil) }
}

// CheckAlive returns an error if the bus is closed or ctx has ended.
func (b *Bus) CheckAlive(ctx context.Context) error {
	if b.closing.Err() != nil {
		return bus.ErrClosed
	}
	return context.Cause(ctx)
}
