package safedir

import (
	"io"
	"sync"
)

// Watched is a log that reports its first failed write, and the next successful one. A log that cannot be written does
// not stop the work that it describes.
type Watched struct {
	to   io.WriteCloser
	told func(error)

	mu     sync.Mutex
	failed bool
}

// Watch returns a log that writes to w. The callback gets the error of the first failed write, and nil once a write
// succeeds again. It must return quickly.
func Watch(w io.WriteCloser, told func(error)) *Watched { return &Watched{to: w, told: told} }

// Write writes to the underlying writer, and reports a change between success and failure.
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
