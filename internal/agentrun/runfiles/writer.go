package runfiles

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"company/internal/company"
	"company/internal/lib/safedir"
)

// Names of the files that a Writer writes in the folder of a run.
const (
	ResultFile     = "result.json"
	TranscriptFile = "transcript.ndjson"
)

const (
	// maxWaiting limits the number of pending files.
	maxWaiting = 1024
	// maxWaitingBytes limits the text of pending files. A longer file must be the only one.
	maxWaitingBytes = 16 << 20
	// writerBatch is the number of files that are written before Await and Put are notified.
	writerBatch = 64
	// writerRoutines is the number of runs whose files are written in parallel, because some file systems are slow
	// to create files.
	writerRoutines = 4
)

// Writer writes files of runs in the background. The files of one run are written in the order of their Puts.
// After a kill, each file is either complete or missing. A power cut may lose or truncate the newest files,
// which can be made again from the record. Its goroutine lives only while files are pending, so a Writer needs
// no Close. Its methods are safe for concurrent use.
type Writer struct {
	runs   *safedir.Folder
	report func(run company.RunID, name string, err error)

	mu      sync.Mutex
	waiting []runFile
	bytes   int           // of files that are pending or being written
	put     uint64        // number of files that were put
	done    uint64        // number of files that were written or failed
	writing bool          // a goroutine is writing
	moved   chan struct{} // closed when done grows, nil if no caller waits
}

// runFile is a pending write or edit of a run's file.
type runFile struct {
	run  company.RunID
	name string
	text []byte
	edit *Edit
}

// Edit changes a file that may not be written yet.
type Edit struct {
	// Change returns the new text for the old one. If it returns nil, the file stays unchanged.
	Change func(old []byte) ([]byte, error)
	// Done is called at the end. err is the error of Change, or of reading or writing the file. found is false if
	// there is no file.
	Done func(found bool, err error)
}

// NewWriter returns a writer into the folder of all runs. report receives the result of each write: the error,
// or nil. It must be quick. For different runs it is called concurrently.
func NewWriter(runs *safedir.Folder, report func(run company.RunID, name string, err error)) *Writer {
	return &Writer{runs: runs, report: report}
}

// Put queues a file of a run to be written soon. A later file replaces an earlier one of the same name. The
// caller must not change text afterwards. If too much is pending, Put waits.
func (w *Writer) Put(run company.RunID, name string, text []byte) {
	w.enqueueFile(runFile{run: run, name: name, text: text})
}

// Edit queues a change of a run's file, after all earlier Puts. It does not create a file. The functions of the
// edit must be quick, and are called by goroutines of the writer.
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
	w.waiting = append(w.waiting, f)
	w.bytes += len(f.text)
	w.put++
	if !w.writing {
		w.writing = true
		go w.writeWaiting()
	}
}

// Await waits until all earlier Puts are written. If ctx ends first, it returns the cause.
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

// nextMove returns a channel that is closed when more files are written. The caller holds mu.
func (w *Writer) nextMove() <-chan struct{} {
	if w.moved == nil {
		w.moved = make(chan struct{})
	}
	return w.moved
}

// writeWaiting writes until no file is pending.
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

// takeBatch takes the files that are pending longest. An empty batch ends the goroutine.
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

// writeBatch writes files, of several runs in parallel.
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

// writeRun writes files of one run into its folder. It does not create the folder for edits alone.
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
		_ = run.Close() // all writes are done, so the error does not matter
	}
}

func (w *Writer) hasFolder(id company.RunID) bool {
	info, err := w.runs.Lstat(string(id))
	return err == nil && info.IsDir()
}

// write writes the file. err is the reason for a missing folder.
func (f runFile) write(run *safedir.Folder, err error) error {
	if err == nil {
		err = run.ReplaceFile(f.name, f.text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write %s of %s: %w", f.name, f.run, err)
	}
	return nil
}

// apply edits the file. err is the reason for a missing folder.
func (f runFile) apply(run *safedir.Folder, err error) (found bool, _ error) {
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
