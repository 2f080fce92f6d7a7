package file

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncData makes the bytes of a file survive a power cut. It does not sync the times of the file,
// which are not needed after a restart.
func syncData(file *os.File) error {
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
