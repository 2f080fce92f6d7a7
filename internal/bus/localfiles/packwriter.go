package localfiles

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"sync"
	"time"

	"company/internal/bus"
)

// batchBytes limits the size of one write with one sync.
const batchBytes = 4 << 20

// queuedBlob is a blob that waits to be written.
type queuedBlob struct {
	sum  [sha256.Size]byte
	data []byte
	put  time.Time
	done chan error // buffers one error
}

// queuedBlobs holds the blobs that arrived while others were synced.
type queuedBlobs struct {
	mu      sync.Mutex
	waiting []*queuedBlob
	taken   bool // a goroutine is writing
	closed  bool
	writers sync.WaitGroup
}

// addBlob queues a blob and starts a writer if none is running. It returns false if the queue is
// closed.
func (q *queuedBlobs) addBlob(b *queuedBlob, write func()) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.waiting = append(q.waiting, b)
	if !q.taken {
		q.taken = true
		q.writers.Go(write)
	}
	return true
}

// close refuses further blobs and waits until the queued ones are written.
func (q *queuedBlobs) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.writers.Wait()
}

// takeBlobs returns the blobs of one batch. If there are none, the caller's goroutine must end.
func (q *queuedBlobs) takeBlobs() []*queuedBlob {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, bytes := 0, 0
	for n < len(q.waiting) && (n == 0 || bytes < batchBytes) {
		bytes += len(q.waiting[n].data)
		n++
	}
	batch := q.waiting[:n:n]
	q.waiting = q.waiting[n:]
	if n == 0 {
		q.waiting, q.taken = nil, false
	}
	return batch
}

// putPacked stores a blob. It returns once the blob is on disk, or ctx ends.
func (p *packs) putPacked(ctx context.Context, sum [sha256.Size]byte, data []byte) error {
	if err := p.ensureOpen(); err != nil {
		return err
	}
	if there, err := p.renewBlob(sum, time.Now()); there || err != nil {
		return err
	}
	b := &queuedBlob{sum: sum, data: data, put: time.Now(), done: make(chan error, 1)}
	q := &p.queue
	if !q.addBlob(b, p.writeQueued) {
		return bus.ErrClosed
	}
	select {
	case err := <-b.done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// renewBlob updates the time of an existing blob, because Remove spares recent blobs.
func (p *packs) renewBlob(sum [sha256.Size]byte, now time.Time) (there bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.renewLocked(sum, now)
}

// renewLocked is renewBlob for a caller that holds mu. It never sets a time back.
func (p *packs) renewLocked(sum [sha256.Size]byte, now time.Time) (there bool, err error) {
	found, _, err := p.findCopies(sum, 1)
	if err != nil || len(found) == 0 {
		return false, err
	}
	foundRecord := found[0]
	if foundRecord.put.After(now) && !foundRecord.damaged {
		return true, nil
	}
	err = p.withFile(foundRecord.full, true,
		func(file packFile) error { return writeState(file, foundRecord.at, stateLive, now) })
	return err == nil, err
}

// writeQueued writes batches until no blob is queued.
func (p *packs) writeQueued() {
	for {
		batch := p.queue.takeBlobs()
		if len(batch) == 0 {
			return
		}
		p.writing.Lock()
		err := p.writeBlobs(batch)
		p.writing.Unlock()
		for _, b := range batch {
			b.done <- err
		}
	}
}

// writeBlobs writes blobs and syncs once. Readers find them only after all of them are on disk. The
// caller holds writing.
func (p *packs) writeBlobs(batch []*queuedBlob) error {
	if err := p.openPacks(true); err != nil {
		return err
	}
	pack, err := p.readyNewest()
	if err != nil {
		return err
	}
	text, placed, err := p.encodeBatch(pack, batch)
	if err != nil || len(placed) == 0 {
		return err
	}
	if err := pack.room.Append(pack.file, text, pack.end, p.packSize); err != nil {
		// Free the bytes of the partial write on a full disk.
		if pack.room.Cut(pack.file, pack.end) != nil {
			pack.broken = true
		} else {
			pack.markSynced() // the batch has overwritten the old mark
		}
		return err
	}
	if err := pack.file.Sync(); err != nil {
		pack.broken = true // the kernel may have dropped the bytes, so a later sync does not help
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	pack.end += int64(len(text))
	for _, r := range placed {
		pack.records[r.sum] = r.at
	}
	pack.markSynced()
	return nil
}

// markSynced writes a mark that tells the next start that the whole pack is on disk. The next batch
// overwrites the mark.
func (n *newestPack) markSynced() {
	writeMark(n.file, n.number, n.end)
	n.room.Bytes = max(n.room.Bytes, n.end+headSize)
}

// closeFile closes the file, without the room behind its mark.
func (n *newestPack) closeFile() error {
	if used := n.end + headSize; !n.broken && n.room.Bytes > used {
		_ = n.room.Cut(n.file, used) // remaining zeros are room for the next start
	}
	return n.file.Close()
}

// writeMark writes a mark that tells the next start that the pack is on disk up to its end. If the
// mark is not written, or is lost in a power cut, the next start checks the newest batch.
func writeMark(file io.WriterAt, pack uint32, end int64) {
	head := encodeHead(recordHead{magic: markMagic, state: stateLive, put: time.Now(), synced: end}, pack, end)
	_, _ = file.WriteAt(head[:], end)
}

// encodeBatch encodes the records of blobs for the end of the newest pack. A blob that is already
// there, or is in the batch twice, gets the latest of its times.
func (p *packs) encodeBatch(pack *newestPack, batch []*queuedBlob) (text []byte, placed []placedRecord, err error) {
	latest := make(map[[sha256.Size]byte]time.Time, len(batch))
	size := int64(0)
	for _, b := range batch {
		if b.put.After(latest[b.sum]) {
			latest[b.sum] = b.put
		}
		size += roundUp(headSize + int64(len(b.data)))
	}
	text = make([]byte, 0, size)
	for _, b := range batch {
		put, isFirst := latest[b.sum]
		if !isFirst {
			continue
		}
		delete(latest, b.sum)
		if pack.hasBlob(&p.mu, b.sum) {
			there, err := p.renewBlob(b.sum, put)
			if err != nil {
				return nil, nil, err
			}
			if there {
				continue
			}
		}
		at := pack.end + int64(len(text))
		r := placedRecord{recordHead{magic: blobMagic, state: stateLive, put: put, size: int64(len(b.data)), synced: pack.end,
			sum: b.sum}, at}
		head := encodeHead(r.recordHead, pack.number, at)
		text = append(append(text, head[:]...), b.data...)
		text = append(text, make([]byte, r.endOffset(at)-at-headSize-r.size)...)
		placed = append(placed, r)
	}
	return text, placed, nil
}

// hasBlob reports whether the pack contains a blob.
func (n *newestPack) hasBlob(mu *sync.RWMutex, sum [sha256.Size]byte) bool {
	mu.RLock()
	defer mu.RUnlock()
	_, ok := n.records[sum]
	return ok
}

// readyNewest returns the pack for the next blobs. The caller holds writing.
func (p *packs) readyNewest() (*newestPack, error) {
	if p.newest != nil && (p.newest.broken || p.newest.end >= p.packSize) {
		if err := p.fillNewest(); err != nil {
			return nil, err
		}
	}
	if p.newest != nil {
		return p.newest, nil
	}
	number := p.last + 1
	p.setLast(number) // count up first: a file that cannot be removed does not block the next one
	file, err := p.dir.Create(packName(number))
	if err != nil {
		return nil, err
	}
	if err := p.dir.Sync(); err != nil {
		return nil, errors.Join(err, file.Close(), p.dir.Remove(packName(number)))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.newest = &newestPack{number: number, file: file, records: map[[sha256.Size]byte]int64{}}
	return p.newest, nil
}

func (p *packs) setLast(number uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = number
}

// fillNewest turns the newest pack into a full one with an index. The caller holds writing.
func (p *packs) fillNewest() error {
	pack := p.newest
	full := &fullPack{number: pack.number, index: newPackIndex(pack.records), live: 1 + pack.end - pack.dead,
		size: pack.end, gaps: pack.gaps, damaged: len(pack.gaps) > 0}
	if !full.damaged { // an index would hide the lost blobs
		if err := p.dir.WriteFile(indexName(pack.number), full.index.encodeIndex()); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.full, p.newest = append(p.full, full), nil
	return pack.closeFile()
}

// close closes the packs.
func (p *packs) close() error {
	p.queue.close()
	p.writing.Lock()
	defer p.writing.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	var errs []error
	if pack := p.newest; pack != nil {
		errs = append(errs, pack.closeFile())
	}
	if p.dir != nil {
		errs = append(errs, p.dir.Close())
	}
	return errors.Join(errs...)
}
