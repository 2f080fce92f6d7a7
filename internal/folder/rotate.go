package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// Rotating is a log of bounded size: when it is full it gets another name, name.1, those
// before it move on by one, and the oldest goes. Lines are not cut apart. A full log that
// cannot be moved is written on: its lines are worth more than its size.
type Rotating struct {
	own  *Folder
	name string
	most int64 // bytes of the file
	kept int   // older files

	mu   sync.Mutex
	file *os.File
	size int64
}

// OpenRotating opens a log to write to its end, made where it is missing.
func (f *Folder) OpenRotating(name string, most int64, kept int) (*Rotating, error) {
	r := &Rotating{own: f, name: name, most: most, kept: kept}
	if err := r.open(); err != nil {
		return nil, err
	}
	return r, nil
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

// rotateFiles begins a new file. Where there can be none the old one stays in use, and it is
// tried again when as much was written once more. The caller holds mu.
func (r *Rotating) rotateFiles() {
	old := r.file
	if r.moveNames() != nil || r.open() != nil {
		r.size = 0
		return
	}
	_ = old.Close() // its lines are written
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
