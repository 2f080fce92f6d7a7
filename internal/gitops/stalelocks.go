package gitops

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"
)

// lockPatience is how long a lock of git may stay the same while the store is opened. A living
// git can have one for longer only where it packs or changes very many references at once.
const lockPatience = 2 * time.Second

// removeStaleLocks removes the locks that a git left that was killed, or whose disk could not
// be written any more: each later git would be refused ("File exists"), and no answer of the
// president's would change that. A git of another process, or one that outlived its company,
// may have a lock still: one that changes meanwhile stays. (Ages would be told by a clock that
// people set.)
func (s *Store) removeStaleLocks() error {
	left, err := s.findLocks()
	if err != nil || len(left) == 0 {
		return err
	}
	time.Sleep(lockPatience)
	for name, was := range left {
		now, err := s.own.Lstat(name)
		if err == nil && os.SameFile(was, now) && was.ModTime().Equal(now.ModTime()) {
			err = s.own.Remove(name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return storeError("a lock that git has left cannot be removed", err)
		}
	}
	return nil
}

// findLocks lists the locks of git in all repositories of the store: beside their settings
// and packed references, and among their references.
func (s *Store) findLocks() (map[string]fs.FileInfo, error) {
	found := map[string]fs.FileInfo{}
	var folders []string
	for _, above := range []string{"", "seeds/", "runs/"} {
		entries, err := s.own.List(cmp.Or(strings.TrimSuffix(above, "/"), "."))
		if err != nil {
			return nil, storeError("the git store cannot be read", err)
		}
		for _, e := range entries {
			if e.IsDir() && strings.HasSuffix(e.Name(), ".git") {
				folders = append(folders, above+e.Name())
			}
		}
	}
	repos := len(folders)
	for at := 0; at < len(folders); at++ {
		entries, err := s.own.List(folders[at])
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, storeError("the git store cannot be read", err)
		}
		for _, e := range entries {
			name := folders[at] + "/" + e.Name()
			switch {
			case e.IsDir():
				if at >= repos || e.Name() == "refs" {
					folders = append(folders, name)
				}
			case strings.HasSuffix(name, ".lock"):
				if info, err := e.Info(); err == nil { // an error: it is gone
					found[name] = info
				}
			}
		}
	}
	return found, nil
}
