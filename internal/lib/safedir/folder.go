// Package safedir provides safe access to the folders of an office. A checkout may contain symbolic links, hard links
// and whole repositories in places that an office uses, and a write by path goes where they point. A Folder is opened
// once and then used through its descriptor. No file outside of the folder is read, written or removed through it,
// even if its contents change later. It never follows a symbolic link, at any level. It refuses files that have a
// second hard link, and folders below it that belong to another user. It also refuses git repositories. It does not
// check the contents of files.
package safedir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"company/internal/company"
)

const gitName = ".git"

// Folder is an open folder. Names are relative to it, with slashes between their parts. Its methods are safe for
// concurrent use.
type Folder struct {
	path string

	mu     sync.Mutex
	dir    *os.Root
	remake func() (*Folder, error)
}

// Open opens the folder at an absolute path. It follows links in the path, but refuses a folder that is itself a link.
func Open(dir string) (*Folder, error) {
	before, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if before.Mode()&fs.ModeSymlink != 0 {
		return nil, refusalError(dir, "it is a symbolic link", nil)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if after, err := root.Stat("."); err != nil || !os.SameFile(before, after) {
		_ = root.Close()
		return nil, refusalError(dir, "it was replaced while it was opened", err)
	}
	return &Folder{dir: root, path: dir}, nil
}

// Make is like Open, but creates the folder and its parents if they are missing.
func Make(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return Open(dir)
}

// Path returns the path at which the folder was opened. It is for messages, and for programs that only take a path.
// See Still.
func (f *Folder) Path() string { return f.path }

// Join returns the path of a name in the folder, for messages.
func (f *Folder) Join(name string) string {
	if f == nil {
		return name
	}
	return filepath.Join(f.path, filepath.FromSlash(name))
}

// Close closes the folder.
func (f *Folder) Close() error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dir.Close()
}

// KeepThere makes the folder usable after people have deleted it: the next use then calls remake, which creates it
// again. Call it before the folder is shared.
func (f *Folder) KeepThere(remake func() (*Folder, error)) { f.remake = remake }

// ensureRoot returns the open folder. If it was deleted, it is created again first, where KeepThere asks for that.
func (f *Folder) ensureRoot() *os.Root {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.remake == nil {
		return f.dir
	}
	if info, err := f.dir.Stat("."); err != nil || LinkCount(info) > 0 {
		return f.dir
	}
	made, err := f.remake()
	if err != nil {
		return f.dir // the caller's operation fails, because the folder is gone
	}
	f.dir = made.dir // others may still use the old one; the garbage collector closes it
	return f.dir
}

// Still returns an error if the path now leads to another folder. Call it right before starting a program that is
// given the path.
func (f *Folder) Still() error {
	there, err := os.Lstat(f.path)
	if err != nil {
		return refusalError(f.path, "it is gone", err)
	}
	if here, err := f.ensureRoot().Stat("."); err != nil || !os.SameFile(here, there) {
		return refusalError(f.path, "another folder has replaced it", err)
	}
	return nil
}

// Sub opens a folder below this one.
func (f *Folder) Sub(name string) (*Folder, error) {
	if f == nil {
		return nil, fs.ErrNotExist
	}
	root, err := f.openBelow(name)
	if err != nil {
		return nil, err
	}
	return &Folder{dir: root, path: f.Join(name)}, nil
}

// Mkdir creates a folder and its parents if they are missing.
func (f *Folder) Mkdir(name string) error {
	made, err := f.MakeSub(name)
	if err != nil {
		return err
	}
	return made.Close()
}

// MakeSub is like Sub, but creates the folder and its parents if they are missing.
func (f *Folder) MakeSub(name string) (*Folder, error) {
	parts, err := splitName(name)
	if err != nil {
		return nil, err
	}
	at, err := f.ensureRoot().OpenRoot(".")
	if err != nil {
		return nil, err
	}
	dir := f.path
	for _, part := range parts {
		dir = filepath.Join(dir, part)
		if err := at.Mkdir(part, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, errors.Join(err, at.Close())
		}
		next, err := openSubfolder(at, part, dir)
		_ = at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return &Folder{dir: at, path: dir}, nil
}

// Lstat describes a name without following a link.
func (f *Folder) Lstat(name string) (fs.FileInfo, error) {
	if f == nil {
		return nil, fs.ErrNotExist
	}
	var info fs.FileInfo
	err := f.withParent(name, func(dir *os.Root, base string) (err error) {
		info, err = dir.Lstat(base)
		return err
	})
	return info, err
}

// List returns the entries of a folder below this one, sorted by name. "." lists this folder.
func (f *Folder) List(name string) ([]fs.DirEntry, error) {
	if f == nil {
		return nil, fs.ErrNotExist
	}
	root, err := f.openBelow(name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// Rename moves a file or a folder within this one.
func (f *Folder) Rename(from, to string) error {
	for _, name := range []string{from, to} {
		if dir := path.Dir(name); dir != "." {
			sub, err := f.openBelow(dir)
			if err != nil {
				return err
			}
			_ = sub.Close()
		}
	}
	return f.ensureRoot().Rename(from, to)
}

// MoveTo moves a file of this folder into another one on the same disk. Neither name may contain a slash.
func (f *Folder) MoveTo(to *Folder, from, name string) error {
	for _, n := range []string{from, name} {
		if parts, err := splitName(n); err != nil || len(parts) != 1 {
			return fmt.Errorf("%q has not one part: %w", n, fs.ErrInvalid)
		}
	}
	here, err := f.ensureRoot().Open(".")
	if err != nil {
		return err
	}
	defer here.Close()
	there, err := to.ensureRoot().Open(".")
	if err != nil {
		return err
	}
	defer there.Close()
	if err := unix.Renameat(int(here.Fd()), from, int(there.Fd()), name); err != nil {
		return &os.LinkError{Op: "rename", Old: f.Join(from), New: to.Join(name), Err: err}
	}
	return nil
}

// Link creates a hard link to a plain file within the folder. Other methods refuse both names from then on, so use it
// only for files that are not read or written here.
func (f *Folder) Link(from, to string) error {
	return f.withParent(from, func(fromDir *os.Root, fromBase string) error {
		info, err := fromDir.Lstat(fromBase)
		if err == nil && !info.Mode().IsRegular() {
			err = checkPlainFile(info, f.Join(from))
		}
		if err != nil {
			return err
		}
		dir, err := f.openBelow(path.Dir(path.Clean(to)))
		if err != nil {
			return err
		}
		return errors.Join(f.ensureRoot().Link(from, to), dir.Close())
	})
}

// Remove removes a file, a link itself or an empty folder.
func (f *Folder) Remove(name string) error {
	if f == nil {
		return fs.ErrNotExist
	}
	return f.withParent(name, func(dir *os.Root, base string) error { return dir.Remove(base) })
}

// RemoveAll removes a name with everything below it. It removes links there, but not their targets. A missing name is
// no error.
func (f *Folder) RemoveAll(name string) error {
	if f == nil {
		return nil
	}
	err := f.withParent(name, func(dir *os.Root, base string) error { return dir.RemoveAll(base) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Sync makes the names in a folder survive a power cut.
func (f *Folder) Sync(name string) error {
	root, err := f.openBelow(name)
	if err != nil {
		return err
	}
	defer root.Close()
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Lock waits for an exclusive lock on the folder, against other processes and other open Folders for it. The returned
// function releases the lock.
func (f *Folder) Lock() (func(), error) {
	dir, err := f.ensureRoot().Open(".")
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX)
		if err == nil {
			return func() { _ = Unlock(dir) }, nil
		}
		if !errors.Is(err, syscall.EINTR) {
			_ = dir.Close()
			return nil, err
		}
	}
}

// LockBefore is like Lock, but stops waiting when ctx ends.
func (f *Folder) LockBefore(ctx context.Context) (func(), error) {
	dir, err := f.ensureRoot().Open(".")
	if err != nil {
		return nil, err
	}
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = Unlock(dir) }, nil
		}
		if !errors.Is(err, syscall.EINTR) && !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.Join(err, dir.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), dir.Close())
		case <-again.C:
		}
	}
}

// Unlock releases the flock of a file and closes it. Closing alone is not enough: a child process has a copy of the
// open file until it executes its own program, and the lock lasts as long as any copy.
func Unlock(file *os.File) error {
	return errors.Join(syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close())
}

// Stat describes the folder itself.
func (f *Folder) Stat() (fs.FileInfo, error) { return f.ensureRoot().Stat(".") }

// Chmod sets the permissions of the folder itself.
func (f *Folder) Chmod(perm fs.FileMode) error { return f.ensureRoot().Chmod(".", perm) }

// Usage returns the size in bytes of the files in a folder that have no other hard link. ok is false if ctx ended
// first. Unreadable files count as 0.
func (f *Folder) Usage(ctx context.Context, name string) (bytes int64, ok bool) {
	if f == nil {
		return 0, true
	}
	root, err := f.openBelow(name)
	if err != nil {
		return 0, errors.Is(err, fs.ErrNotExist)
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(_ string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || !entry.Type().IsRegular() {
			return nil
		}
		if info, err := entry.Info(); err == nil && LinkCount(info) == 1 {
			bytes += info.Size()
		}
		return nil
	})
	return bytes, err == nil
}

// Plain returns an error if the folder contains, at any level, anything but folders and plain files without other hard
// links. Call it before starting a program that opens files there by path.
func (f *Folder) Plain() error {
	return fs.WalkDir(f.ensureRoot().FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == gitName {
			return refusalError(f.Join(path.Dir(name)), "it is a git repository", nil)
		}
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return checkPlainFile(info, f.Join(name))
	})
}

// withParent calls do with the folder that contains a name, and with the last part of the name.
func (f *Folder) withParent(name string, do func(dir *os.Root, base string) error) error {
	parts, err := splitName(name)
	if err != nil {
		return err
	}
	if len(parts) == 0 {
		return fmt.Errorf("%q names the folder itself: %w", name, fs.ErrInvalid)
	}
	if len(parts) == 1 {
		return do(f.ensureRoot(), parts[0])
	}
	dir, err := f.openBelow(path.Dir(path.Clean(name)))
	if err != nil {
		return err
	}
	return errors.Join(do(dir, parts[len(parts)-1]), dir.Close())
}

// openBelow opens a folder below this one, one level at a time.
func (f *Folder) openBelow(name string) (*os.Root, error) {
	parts, err := splitName(name)
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		return f.ensureRoot().OpenRoot(".")
	}
	first, dir := f.ensureRoot(), f.path
	at := first
	for _, part := range parts {
		dir = filepath.Join(dir, part)
		next, err := openSubfolder(at, part, dir)
		if at != first {
			_ = at.Close()
		}
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// openSubfolder opens a folder by its name in another. If a link replaces it between Lstat and OpenRoot, the
// comparison of the two files fails.
func openSubfolder(at *os.Root, name, shown string) (*os.Root, error) {
	before, err := at.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case before.Mode()&fs.ModeSymlink != 0:
		return nil, refusalError(shown, "it is a symbolic link", nil)
	case !before.IsDir():
		return nil, refusalError(shown, "it is not a folder", syscall.ENOTDIR)
	case !OwnedByUs(before):
		return nil, refusalError(shown, "it belongs to another user", nil)
	}
	root, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	after, err := root.Stat(".")
	if err != nil || !os.SameFile(before, after) {
		_ = root.Close()
		return nil, refusalError(shown, "it was replaced while it was opened", err)
	}
	if _, err := root.Lstat(gitName); err == nil {
		_ = root.Close()
		return nil, refusalError(shown, "it is a git repository", nil)
	}
	return root, nil
}

// refusalError returns the error for a file or folder that an office refuses to use.
func refusalError(shown, reason string, err error) error {
	fault := company.E(company.EConfig, "a file of the office is refused: "+shown).Because(reason).
		Fix("find out where it comes from, and remove it; the office only has plain files and folders")
	if err != nil {
		fault = fault.Wrap(err)
	}
	return fault
}

// splitName returns the parts of a name. It returns no parts for the folder itself.
func splitName(name string) ([]string, error) {
	clean := path.Clean(name)
	if clean == "." {
		return nil, nil
	}
	if !filepath.IsLocal(clean) || strings.ContainsRune(clean, 0) {
		return nil, fmt.Errorf("%q is not a name in a folder: %w", name, fs.ErrInvalid)
	}
	return strings.Split(clean, "/"), nil
}
