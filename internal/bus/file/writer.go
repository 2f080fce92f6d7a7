package file

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"company/internal/bus"
	"company/internal/company"
)

const (
	batchRequests = 1024
	batchBytes    = 8 << 20
)

// request is a frame that a caller wants to append.
type request struct {
	kind    kind
	subject string
	data    []byte
	id      string
	expect  uint64
	keep    time.Duration // how long the record is kept; 0 means forever
	done    chan answer   // buffers one answer
}

// answer is the outcome of a request.
type answer struct {
	seq uint64
	err error
}

// inbox holds the requests that wait for the writer.
type inbox struct {
	mu      sync.Mutex
	waiting []*request
	wake    chan struct{} // buffers one signal
}

func (q *inbox) addRequest(r *request) {
	q.mu.Lock()
	q.waiting = append(q.waiting, r)
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// withdrawRequest removes a request that the writer has not taken yet, and reports whether it did.
func (q *inbox) withdrawRequest(r *request) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, w := range q.waiting {
		if w == r {
			q.waiting = append(q.waiting[:i:i], q.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// takeBatch returns the requests for one write and one sync.
func (q *inbox) takeBatch() []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, bytes := 0, 0
	for n < len(q.waiting) && n < batchRequests && (n == 0 || bytes < batchBytes) {
		bytes += len(q.waiting[n].data)
		n++
	}
	batch := q.waiting[:n:n]
	q.waiting = q.waiting[n:]
	if len(q.waiting) == 0 {
		q.waiting = nil
	}
	return batch
}

// submitRequest queues a request and waits for the writer's answer.
func (b *Bus) submitRequest(ctx context.Context, r *request) (uint64, error) {
	if err := b.CheckAlive(ctx); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, ackTimeout, errors.New("the disk does not answer"))
	defer cancel()
	r.done = make(chan answer, 1)
	b.inbox.addRequest(r)
	select {
	case a := <-r.done:
		return a.seq, a.err
	case <-ctx.Done():
	case <-b.ended:
	}
	if b.inbox.withdrawRequest(r) {
		if b.closing.Err() != nil {
			return 0, bus.ErrClosed
		}
		return 0, context.Cause(ctx)
	}
	select {
	case a := <-r.done:
		return a.seq, a.err
	default:
		return 0, fmt.Errorf("%w: %w", bus.ErrUnknown, context.Cause(ctx))
	}
}

// runWriter writes batches until the bus closes.
func (b *Bus) runWriter() {
	defer close(b.ended)
	for {
		if batch := b.inbox.takeBatch(); len(batch) > 0 {
			b.writeBatch(batch)
			continue
		}
		select {
		case <-b.inbox.wake:
		case <-b.closing.Done():
			return
		}
	}
}

// writeBatch checks, writes, syncs and answers requests.
func (b *Bus) writeBatch(batch []*request) {
	plan := b.planBatch(batch)
	err := b.storeBatch(plan)
	for i, r := range batch {
		a := plan.answers[i]
		if err != nil {
			a = answer{err: err} // a refusal may depend on a record that was not stored
		}
		r.done <- a
	}
}

// storeBatch writes and syncs the frames of a plan, and updates the index.
func (b *Bus) storeBatch(p *plan) error {
	if b.broken != nil {
		return b.broken
	}
	if len(p.frames) == 0 {
		return nil
	}
	segment := b.active
	if err := b.room.appendBytes(segment.file, p.raw, segment.size, b.rollAt); err != nil {
		return b.takeBack(err)
	}
	if err := segment.file.Sync(); err != nil {
		// The kernel may have dropped the bytes that it could not write, so a
		// successful second sync proves nothing.
		b.breakWith(err)
		return fmt.Errorf("%w: %w", bus.ErrUnknown, err)
	}
	offset := segment.size
	b.mu.Lock()
	for _, frame := range p.frames {
		b.index.addFrame(
			frame, entry{seq: frame.seq, segment: segment, offset: uint32(offset), size: uint32(frame.encodedSize())})
		offset += int64(frame.encodedSize())
	}
	b.index.dropFaded(p.now)
	segment.size, b.nextSeq = offset, p.nextSeq
	close(b.changed)
	b.changed = make(chan struct{})
	b.mu.Unlock()
	b.writeMark()
	if segment.size >= b.rollAt {
		b.rollSegment()
	}
	if p.purges {
		b.wakeCompactor()
	}
	return nil
}

// cutRoom truncates the file of the newest segment after its last frame.
func (b *Bus) cutRoom() error { return b.room.cutAt(b.active.file, b.active.size) }

// takeBack removes the partial write of a batch that did not fit on the disk.
func (b *Bus) takeBack(cause error) error {
	err := b.cutRoom()
	if err == nil {
		err = b.active.file.Sync() // so that a power cut does not restore the refused frames
	}
	if err != nil {
		b.breakWith(errors.Join(cause, err))
		return fmt.Errorf("%w: %w", bus.ErrUnknown, cause)
	}
	return company.E(company.EBus, "the bus cannot store a record").
		Fix("check the free space of the office's disk").Wrap(cause)
}

// breakWith makes the bus refuse all further requests.
func (b *Bus) breakWith(cause error) {
	b.broken = company.E(company.EBus, "the log of the bus can no longer be written").
		Fix("check the office's disk, then start again").Wrap(cause)
	b.fail(b.broken)
}

// writeMark writes a mark after a synced batch. The mark itself is synced with the next batch. Until
// then it survives a kill, but not a power cut.
func (b *Bus) writeMark() {
	segment := b.active
	raw := appendFrame(nil, frame{kind: markFrame, seq: b.nextSeq - 1, time: time.Now()}, segment.salt, segment.size)
	if _, err := segment.file.WriteAt(raw, segment.size); err != nil {
		_ = b.cutRoom() // the next batch overwrites a partial mark
		return
	}
	segment.size += int64(len(raw))
	b.room.bytes = max(b.room.bytes, segment.size)
}

// rollSegment starts a new segment. The old one ends with a frame that says that the new one exists.
// If there is no disk space, the old segment continues to grow.
func (b *Bus) rollSegment() {
	old := b.active
	next, err := createSegment(b.disk, segmentName(old.last+1),
		head{first: old.last + 1, last: old.last + 1, floor: b.nextSeq - 1})
	if err != nil {
		b.logger.Warn("no new segment of the bus's log", "err", err)
		return
	}
	raw := appendFrame(nil, frame{kind: endFrame, seq: b.nextSeq - 1, time: time.Now()}, old.salt, old.size)
	if _, err := old.file.WriteAt(raw, old.size); err != nil {
		err = errors.Join(err, b.cutRoom(), next.file.Close(), b.disk.Remove(next.fileName()), b.disk.Sync())
		b.logger.Warn("no new segment of the bus's log", "err", err)
		return
	}
	_ = old.file.Truncate(old.size + int64(len(raw))) // remaining zeros are removed at the next start
	if err := old.file.Sync(); err != nil {
		b.breakWith(errors.Join(err, next.file.Close()))
		return
	}
	b.mu.Lock()
	old.size += int64(len(raw))
	b.sealed = append(b.sealed, old)
	b.active = next
	b.mu.Unlock()
	b.room.bytes = segmentHead
	b.wakeCompactor()
}
