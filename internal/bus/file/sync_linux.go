package file

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncData leaves out the times of the file, which no start needs.
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
