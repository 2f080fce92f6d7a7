package safedir

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
)

// Open opens a file for reading.
func (f *Folder) Open(name string) (*os.File, error) {
	if f == nil {
		return nil, fs.ErrNotExist
	}
	return f.open(name, os.O_RDONLY, 0)
}

// OpenFile opens a file like os.OpenFile. os.O_TRUNC takes effect only after the checks that the file is plain and has
// no other hard link.
func (f *Folder) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return f.open(name, flag, perm)
}

// Append opens a file for appending, and creates it if it is missing.
func (f *Folder) Append(name string) (*os.File, error) {
	return f.open(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
}

// CreateTemp creates a file with a unique name that begins with prefix, opens it for reading and writing, and returns
// its name.
func (f *Folder) CreateTemp(prefix string) (*os.File, string, error) {
	for range 100 {
		name := prefix + randomHex()
		file, err := f.open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return file, name, err
		}
	}
	return nil, "", fmt.Errorf("no name for a file is free in %s: %w", f.path, fs.ErrExist)
}

// ReadFile reads a whole file. It returns an error if the file has more than max bytes. A max of 0 means no limit.
func (f *Folder) ReadFile(name string, max int64) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if max == 0 {
		return io.ReadAll(file)
	}
	text, err := io.ReadAll(io.LimitReader(file, max+1))
	if err == nil && int64(len(text)) > max {
		return nil, fmt.Errorf("%s has more than %d bytes", f.Join(name), max)
	}
	return text, err
}

// WriteFile writes a file completely or not at all, and makes it survive a power cut. It refuses to replace a symbolic
// link or a file with other hard links.
func (f *Folder) WriteFile(name string, data []byte, perm fs.FileMode) error {
	return f.WriteStream(name, perm, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// ReplaceFile is like WriteFile, but does not sync. After a kill the file is complete: the new one, the old one or
// none. A power cut soon after may truncate it. Use it for files that can be regenerated.
func (f *Folder) ReplaceFile(name string, data []byte, perm fs.FileMode) error {
	return f.putFile(name, perm, func(file *os.File) error {
		_, err := file.Write(data)
		return err
	})
}

// WriteStream is like WriteFile, with a function that writes the content.
func (f *Folder) WriteStream(name string, perm fs.FileMode, write func(io.Writer) error) error {
	return f.putFile(name, perm, func(file *os.File) error {
		return errors.Join(write(file), file.Sync())
	})
}

// putFile fills a file under a temporary name and renames it into place.
func (f *Folder) putFile(name string, perm fs.FileMode, fill func(*os.File) error) error {
	return f.withParent(name, func(dir *os.Root, base string) (err error) {
		if info, err := dir.Lstat(base); err == nil {
			if err := checkPlainFile(info, f.Join(name)); err != nil {
				return err
			}
		}
		tmp := unfinishedPrefix(base) + randomHex()
		file, err := dir.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if err != nil {
			return err
		}
		if err = errors.Join(file.Chmod(perm), fill(file), file.Close()); err == nil {
			err = dir.Rename(tmp, base)
		}
		if err != nil {
			_ = dir.Remove(tmp)
		}
		return err
	})
}

// Touch sets the modification time of a file.
func (f *Folder) Touch(name string, at time.Time) error {
	return f.withParent(name, func(dir *os.Root, base string) error {
		info, err := dir.Lstat(base)
		if err != nil {
			return err
		}
		if err := checkPlainFile(info, f.Join(name)); err != nil {
			return err
		}
		return dir.Chtimes(base, at, at)
	})
}

// open opens a file, and checks that it is plain and has one hard link before any byte is written.
func (f *Folder) open(name string, flag int, perm fs.FileMode) (file *os.File, err error) {
	err = f.withParent(name, func(dir *os.Root, base string) error {
		if flag&os.O_CREATE != 0 {
			// With O_EXCL no link is followed. Without it, an existing file is opened below.
			if file, err = dir.OpenFile(base, flag|os.O_EXCL, perm); flag&os.O_EXCL != 0 || !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
		there, err := dir.Lstat(base)
		if err != nil {
			return err
		}
		if err := checkPlainFile(there, f.Join(name)); err != nil {
			return err
		}
		// Do not block on a named pipe that was put there meanwhile.
		file, err = dir.OpenFile(base, flag&^(os.O_CREATE|os.O_TRUNC)|syscall.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		here, err := file.Stat()
		if err == nil && !os.SameFile(here, there) {
			err = refusalError(f.Join(name), "it was replaced while it was opened", nil)
		}
		if err == nil {
			err = checkPlainFile(here, f.Join(name))
		}
		if err == nil && flag&(os.O_WRONLY|os.O_RDWR) != 0 {
			err = f.lookAgain(dir, base, name, file)
		}
		if err == nil && flag&os.O_TRUNC != 0 {
			err = file.Truncate(0)
		}
		if err != nil {
			_ = file.Close()
			file = nil
		}
		return err
	})
	return file, err
}

// lookAgain checks once more that a file opened for writing still is the file of that name, and has no other hard
// link. The kernel lowers the link count before it removes the name, so a link that is being removed may already be
// missing from the count. Renaming a file to itself changes no name, but waits for the folder's lock, and so for the
// end of such a removal.
func (f *Folder) lookAgain(dir *os.Root, base, name string, file *os.File) error {
	for range 2 {
		if err := dir.Rename(base, base); err != nil {
			return refusalError(f.Join(name), "it was replaced while it was opened", err)
		}
		there, err := dir.Lstat(base)
		if err != nil {
			return refusalError(f.Join(name), "it was replaced while it was opened", err)
		}
		here, err := file.Stat()
		if err != nil {
			return err
		}
		if !os.SameFile(here, there) {
			return refusalError(f.Join(name), "it was replaced while it was opened", nil)
		}
		if err := errors.Join(checkPlainFile(there, f.Join(name)), checkPlainFile(here, f.Join(name))); err != nil {
			return err
		}
	}
	return nil
}

// checkPlainFile accepts a regular file without other hard links.
func checkPlainFile(info fs.FileInfo, shown string) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return refusalError(shown, "it is a symbolic link", nil)
	case !info.Mode().IsRegular():
		return refusalError(shown, "it is not a plain file", nil)
	case LinkCount(info) > 1:
		return refusalError(shown, "it has a second name elsewhere (a hard link)", nil)
	}
	return nil
}

// unfinishedPrefix returns the prefix of the temporary names of a file.
func unfinishedPrefix(name string) string { return "." + name + "." }

// IsUnfinished reports whether an entry of a folder is a temporary file that a killed WriteFile of name left.
func IsUnfinished(entry, name string) bool {
	random, ok := strings.CutPrefix(entry, unfinishedPrefix(name))
	_, err := hex.DecodeString(random)
	return ok && err == nil && len(random) == len(randomHex())
}

func randomHex() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
