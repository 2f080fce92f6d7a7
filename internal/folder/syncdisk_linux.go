package folder

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// SyncDisk writes to the disk all that is pending for the file system that a folder lies on. For a tree
// of many files it is quicker than a sync of each.
func SyncDisk(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	var syncErr error
	err = conn.Control(func(fd uintptr) { syncErr = unix.Syncfs(int(fd)) })
	return errors.Join(err, syncErr, f.Close())
}
