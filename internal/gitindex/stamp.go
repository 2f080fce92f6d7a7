package gitindex

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Stamp tells one content of a repository's index from another: git replaces the file
// with each change. The zero Stamp knows nothing, and equals none.
type Stamp struct {
	known   bool
	exists  bool
	dev     uint64
	inode   uint64
	size    int64
	written time.Time
	changed syscall.Timespec
}

// ReadStamp reads the stamp of the index that Tracked asks about. It is the zero Stamp
// where git alone knows the place of the index: in a linked worktree or a submodule.
func ReadStamp(dir string) Stamp {
	top, ok := findGitDir(dir)
	if !ok {
		return Stamp{}
	}
	info, err := os.Lstat(filepath.Join(top, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return Stamp{known: true}
	}
	if err != nil || !info.Mode().IsRegular() {
		return Stamp{}
	}
	about, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Stamp{}
	}
	return Stamp{known: true, exists: true, dev: uint64(about.Dev), inode: about.Ino, size: info.Size(), written: info.ModTime(), changed: changeTime(about)}
}

// IsSameAs reports whether the index has not changed from one stamp to the other.
func (s Stamp) IsSameAs(other Stamp) bool { return s.known && s == other }

// ExcludeFile is the file of the checkout around dir in which a person's own patterns
// stand that git ignores.
func ExcludeFile(ctx context.Context, dir string) (string, error) {
	if top, ok := findGitDir(dir); ok {
		return filepath.Join(top, "info", "exclude"), nil
	}
	out, err := Ask(ctx, dir, "rev-parse", "--path-format=absolute", "--git-path", "info/exclude")
	return strings.TrimSuffix(out, "\n"), err
}

// findGitDir finds the git folder of the repository that dir lies in, where it is a plain
// folder that git would take for one, and that shares nothing with another.
func findGitDir(dir string) (string, bool) {
	for {
		at := filepath.Join(dir, ".git")
		info, err := os.Lstat(at)
		switch {
		case err == nil && info.IsDir():
			return at, isThere(at, "HEAD") && isThere(at, "objects") && isThere(at, "refs") && !isThere(at, "commondir")
		case !errors.Is(err, fs.ErrNotExist), dir == filepath.Dir(dir):
			return "", false
		}
		dir = filepath.Dir(dir)
	}
}

func isThere(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return !errors.Is(err, fs.ErrNotExist)
}
