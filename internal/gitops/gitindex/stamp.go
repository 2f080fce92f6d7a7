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

// Stamp identifies a version of a repository's index. git replaces the file with each change. The zero Stamp is
// unknown and equals no other.
type Stamp struct {
	known   bool
	exists  bool
	dev     uint64
	inode   uint64
	size    int64
	written time.Time
	changed syscall.Timespec
}

// ReadStamp returns the stamp of the index that Tracked reads. It returns the zero Stamp for a linked worktree or a
// submodule, where only git knows the place of the index.
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
	return Stamp{known: true, exists: true, dev: uint64(about.Dev), inode: about.Ino, size: info.Size(),
		written: info.ModTime(), changed: changeTime(about)}
}

// IsSameAs reports whether the index is unchanged between two stamps.
func (s Stamp) IsSameAs(other Stamp) bool { return s.known && s == other }

// ExcludeFile returns the path of the file with a person's own ignore patterns, for the checkout around dir.
func ExcludeFile(ctx context.Context, dir string) (string, error) {
	if top, ok := findGitDir(dir); ok {
		return filepath.Join(top, "info", "exclude"), nil
	}
	out, err := Ask(ctx, dir, "rev-parse", "--path-format=absolute", "--git-path", "info/exclude")
	return strings.TrimSuffix(out, "\n"), err
}

// findGitDir finds the git folder of the repository around dir. It succeeds only for a plain folder that git accepts
// and that shares no data with another.
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
