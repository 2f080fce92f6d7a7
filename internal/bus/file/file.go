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
	"company/internal/folder"
)

const (
	rollAt     = 64 << 20         // bytes of a segment
	ackTimeout = 30 * time.Second // of one append; then its outcome is unknown
	itemMemory = 10 * time.Minute // how long Put knows an item that is done
)

// Options say where the store is and where trouble is reported.
type Options struct {
	Dir    string         // made with mode 0700 when absent
	Folder *folder.Folder // Dir, held open; nil: Dir is opened
	Logger *slog.Logger   // gets the bytes that were cut off at a start; nil: dropped

	rollAt     int64         // 0: rollAt
	mostRoom   int64         // that the newest segment grows by; 0: localfiles.MostRoom
	itemMemory time.Duration // 0: itemMemory
}

// Bus is an open store. It implements bus.Bus.
type Bus struct {
	own    *folder.Folder
	disk   disk
	logger *slog.Logger
	queue  *casqueue.Queue
	blobs  *localfiles.Blobs
	lock   *localfiles.Lock
	rollAt int64
	// salvaged means that nothing can be written: see Salvage.
	salvaged bool

	inbox  inbox
	room   localfiles.Room // of the newest segment; the writer's
	broken error           // why nothing can be written any more; the writer's
	failed context.Context // done where there is one
	fail   context.CancelCauseFunc
	ended  chan struct{} // closed by the writer
	wake   chan struct{} // the compactor's; has room for one

	mu      sync.RWMutex
	index   *index
	sealed  []*segment // full ones, oldest first
	active  *segment   // replaced by the writer alone, which alone changes its size
	nextSeq uint64
	changed chan struct{} // closed when records have come

	closing context.Context // done once Close has begun
	close   context.CancelCauseFunc
	workers sync.WaitGroup
	once    sync.Once
}

var _ bus.Bus = (*Bus)(nil)

// Open opens the log in a folder and makes its index. EHeld names the process that
// has the folder open; ELedger says where the log is damaged; EBus means that the
// store cannot be opened.
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

func openLocked(ctx context.Context, own *folder.Folder, opts Options) (*Bus, error) {
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

// openDisk opens the log on a disk, without lock and blobs, and starts its
// goroutines.
func openDisk(ctx context.Context, d disk, opts Options) (*Bus, error) {
	b, err := loadDisk(ctx, d, opts)
	if err != nil {
		return nil, err
	}
	b.workers.Go(b.runWriter)
	b.workers.Go(b.runCompactor)
	return b, nil
}

// newBus is a log that holds no records yet.
func newBus(d disk, opts Options) *Bus {
	b := &Bus{
		disk: d, logger: cmp.Or(opts.Logger, slog.New(slog.DiscardHandler)), rollAt: cmp.Or(opts.rollAt, rollAt), room: localfiles.Room{Most: opts.mostRoom},
		inbox: inbox{wake: make(chan struct{}, 1)}, ended: make(chan struct{}), wake: make(chan struct{}, 1),
		index: newIndex(), changed: make(chan struct{}),
	}
	b.closing, b.close = context.WithCancelCause(context.Background())
	b.failed, b.fail = context.WithCancelCause(context.Background())
	b.queue = casqueue.New(b, cmp.Or(opts.itemMemory, itemMemory))
	return b
}

// loadDisk reads the log on a disk.
func loadDisk(ctx context.Context, d disk, opts Options) (*Bus, error) {
	b := newBus(d, opts)
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

// loadItems gives the queue what the log holds of it.
func (b *Bus) loadItems() error {
	now := time.Now()
	var items []entry
	for subject := range b.index.tracks {
		if e, ok := b.index.lastEntry(subject, now); ok && isItem(subject) {
			items = append(items, e)
		}
	}
	for _, d := range b.index.done {
		if d.expires > now.UnixNano() {
			items = append(items, d.entry)
		}
	}
	slices.SortFunc(items, func(x, y entry) int { return cmp.Compare(x.seq, y.seq) })
	for _, e := range items {
		f, err := b.readEntry(e)
		if err == nil {
			err = b.queue.Load(f.toMessage())
		}
		if err != nil {
			return fmt.Errorf("the queue: %w", err)
		}
	}
	b.index.dropFaded(now)
	return nil
}

// Log is the records of this store.
func (b *Bus) Log() bus.Log { return Log{b} }

// Queue is the work queue of this store.
func (b *Bus) Queue() bus.Queue { return b.queue }

// Blobs is the content-addressed files of this store.
func (b *Bus) Blobs() bus.Blobs { return b.blobs }

// Broken implements bus.Bus.
func (b *Bus) Broken() context.Context { return b.failed }

// Close ends what waits in the bus with ErrClosed, puts the last mark onto the
// disk and lets go of the folder. It may be called again.
func (b *Bus) Close() error {
	var err error
	b.once.Do(func() {
		b.close(bus.ErrClosed)
		b.workers.Wait()
		if b.broken == nil && !b.salvaged {
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

// WithClosing is ctx that ends with ErrClosed when the bus closes.
func (b *Bus) WithClosing(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(b.closing, func() { cancel(bus.ErrClosed) })
	return ctx, func() { stop(); cancel(nil) }
}

// CheckAlive tells why no operation may start now.
func (b *Bus) CheckAlive(ctx context.Context) error {
	if b.closing.Err() != nil {
		return bus.ErrClosed
	}
	return context.Cause(ctx)
}
