package localfiles

import (
	"io"
	"os"

	"company/internal/folder"
)

// packFolder is the folder of the packs. Tests put one in its place that loses bytes
// and names without a sync.
type packFolder interface {
	// List is the names of the files.
	List() ([]string, error)
	// Open opens a file to read, and to write where toWrite asks for it.
	Open(name string, toWrite bool) (packFile, error)
	// Create makes a file that is not there, to read and to write.
	Create(name string) (packFile, error)
	// ReadFile reads a whole file of at most max bytes.
	ReadFile(name string, max int64) ([]byte, error)
	// WriteFile writes a file whole or not at all. Its name outlasts a power cut once the
	// folder is synced.
	WriteFile(name string, data []byte) error
	Remove(name string) error
	// Sync makes the names outlast a power cut.
	Sync() error
	Close() error
}

// packFile is an open pack. Its methods may be called by many goroutines.
type packFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Size() (int64, error)
	Truncate(size int64) error
	// Sync makes the bytes outlast a power cut.
	Sync() error
}

// plainFolder is a folder of an office with packs.
type plainFolder struct{ own *folder.Folder }

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

// openPlain keeps a file that could not be opened from being one that is not nil.
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
