// Package folder holds a folder of an office open. A checkout may bring along
// links, second names of files and whole repositories in places that an office
// uses; a write by path lands where they point. A Folder is found once and kept
// by its descriptor. It promises that nothing outside of it is read, written or
// removed through it, whatever lies in it or is put there later: no link is
// followed, at no level; a file that has a second name is refused, and so is a
// folder below it that is another user's, or a git repository other than the
// marker of MarkForGit. It does not judge
// what the files say.
package folder

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
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"company/internal/company"
)

// Folder is a folder that is held open. Names are relative to it, with slashes
// between their parts. Its methods may be called by many goroutines.
type Folder struct {
	root *os.Root
	path string
}

// Open opens the folder at an absolute path. Links in the path are the
// caller's own; the folder itself may be none.
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
	return &Folder{root: root, path: dir}, nil
}

// Make is Open, and makes the folder, and those above it, where it is missing.
func Make(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return Open(dir)
}

// Path is where the folder was found: for people, and for programs that take
// nothing but a path. See Still.
func (f *Folder) Path() string { return f.path }

// Join is the path of a name in the folder, for people.
func (f *Folder) Join(name string) string {
	if f == nil {
		return name
	}
	return filepath.Join(f.path, filepath.FromSlash(name))
}

// Close lets go of the folder.
func (f *Folder) Close() error {
	if f == nil {
		return nil
	}
	return f.root.Close()
}

// Still refuses when the path leads to another folder than this one by now.
// Programs that are given the path are asked for it right before they start.
func (f *Folder) Still() error {
	there, err := os.Lstat(f.path)
	if err != nil {
		return refusalError(f.path, "it is gone", err)
	}
	if here, err := f.root.Stat("."); err != nil || !os.SameFile(here, there) {
		return refusalError(f.path, "another folder has taken its place", err)
	}
	return nil
}

// Sub opens a folder in this one.
func (f *Folder) Sub(name string) (*Folder, error) {
	if f == nil {
		return nil, fs.ErrNotExist
	}
	root, err := f.openBelow(name)
	if err != nil {
		return nil, err
	}
	return &Folder{root: root, path: f.Join(name)}, nil
}

// Mkdir makes a folder, and those above it, where it is missing.
func (f *Folder) Mkdir(name string) error {
	made, err := f.MakeSub(name)
	if err != nil {
		return err
	}
	return made.Close()
}

// MakeSub is Sub, and makes the folder, and those above it, where it is missing.
func (f *Folder) MakeSub(name string) (*Folder, error) {
	parts, err := splitName(name)
	if err != nil {
		return nil, err
	}
	at, err := f.root.OpenRoot(".")
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
	return &Folder{root: at, path: dir}, nil
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

// List is what a folder in this one holds, by name. "." is this one itself.
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
	return f.root.Rename(from, to)
}

// MoveTo moves a file of this folder into another one of the same disk. Both names have
// one part.
func (f *Folder) MoveTo(to *Folder, from, name string) error {
	for _, n := range []string{from, name} {
		if parts, err := splitName(n); err != nil || len(parts) != 1 {
			return fmt.Errorf("%q has not one part: %w", n, fs.ErrInvalid)
		}
	}
	here, err := f.root.Open(".")
	if err != nil {
		return err
	}
	defer here.Close()
	there, err := to.root.Open(".")
	if err != nil {
		return err
	}
	defer there.Close()
	if err := unix.Renameat(int(here.Fd()), from, int(there.Fd()), name); err != nil {
		return &os.LinkError{Op: "rename", Old: f.Join(from), New: to.Join(name), Err: err}
	}
	return nil
}

// Link gives a plain file of this folder a second name in it. Both are refused
// by what reads and writes here from then on; it is for files that are neither.
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
		return errors.Join(f.root.Link(from, to), dir.Close())
	})
}

// Remove removes a file, a link itself, or an empty folder.
func (f *Folder) Remove(name string) error {
	if f == nil {
		return fs.ErrNotExist
	}
	return f.withParent(name, func(dir *os.Root, base string) error { return dir.Remove(base) })
}

// RemoveAll removes a name with all below it. Links in there are removed, and
// what they point at is not. That there is nothing is fine.
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

// Sync makes the names in a folder outlast a power cut.
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

// Lock waits for the folder itself to be this caller's alone, among all that
// lock it: other processes, and other Folders of this one. The returned
// function lets go of it.
func (f *Folder) Lock() (func(), error) {
	dir, err := f.root.Open(".")
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

// LockBefore is Lock that waits until ctx ends, and no longer.
func (f *Folder) LockBefore(ctx context.Context) (func(), error) {
	dir, err := f.root.Open(".")
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

// Unlock gives up the flock of a file and closes it. To close it alone is not enough:
// a child process that is being started has a copy of the open file until it runs
// its own program, and the lock lasts as long as the last copy.
func Unlock(file *os.File) error {
	return errors.Join(syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close())
}

// Stat tells of the folder itself.
func (f *Folder) Stat() (fs.FileInfo, error) { return f.root.Stat(".") }

// Chmod sets the permissions of the folder itself.
func (f *Folder) Chmod(perm fs.FileMode) error { return f.root.Chmod(".", perm) }

// Usage is how many bytes the files in a folder hold that are nowhere else. ok
// says that it came to the end before ctx did. What cannot be read counts
// nothing.
func (f *Folder) Usage(ctx context.Context, name string) (bytes int64, ok bool) {
	if f == nil {
		return 0, true
	}
	root, err := f.openBelow(name)
	if err != nil {
		return 0, errors.Is(err, fs.ErrNotExist)
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(_ string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		if info, err := e.Info(); err == nil && LinkCount(info) == 1 {
			bytes += info.Size()
		}
		return nil
	})
	return bytes, err == nil
}

// Plain refuses a folder that holds, at any level, anything but folders and
// plain files with one name. It is for programs that open what they find there
// by path, and are asked before they start.
func (f *Folder) Plain() error {
	return fs.WalkDir(f.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == gitName {
			return refusalError(f.Join(path.Dir(name)), "it is a git repository", nil)
		}
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return checkPlainFile(info, f.Join(name))
	})
}

// withParent calls do with the folder that holds a name, and the last part of it.
func (f *Folder) withParent(name string, do func(dir *os.Root, base string) error) error {
	parts, err := splitName(name)
	if err != nil {
		return err
	}
	if len(parts) == 0 {
		return fmt.Errorf("%q names the folder itself: %w", name, fs.ErrInvalid)
	}
	if len(parts) == 1 {
		return do(f.root, parts[0])
	}
	dir, err := f.openBelow(path.Dir(path.Clean(name)))
	if err != nil {
		return err
	}
	return errors.Join(do(dir, parts[len(parts)-1]), dir.Close())
}

// openBelow opens a folder below this one, step by step.
func (f *Folder) openBelow(name string) (*os.Root, error) {
	parts, err := splitName(name)
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		return f.root.OpenRoot(".")
	}
	at, dir := f.root, f.path
	for _, part := range parts {
		dir = filepath.Join(dir, part)
		next, err := openSubfolder(at, part, dir)
		if at != f.root {
			_ = at.Close()
		}
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// openSubfolder opens a folder by its name in another. A link put there between the
// look and the step leads to another file than the one that was looked at.
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
	if _, err := root.Lstat(gitName); err == nil && !isMarked(root) {
		_ = root.Close()
		return nil, refusalError(shown, "it is a git repository", nil)
	}
	return root, nil
}

// refusalError is the error of what an office does not touch.
func refusalError(shown, why string, err error) error {
	e := company.E(company.EConfig, "a file of the office is refused: "+shown).Because(why).
		Fix("look where it comes from, and remove it; the office's own files and folders are plain ones")
	if err != nil {
		e = e.Wrap(err)
	}
	return e
}

// splitName is the parts of a name; none for the folder itself.
func splitName(name string) ([]string, error) {
	clean := path.Clean(name)
	if clean == "." {
		return nil, nil
	}
	if !filepath.IsLocal(clean) || strings.ContainsRune(clean, 0) {
		return nil, fmt.Errorf("%q is no name in a folder: %w", name, fs.ErrInvalid)
	}
	return strings.Split(clean, "/"), nil
}
