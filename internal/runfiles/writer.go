package runfiles

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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

// runFile is a file of a run that is to be written, or edited.
type runFile struct {
	run  company.RunID
	name string
	text []byte
	edit *Edit
}

// Edit is a change of a file that may be on its way yet.
type Edit struct {
	// Change makes the new text of the old one. Nil: it stays as it is.
	Change func(old []byte) ([]byte, error)
	// Done hears of the end: the error is that of Change, or of a file that cannot be read or
	// written. found is false where there is no file.
	Done func(found bool, err error)
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
	w.enqueueFile(runFile{run: run, name: name, text: text})
}

// Edit has a file of a run changed soon, behind what was put before. It makes no file. The
// functions of the edit must be quick, and are called by goroutines of the writer.
func (w *Writer) Edit(run company.RunID, name string, e Edit) {
	w.enqueueFile(runFile{run: run, name: name, edit: &e})
}

func (w *Writer) enqueueFile(f runFile) {
	w.mu.Lock()
	for w.put > w.done && (w.put-w.done >= maxWaiting || w.bytes+len(f.text) > maxWaitingBytes) {
		moved := w.nextMove()
		w.mu.Unlock()
		<-moved
		w.mu.Lock()
	}
	defer w.mu.Unlock()
	w.waiting, w.bytes, w.put = append(w.waiting, f), w.bytes+len(f.text), w.put+1
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

// writeRun writes files of one run into its folder. It makes none for edits alone.
func (w *Writer) writeRun(files []runFile) {
	id := files[0].run
	for len(files) > 0 && files[0].edit != nil && !w.hasFolder(id) {
		files[0].edit.Done(false, nil)
		files = files[1:]
	}
	if len(files) == 0 {
		return
	}
	run, err := openRunFolder(w.runs, id)
	for _, f := range files {
		if f.edit != nil {
			f.edit.Done(f.apply(run, err))
			continue
		}
		w.report(id, f.name, f.write(run, err))
	}
	if err == nil {
		_ = run.Close() // nothing is written through it any more
	}
}

func (w *Writer) hasFolder(id company.RunID) bool {
	info, err := w.runs.Lstat(string(id))
	return err == nil && info.IsDir()
}

// write writes the file; err is why there is no folder.
func (f runFile) write(run *folder.Folder, err error) error {
	if err == nil {
		err = run.ReplaceFile(f.name, f.text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write %s of %s: %w", f.name, f.run, err)
	}
	return nil
}

// apply edits the file; err is why there is no folder.
func (f runFile) apply(run *folder.Folder, err error) (found bool, _ error) {
	if err != nil {
		return false, f.write(nil, err)
	}
	old, err := run.ReadFile(f.name, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return true, fmt.Errorf("read %s of %s: %w", f.name, f.run, err)
	}
	if f.text, err = f.edit.Change(old); err != nil || f.text == nil {
		return true, err
	}
	return true, f.write(run, nil)
}
