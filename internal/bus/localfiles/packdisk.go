package localfiles

import (
	"io"
	"os"

	"company/internal/lib/safedir"
)

// packFolder is the folder of the packs. Tests replace it with one that loses unsynced bytes and
// names.
type packFolder interface {
	// List returns the names of the files.
	List() ([]string, error)
	// Open opens a file for reading, and with toWrite also for writing.
	Open(name string, toWrite bool) (packFile, error)
	// Create creates a new file for reading and writing. It fails if the file exists.
	Create(name string) (packFile, error)
	// ReadFile reads a whole file of at most max bytes.
	ReadFile(name string, max int64) ([]byte, error)
	// WriteFile writes a whole file or leaves the old one. Its name survives a power cut only after
	// Sync.
	WriteFile(name string, data []byte) error
	Remove(name string) error
	// Sync makes the names survive a power cut.
	Sync() error
	Close() error
}

// packFile is an open pack. Its methods are safe for concurrent use.
type packFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Size() (int64, error)
	Truncate(size int64) error
	// Sync makes the bytes survive a power cut.
	Sync() error
}

// plainFolder is a folder of packs in the file system.
type plainFolder struct{ own *safedir.Folder }

func (d plainFolder) List() ([]string, error) {
	entries, err := d.own.List(".")
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

func (d plainFolder) Open(name string, toWrite bool) (packFile, error) {
	flag := os.O_RDONLY
	if toWrite {
		flag = os.O_RDWR
	}
	return openPlain(d.own.OpenFile(name, flag, 0))
}

func (d plainFolder) Create(name string) (packFile, error) {
	return openPlain(d.own.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600))
}

func (d plainFolder) ReadFile(name string, max int64) ([]byte, error) {
	return d.own.ReadFile(name, max)
}

func (d plainFolder) WriteFile(name string, data []byte) error {
	return d.own.WriteFile(name, data, 0o600)
}

func (d plainFolder) Remove(name string) error { return d.own.Remove(name) }
func (d plainFolder) Sync() error              { return d.own.Sync(".") }
func (d plainFolder) Close() error             { return d.own.Close() }

// plainFile is a file of the operating system.
type plainFile struct{ *os.File }

// openPlain returns a nil interface on error, instead of an interface that holds a nil file.
func openPlain(file *os.File, err error) (packFile, error) {
	if err != nil {
		return nil, err
	}
	return plainFile{file}, nil
}

func (f plainFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Sync syncs the bytes and the size of the file.
func (f plainFile) Sync() error { return SyncData(f.File) }
