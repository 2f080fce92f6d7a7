package file

import (
	"errors"
	"io"
	"os"

	"company/internal/bus/localfiles"
	"company/internal/folder"
)

// disk is the folder of the segments. Tests put one in its place that loses what
// was not synced.
type disk interface {
	// List is the names of the files.
	List() ([]string, error)
	// Open opens a file to read and to write.
	Open(name string) (diskFile, error)
	// Create makes a file that is not there.
	Create(name string) (diskFile, error)
	Rename(from, to string) error
	Remove(name string) error
	// Sync makes the names outlast a power cut.
	Sync() error
}

// diskFile is an open file. Its methods may be called by many goroutines.
type diskFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Size() (int64, error)
	Truncate(size int64) error
	// Sync makes the bytes outlast a power cut.
	Sync() error
}

// folderDisk is a folder of an office as a disk.
type folderDisk struct{ own *folder.Folder }

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

func (d folderDisk) Rename(from, to string) error { return d.own.Rename(from, to) }
func (d folderDisk) Remove(name string) error     { return d.own.Remove(name) }
func (d folderDisk) Sync() error                  { return d.own.Sync(".") }

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
func (f plainFile) Sync() error { return localfiles.SyncData(f.File) }

// readAll fills buf from an offset: a file that is shorter is io.ErrUnexpectedEOF.
func readAll(file io.ReaderAt, buf []byte, offset int64) error {
	n, err := file.ReadAt(buf, offset)
	if n == len(buf) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
