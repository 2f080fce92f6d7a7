package file

import (
	"io"
	"os"

	"company/internal/lib/safedir"
)

// disk is the folder of the files. Tests replace it with one that loses unsynced data.
type disk interface {
	// List returns the names of the files.
	List() ([]string, error)
	// Open opens a file for reading and writing.
	Open(name string) (diskFile, error)
	// Create creates a new file. It fails if the file exists.
	Create(name string) (diskFile, error)
	Remove(name string) error
	// Sync makes the names survive a power cut.
	Sync() error
}

// diskFile is an open file. Its methods are safe for concurrent use.
type diskFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Size() (int64, error)
	Truncate(size int64) error
	// Sync makes the bytes survive a power cut.
	Sync() error
}

// folderDisk is a disk in a folder of the file system.
type folderDisk struct{ own *safedir.Folder }

func (d folderDisk) List() ([]string, error) {
	entries, err := d.own.List(".")
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

func (d folderDisk) Open(name string) (diskFile, error) {
	file, err := d.own.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return plainFile{file}, nil
}

func (d folderDisk) Create(name string) (diskFile, error) {
	file, err := d.own.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return plainFile{file}, nil
}

func (d folderDisk) Remove(name string) error { return d.own.Remove(name) }
func (d folderDisk) Sync() error              { return d.own.Sync(".") }

// plainFile is a file of the operating system.
type plainFile struct{ *os.File }

func (f plainFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Sync syncs the bytes and the size of the file.
func (f plainFile) Sync() error { return syncData(f.File) }
