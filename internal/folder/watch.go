package folder

import (
	"io"
	"sync"
)

// Watched is a log whose first failed write is told, and its first good one
// after that. A log that cannot be written does not stop the work that it
// describes; that it has gaps is somebody's to know.
type Watched struct {
	to   io.WriteCloser
	told func(error)

	mu     sync.Mutex
	failed bool
}

// Watch passes what is written on to w. told gets the error of the first write
// that fails, and nil when it goes well again; it must be quick.
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

// Close closes what is written to.
func (w *Watched) Close() error { return w.to.Close() }
