package nats

import (
	"fmt"
	"os"
	"strings"

	"company/internal/company"
	"company/internal/folder"

	"golang.org/x/sys/unix"
)

// dirLock keeps other processes off a directory. The kernel lets go of it
// when the process dies, however it dies.
type dirLock struct{ file *os.File }

func lockDir(own *folder.Folder) (*dirLock, error) {
	const name = "lock"
	dir, path := own.Path(), own.Join(name)
	file, err := own.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, openError(dir, err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		holder, readErr := own.ReadFile(name, 0)
		_ = file.Close()
		if err != unix.EWOULDBLOCK {
			return nil, openError(dir, fmt.Errorf("lock %s: %w", path, err))
		}
		who := "another process"
		if pid := strings.TrimSpace(string(holder)); readErr == nil && pid != "" {
			who = "process " + pid
		}
		return nil, company.E(company.EHeld, "the bus in "+dir+" is held by "+who).
			Because("two processes on one store would lose records").
			Fix("talk to that process instead, or stop it")
	}
	// The name is for people; the lock itself does not depend on it.
	if err := file.Truncate(0); err != nil {
		_ = file.Close()
		return nil, openError(dir, err)
	}
	if _, err := file.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0); err != nil {
		_ = file.Close()
		return nil, openError(dir, err)
	}
	return &dirLock{file}, nil
}

func (l *dirLock) releaseLock() error { return folder.Unlock(l.file) }
