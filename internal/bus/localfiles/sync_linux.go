package localfiles

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// SyncData has the bytes of a file outlast a power cut. It leaves out the times of the
// file, which no start needs.
func SyncData(file *os.File) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var syncErr error
	err = conn.Control(func(fd uintptr) {
		for {
			if syncErr = unix.Fdatasync(int(fd)); !errors.Is(syncErr, unix.EINTR) {
				return
			}
		}
	})
	return errors.Join(err, syncErr)
}
