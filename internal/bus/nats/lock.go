package nats

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"company/internal/company"

	"golang.org/x/sys/unix"
)

// dirLock keeps other processes off a directory. The kernel lets go of it
// when the process dies, however it dies.
type dirLock struct{ file *os.File }

func lockDir(dir string) (*dirLock, error) {
	path := filepath.Join(dir, "lock")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, openError(dir, err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		holder, readErr := os.ReadFile(path)
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

func (l *dirLock) release() error { return l.file.Close() }
