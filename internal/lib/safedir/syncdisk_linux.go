package safedir

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// SyncDisk writes all pending data of a folder's file system to disk. For a tree of many files this is faster than a
// sync of each file.
func SyncDisk(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	var syncErr error
	err = conn.Control(func(fd uintptr) { syncErr = unix.Syncfs(int(fd)) })
	return errors.Join(err, syncErr, file.Close())
}
