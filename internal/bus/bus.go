// Package bus defines the messaging and storage layer of the company. It consists of three primitives:
// Log, Queue and Blobs. The package owns their contracts. Drivers are in subpackages, and all of them
// pass the test suite in bustest. The contracts promise compare-and-set appends that survive kill -9
// once acknowledged, items that are leased to one worker at a time, and blobs named by their content.
// The package does not interpret tasks or events.
package bus

import (
	"context"
	"errors"
	"io"
	"time"
)

// Errors that callers branch on. Drivers wrap them.
var (
	ErrConflict   = errors.New("bus: the subject has moved on")            // another append came first
	ErrNotFound   = errors.New("bus: not found")                           // no such blob, message or subject
	ErrLeaseLost  = errors.New("bus: lease lost")                          // expired, or held by another
	ErrNotAllowed = errors.New("bus: not allowed on this subject")         // e.g. purge of the ledger
	ErrClosed     = errors.New("bus: closed")                              //
	ErrUnknown    = errors.New("bus: outcome unknown; read the log again") // the ack did not arrive in time
	ErrTooLarge   = errors.New("bus: record too large; put it in a blob")  // more than MaxRecord
	ErrDamaged    = errors.New("bus: blob damaged")                        // its bytes do not match its name
)

// MaxRecord limits the size of a record of a Log and of the body of an Item, in bytes, in every
// driver.
const MaxRecord = 4 << 20

// Message is one record of a Log.
type Message struct {
	Subject string
	Seq     uint64 // increases within a subject, possibly with gaps
	ID      string // the message id given to Append
	Time    time.Time
	Data    []byte
}

// Log holds append-only records by subject. Subjects are "ledger" and "run.<run id>". The ledger can
// never be purged. All methods are safe for concurrent use.
type Log interface {
	// Append adds data to subject and returns the new sequence once the record is synced to disk. It
	// requires that the sequence of the subject's last record is expect, or that the subject is empty
	// and expect is 0. A repeated id of the subject is not stored if its expect is that of the first
	// append. Append then returns the sequence of the first append. Drivers recognize other repeated
	// ids for a while. ErrConflict means that another writer has appended: read again. ErrUnknown
	// means that no answer came in time: read again and look for the id.
	Append(ctx context.Context, subject string, data []byte, expect uint64, id string) (uint64, error)
	// Last returns the newest record of a subject, or ErrNotFound if it is empty.
	Last(ctx context.Context, subject string) (Message, error)
	// Read calls fn in order for every record of subject with Seq >= from that exists when Read
	// starts. An error of fn ends it.
	Read(ctx context.Context, subject string, from uint64, fn func(Message) error) error
	// Follow reads like Read and then waits for new records until ctx ends.
	Follow(ctx context.Context, subject string, from uint64, fn func(Message) error) error
	// Purge removes all records of a journal's subject ("run.…"). Until the bus is closed, sequences of
	// later records are higher than the removed ones.
	Purge(ctx context.Context, subject string) error
	// Subjects lists the journal subjects that hold records.
	Subjects(ctx context.Context) ([]string, error)
}

// Item is one unit of work in a Queue. ID makes Put idempotent.
type Item struct {
	ID   string
	Body []byte
}

// LeaseTTL is how long a lease lasts without Extend.
const LeaseTTL = 30 * time.Second

// Queue hands items to the workers that lease them. Workers pull, so the queue needs no listening
// port. An item may be leased more than once: after its lease has expired, after the process has ended,
// and rarely after an Ack that a crash has undone. Who leases an item must therefore be able to tell
// that it is outdated.
type Queue interface {
	// Put adds an item, synced. It has no effect while an item with that id is in the queue, leased or
	// not.
	Put(ctx context.Context, item Item) error
	// Lease waits for an item until ctx ends, and holds it until it is settled, for LeaseTTL at most.
	// Leases end with the process: after a restart, every item waits.
	Lease(ctx context.Context) (Lease, error)
	// Depth returns the number of items that wait, and of items that are leased or whose delay runs.
	Depth(ctx context.Context) (waiting, leased int, err error)
}

// Lease gives one holder the exclusive use of an item, until it expires. Its methods return ErrLeaseLost
// if it has expired or the item is settled.
type Lease interface {
	Item() Item
	// Extend restarts the time to live.
	Extend(ctx context.Context) error
	// Ack removes the item from the queue.
	Ack(ctx context.Context) error
	// Nack returns the item to the queue. It can be leased again after delay.
	Nack(ctx context.Context, delay time.Duration) error
}

// Blobs keeps bytes by their SHA-256 (lower-case hexadecimal).
type Blobs interface {
	// Put streams r into the store, synced, and returns its hash and size.
	// Putting the same bytes again is cheap and changes nothing.
	Put(ctx context.Context, r io.Reader) (hash string, size int64, err error)
	// Get opens a blob. The reader fails with ErrDamaged at its end if the bytes do not match the hash. Get returns
	// ErrNotFound if the blob does not exist.
	Get(ctx context.Context, hash string) (io.ReadCloser, error)
	// List calls fn for each blob whose hash sorts after the given hash (all if empty), in the order
	// of the hashes. It does not read the blobs. Blobs that are put or removed meanwhile may be
	// listed. An error of fn ends it.
	List(ctx context.Context, after string, fn func(BlobInfo) error) error
	// Remove deletes a blob that was last put before a time, and reports whether it did. A blob that
	// is put meanwhile remains: Put takes effect entirely before or entirely after Remove.
	Remove(ctx context.Context, hash string, before time.Time) (removed bool, err error)
}

// BlobInfo describes a blob.
type BlobInfo struct {
	Hash string
	Size int64
	Time time.Time // when it was last put
}

// Bus combines the three primitives of one driver. Close waits for all goroutines that the driver
// started.
type Bus interface {
	Log() Log
	Queue() Queue
	Blobs() Blobs
	// Broken is done once the store cannot store records or items until it is reopened. The context's
	// cause is the reason.
	Broken() context.Context
	Close() error
}
