package runfiles

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"company/internal/company"
	"company/internal/folder"
)

// Names of the files that a Writer writes in the folder of a run.
const (
	ResultFile     = "result.json"
	TranscriptFile = "transcript.ndjson"
)

const (
	// maxWaiting is how many files wait to be written, at most.
	maxWaiting = 1024
	// maxWaitingBytes bounds their text. A longer file waits alone.
	maxWaitingBytes = 16 << 20
	// writerBatch is how many files are written before Await and Put learn of them.
	writerBatch = 32
)

// Writer writes the files of runs that are made from the record, one after the other and
// behind their runs. Each is there whole or not at all after a kill; a power cut
// may take or cut those of the last moments, which the record has. Its goroutine lives
// while a file waits, so a Writer needs no end. Its methods may be called by many
// goroutines.
type Writer struct {
	runs   *folder.Folder
	report func(run company.RunID, name string, err error)

	mu      sync.Mutex
	waiting []runFile
	bytes   int           // of the files that wait or are being written
	put     uint64        // files that were put
	done    uint64        // of them, those that were written or could not be
	writing bool          // a goroutine is at it
	moved   chan struct{} // closed when done grows. Nil: no caller waits
}

// runFile is a file of a run that is to be written.
type runFile struct {
	run  company.RunID
	name string
	text []byte
}

// NewWriter is a writer into the folder of all runs. report gets the error of each file that
// could not be written, and nil for one that was; it must be quick.
func NewWriter(runs *folder.Folder, report func(run company.RunID, name string, err error)) *Writer {
	return &Writer{runs: runs, report: report}
}

// Put has a file of a run written soon. Of two under one name the later one stays. The
// caller leaves text as it is. Where too much waits already, Put waits for room.
func (w *Writer) Put(run company.RunID, name string, text []byte) {
	w.mu.Lock()
	for w.put > w.done && (w.put-w.done >= maxWaiting || w.bytes+len(text) > maxWaitingBytes) {
		moved := w.nextMove()
		w.mu.Unlock()
		<-moved
		w.mu.Lock()
	}
	defer w.mu.Unlock()
	w.waiting, w.bytes, w.put = append(w.waiting, runFile{run, name, text}), w.bytes+len(text), w.put+1
	if !w.writing {
		w.writing = true
		go w.writeWaiting()
	}
}

// Await waits until the files that were put before are written, or ctx ends: then its error
// is the cause.
func (w *Writer) Await(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for until := w.put; w.done < until; {
		moved := w.nextMove()
		w.mu.Unlock()
		select {
		case <-moved:
			w.mu.Lock()
		case <-ctx.Done():
			w.mu.Lock()
			return context.Cause(ctx)
		}
	}
	return nil
}

// nextMove is closed when more files are written. The caller holds mu.
func (w *Writer) nextMove() <-chan struct{} {
	if w.moved == nil {
		w.moved = make(chan struct{})
	}
	return w.moved
}

// writeWaiting writes until no file waits.
func (w *Writer) writeWaiting() {
	for batch := w.takeBatch(); len(batch) > 0; batch = w.takeBatch() {
		for at := 0; at < len(batch); {
			at += w.writeSome(batch[at:])
		}
		w.mu.Lock()
		for _, f := range batch {
			w.bytes -= len(f.text)
		}
		w.done += uint64(len(batch))
		if w.moved != nil {
			close(w.moved)
			w.moved = nil
		}
		w.mu.Unlock()
	}
}

// takeBatch takes the files that have waited longest. With none it ends the goroutine.
func (w *Writer) takeBatch() []runFile {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.waiting), writerBatch)
	batch := w.waiting[:n:n]
	if w.waiting = w.waiting[n:]; len(w.waiting) == 0 {
		w.waiting, w.writing = nil, n > 0
	}
	return batch
}

// writeSome writes the first file, and those of the same run behind it, into its folder. It
// gives their number.
func (w *Writer) writeSome(files []runFile) (n int) {
	id := files[0].run
	run, err := openRunFolder(w.runs, id)
	for n = 0; n < len(files) && files[n].run == id; n++ {
		f, ferr := files[n], err
		if err == nil {
			ferr = run.ReplaceFile(f.name, f.text, 0o600)
		}
		if ferr != nil {
			ferr = fmt.Errorf("write %s of %s: %w", f.name, id, ferr)
		}
		w.report(id, f.name, ferr)
	}
	if err == nil {
		err = run.Close()
	}
	_ = errors.Join(err) // each file has its own error
	return n
}
