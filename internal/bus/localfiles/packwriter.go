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

// batchBytes bounds the bytes of one write and one sync.
const batchBytes = 4 << 20

// queuedBlob is a blob that waits to be written.
type queuedBlob struct {
	sum  [sha256.Size]byte
	data []byte
	put  time.Time
	done chan error // has room for one
}

// queuedBlobs are the blobs that came while others were synced.
type queuedBlobs struct {
	mu      sync.Mutex
	waiting []*queuedBlob
	taken   bool // a goroutine writes
	closed  bool
	writers sync.WaitGroup
}

// addBlob has a blob written, unless the packs are closed.
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

// close lets no more blobs in, and waits for those that are in.
func (q *queuedBlobs) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.writers.Wait()
}

// takeBlobs takes the blobs of one batch. None: the caller's goroutine is to end.
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

// putPacked keeps a blob. It returns once the blob is on the disk, or ctx ends.
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

// renewBlob gives a blob that is there a time: Remove spares recent blobs.
func (p *packs) renewBlob(sum [sha256.Size]byte, now time.Time) (there bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.renewLocked(sum, now)
}

// renewLocked is renewBlob for a caller that holds mu. No time is set back.
func (p *packs) renewLocked(sum [sha256.Size]byte, now time.Time) (there bool, err error) {
	found, _, err := p.findCopies(sum, 1)
	if err != nil || len(found) == 0 {
		return false, err
	}
	r := found[0]
	if r.put.After(now) && !r.damaged {
		return true, nil
	}
	err = p.withFile(r.full, true, func(file packFile) error { return writeState(file, r.at, stateLive, now) })
	return err == nil, err
}

// writeQueued writes batches until none waits.
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

// writeBlobs writes blobs and syncs once. None is found before all of them are on the
// disk. The caller holds writing.
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
		// A full disk gets back the bytes that it took.
		if pack.room.Cut(pack.file, pack.end) != nil {
			pack.broken = true
		} else {
			pack.markSynced() // the batch stood in the place of the mark
		}
		return err
	}
	if err := pack.file.Sync(); err != nil {
		pack.broken = true // the kernel may have dropped the bytes: a later sync proves nothing
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

// markSynced tells the next start that all of the newest pack is on the disk. The next batch
// takes the mark's place.
func (n *newestPack) markSynced() {
	writeMark(n.file, n.number, n.end)
	n.room.Bytes = max(n.room.Bytes, n.end+headSize)
}

// closeFile closes the file, without the room behind its mark.
func (n *newestPack) closeFile() error {
	if used := n.end + headSize; !n.broken && n.room.Bytes > used {
		_ = n.room.Cut(n.file, used) // zeros that stay are room for the next start
	}
	return n.file.Close()
}

// writeMark tells the next start that a pack is on the disk up to its end. A mark that is not
// written, or is lost with the power, leaves the newest batch to be looked at.
func writeMark(file io.WriterAt, pack uint32, end int64) {
	head := encodeHead(recordHead{magic: markMagic, state: stateLive, put: time.Now(), synced: end}, pack, end)
	_, _ = file.WriteAt(head[:], end)
}

// encodeBatch is the records of blobs behind the end of the newest pack. A blob that came
// there meanwhile, or is twice in the batch, gets the latest of its times.
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
		r := placedRecord{recordHead{magic: blobMagic, state: stateLive, put: put, size: int64(len(b.data)), synced: pack.end, sum: b.sum}, at}
		head := encodeHead(r.recordHead, pack.number, at)
		text = append(append(text, head[:]...), b.data...)
		text = append(text, make([]byte, r.endOffset(at)-at-headSize-r.size)...)
		placed = append(placed, r)
	}
	return text, placed, nil
}

// hasBlob says whether the pack has a blob.
func (n *newestPack) hasBlob(mu *sync.RWMutex, sum [sha256.Size]byte) bool {
	mu.RLock()
	defer mu.RUnlock()
	_, ok := n.records[sum]
	return ok
}

// readyNewest gives the pack that the next blobs go to. The caller holds writing.
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
	p.setLast(number) // a file that cannot be removed is not in the way of the next
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

// fillNewest makes the newest pack a full one, with an index. The caller holds writing.
func (p *packs) fillNewest() error {
	pack := p.newest
	full := &fullPack{number: pack.number, index: newPackIndex(pack.records), live: 1 + pack.end - pack.dead, size: pack.end, gaps: pack.gaps, damaged: len(pack.gaps) > 0}
	if !full.damaged { // an index would hide what the pack has lost
		if err := p.dir.WriteFile(indexName(pack.number), full.index.encodeIndex()); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.full, p.newest = append(p.full, full), nil
	return pack.closeFile()
}

// close ends the packs.
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
