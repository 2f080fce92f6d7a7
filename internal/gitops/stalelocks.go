package gitops

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"
)

// lockPatience is how long the store waits at its opening for a lock to change. A running git holds a lock for longer
// only if it packs or changes very many references at once.
const lockPatience = 2 * time.Second

// removeStaleLocks removes locks that were left by a killed git or by a full disk. Otherwise each later git would
// fail ("File exists"), and no answer of the president could fix that. A git of another process, or one that outlived
// its company, may still hold a lock, so a lock that changes meanwhile is kept. Ages are not compared, because people
// can set the clock.
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
			return storeError("a leftover lock of git cannot be removed", err)
		}
	}
	return nil
}

// findLocks lists git's locks in all repositories of the store: beside their settings and packed references, and
// among their references.
func (s *Store) findLocks() (map[string]fs.FileInfo, error) {
	found := map[string]fs.FileInfo{}
	var folders []string
	for _, above := range []string{"", "seeds/", "runs/"} {
		entries, err := s.own.List(cmp.Or(strings.TrimSuffix(above, "/"), "."))
		if err != nil {
			return nil, storeError("the git store cannot be read", err)
		}
		for _, entry := range entries {
			if entry.IsDir() && strings.HasSuffix(entry.Name(), ".git") {
				folders = append(folders, above+entry.Name())
			}
		}
	}
	repos := len(folders)
	for index := 0; index < len(folders); index++ {
		entries, err := s.own.List(folders[index])
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, storeError("the git store cannot be read", err)
		}
		for _, entry := range entries {
			name := folders[index] + "/" + entry.Name()
			switch {
			case entry.IsDir():
				if index >= repos || entry.Name() == "refs" {
					folders = append(folders, name)
				}
			case strings.HasSuffix(name, ".lock"):
				if info, err := entry.Info(); err == nil { // an error means that it is gone
					found[name] = info
				}
			}
		}
	}
	return found, nil
}
