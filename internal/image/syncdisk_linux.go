package image

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncDisk brings to the disk all that was written to the one that a folder lies on.
func syncDisk(dir string) error {
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
