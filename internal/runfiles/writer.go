package runfiles

import (
	"context"
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
	writerBatch = 64
	// writerRoutines is how many runs' files are written at a time: some file systems look
	// long for the place of a new file.
	writerRoutines = 4
)

// Writer writes the files of runs that are made from the record, behind their runs, those of
// one run in the order in which they were put. Each is there whole or not at all after a kill; a power cut
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
// could not be written, and nil for one that was. It must be quick, and is called by several
// goroutines at once for several runs.
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
		w.writeBatch(batch)
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

// writeBatch writes files, of several runs at a time.
func (w *Writer) writeBatch(batch []runFile) {
	byRun := map[company.RunID][]runFile{}
	for _, f := range batch {
		byRun[f.run] = append(byRun[f.run], f)
	}
	runs := make(chan []runFile)
	var routines sync.WaitGroup
	for range min(writerRoutines, len(byRun)) {
		routines.Go(func() {
			for files := range runs {
				w.writeRun(files)
			}
		})
	}
	for _, files := range byRun {
		runs <- files
	}
	close(runs)
	routines.Wait()
}

// writeRun writes files of one run into its folder.
func (w *Writer) writeRun(files []runFile) {
	id := files[0].run
	run, err := openRunFolder(w.runs, id)
	for _, f := range files {
		ferr := err
		if err == nil {
			ferr = run.ReplaceFile(f.name, f.text, 0o600)
		}
		if ferr != nil {
			ferr = fmt.Errorf("write %s of %s: %w", f.name, id, ferr)
		}
		w.report(id, f.name, ferr)
	}
	if err == nil {
		_ = run.Close() // nothing is written through it any more
	}
}
