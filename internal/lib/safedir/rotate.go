package safedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// Rotating is a log of limited size. A full log is renamed to name.1, the earlier ones move on by one, and the oldest
// is removed. Lines are never split. If a full log cannot be renamed, writing to it continues, because its lines
// matter more than its size.
type Rotating struct {
	own  *Folder
	name string
	most int64 // size limit of the file, in bytes
	kept int   // number of older files to keep

	mu   sync.Mutex
	file *os.File
	size int64
}

// OpenRotating opens a log for appending, and creates it if it is missing.
func (f *Folder) OpenRotating(name string, limit int64, kept int) (*Rotating, error) {
	rotating := &Rotating{own: f, name: name, most: limit, kept: kept}
	if err := rotating.open(); err != nil {
		return nil, err
	}
	return rotating, nil
}

func (r *Rotating) open() error {
	file, err := r.own.Append(r.name)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	r.file, r.size = file, info.Size()
	return nil
}

// Write writes one or more whole lines.
func (r *Rotating) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size > 0 && r.size+int64(len(p)) > r.most {
		r.rotateFiles()
	}
	n, err := r.file.Write(p)
	r.size += int64(n)
	return n, err
}

// rotateFiles starts a new file. If that fails it keeps the old one, and retries after the same amount of data. The
// caller holds mu.
func (r *Rotating) rotateFiles() {
	old := r.file
	if r.moveNames() != nil || r.open() != nil {
		r.size = 0
		return
	}
	_ = old.Close() // its lines are written already
}

func (r *Rotating) moveNames() error {
	older := func(n int) string { return fmt.Sprintf("%s.%d", r.name, n) }
	for n := r.kept; n > 0; n-- {
		from := r.name
		if n > 1 {
			from = older(n - 1)
		}
		if err := r.own.Rename(from, older(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Close closes the file.
func (r *Rotating) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file.Close()
}
