// Package bus is what the parts of the company talk over: three primitives
// (Log, Queue, Blobs) and nothing else. It owns their contracts; drivers live
// in subpackages and all pass the one suite in bustest. It promises
// compare-and-set appends that survive kill -9 once acknowledged, leases with
// fences that only grow, and blobs named by their content. It does not know
// what a task or an event is.
package bus

import (
	"context"
	"errors"
	"io"
	"time"
)

// Errors that callers branch on. Drivers wrap them.
var (
	ErrConflict   = errors.New("bus: the subject has moved on")            // compare-and-set lost
	ErrNotFound   = errors.New("bus: not found")                           // no such blob, message or subject
	ErrLeaseLost  = errors.New("bus: lease lost")                          // expired, or held by another
	ErrNotAllowed = errors.New("bus: not allowed on this subject")         // e.g. purge of the ledger
	ErrClosed     = errors.New("bus: closed")                              //
	ErrUnknown    = errors.New("bus: outcome unknown; read the log again") // the ack did not arrive in time
	ErrTooLarge   = errors.New("bus: record too large; put it in a blob")  // more than MaxRecord
	ErrDamaged    = errors.New("bus: blob damaged")                        // its bytes do not match its name
)

// MaxRecord is how many bytes a record of a Log or the body of an Item may
// have, in every driver.
const MaxRecord = 4 << 20

// Message is one record of a Log.
type Message struct {
	Subject string
	Seq     uint64 // grows within a subject; gaps are allowed between two records of one subject
	ID      string // the message id given to Append
	Time    time.Time
	Data    []byte
}

// Log holds append-only records by subject. Subjects are "ledger" and
// "run.<run id>"; the ledger can never be purged. All methods may be called
// by many goroutines.
type Log interface {
	// Append adds data to subject if the sequence of the subject's last record
	// is expect (0: the subject has none), and returns the new sequence once
	// the record is synced to disk. A repeated id of the subject is dropped and
	// answered with the first one's sequence, where the repeat expects what the
	// first one did; a driver knows others for a while. ErrConflict: another writer appended; read
	// again. ErrUnknown: no answer in time; read again and look for the id.
	Append(ctx context.Context, subject string, data []byte, expect uint64, id string) (uint64, error)
	// Last is the newest record of a subject; ErrNotFound when it has none.
	Last(ctx context.Context, subject string) (Message, error)
	// Read calls fn for every record of subject with Seq >= from that is
	// there when Read starts, in order. An error of fn ends it.
	Read(ctx context.Context, subject string, from uint64, fn func(Message) error) error
	// Follow is Read that goes on with what comes later, until ctx ends.
	Follow(ctx context.Context, subject string, from uint64, fn func(Message) error) error
	// Purge forgets all records of a journal's subject ("run.…").
	Purge(ctx context.Context, subject string) error
	// Subjects lists the journal subjects that hold records.
	Subjects(ctx context.Context) ([]string, error)
}

// Item is one unit of work in a Queue. ID makes Put idempotent.
type Item struct {
	ID   string
	Body []byte
}

// Queue hands items to those that ask. Workers pull; nothing listens on a port.
type Queue interface {
	// Put adds an item, synced. A second Put of an id that was put before
	// (and is within the driver's memory of ids, at least two minutes)
	// changes nothing.
	Put(ctx context.Context, item Item) error
	// Lease waits for an item until ctx ends and holds it for ttl.
	Lease(ctx context.Context, ttl time.Duration) (Lease, error)
	// Depth counts items that wait and items that are leased.
	Depth(ctx context.Context) (waiting, leased int, err error)
	// Dead lists dead-lettered items, oldest first.
	Dead(ctx context.Context) ([]Item, error)
}

// Lease is the right of one holder to one item. An item whose lease expires
// goes to the next asker with a higher fence.
type Lease interface {
	Item() Item
	// Fence grows with every lease that this queue gives, and guards its
	// items. It is no fence of a run: a queue may be deleted and begin anew.
	Fence() uint64
	// Deliveries counts how often the item was leased, from 1.
	Deliveries() int
	// Extend starts the time to live anew; ErrLeaseLost when it has passed.
	Extend(ctx context.Context) error
	Ack(ctx context.Context) error
	// Nack gives the item back, to be leased again after delay.
	Nack(ctx context.Context, delay time.Duration) error
	// Bury moves the item to the dead letters.
	Bury(ctx context.Context) error
}

// Blobs keeps bytes by their SHA-256 (lower-case hexadecimal).
type Blobs interface {
	// Put streams r into the store, synced, and returns its hash and size.
	// Putting the same bytes again is cheap and changes nothing.
	Put(ctx context.Context, r io.Reader) (hash string, size int64, err error)
	// Get opens a blob; ErrNotFound when there is none. The reader fails at
	// its end when the bytes do not match the hash. ErrDamaged: there is none, and damage
	// is why. Both: there is none, and damage may be why.
	Get(ctx context.Context, hash string) (io.ReadCloser, error)
	// List calls fn for each blob whose hash comes behind after (empty: for all), in
	// the order of the hashes, without reading it. Blobs that are put or removed
	// meanwhile may be among them. An error of fn ends it.
	List(ctx context.Context, after string, fn func(BlobInfo) error) error
	// Check looks at what the store keeps beside the bytes of blobs, a part at a time: the
	// first part whose name comes behind after (empty: the first of all). It calls fn for
	// each damage and returns the name of the part, or "" when none is left. An error of fn
	// ends it.
	Check(ctx context.Context, after string, fn func(BlobDamage) error) (part string, err error)
	// Remove forgets a blob that was last put before a time, and reports whether it
	// did. One that is put meanwhile stays: Put comes wholly before or wholly after it.
	Remove(ctx context.Context, hash string, before time.Time) (removed bool, err error)
}

// BlobInfo describes a blob.
type BlobInfo struct {
	Hash string
	Size int64
	Time time.Time // when it was last put
}

// BlobDamage is damage of a store of blobs that is not in the bytes of one.
type BlobDamage struct {
	Hash  string // of the blob that it concerns; "" where the damage hides it
	Where string // a file of the bus's folder, and the byte in it
	Why   string
}

// Bus is the three together, as a driver opens them. Close waits for
// everything that the driver started.
type Bus interface {
	Log() Log
	Queue() Queue
	Blobs() Blobs
	// Broken is done once no record or item can be stored any more before the store is opened
	// anew. Its cause says why.
	Broken() context.Context
	Close() error
}
