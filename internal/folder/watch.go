package folder

import (
	"io"
	"sync"
)

// Watched is a log that reports its first failed write, and the first good one
// after that. A log that cannot be written does not stop the work that it
// describes; its gaps are reported.
type Watched struct {
	to   io.WriteCloser
	told func(error)

	mu     sync.Mutex
	failed bool
}

// Watch writes to w. told gets the error of the first write that fails, and nil
// when it goes well again; it must be quick.
func Watch(w io.WriteCloser, told func(error)) *Watched { return &Watched{to: w, told: told} }

// Write writes.
func (w *Watched) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	w.mu.Lock()
	tell := w.failed != (err != nil)
	w.failed = err != nil
	w.mu.Unlock()
	if tell && w.told != nil {
		w.told(err)
	}
	return n, err
}

// Close closes the underlying writer.
func (w *Watched) Close() error { return w.to.Close() }
