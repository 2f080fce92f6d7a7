package localfiles

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"company/internal/company"
	"company/internal/lib/safedir"

	"golang.org/x/sys/unix"
)

// Lock keeps other processes off the folder of a bus. The kernel releases it when the process ends in
// any way.
type Lock struct{ file *os.File }

// Claim opens the folder of a bus and locks it. If own is nil, it creates the folder at dir. The
// folder gets mode 0700. EHeld names the process that has the lock.
func Claim(own *safedir.Folder, dir string) (*safedir.Folder, *Lock, error) {
	if own == nil {
		full, err := filepath.Abs(dir)
		if err == nil {
			own, err = safedir.Make(full)
		}
		if err != nil {
			return nil, nil, OpenError(dir, err)
		}
	}
	if err := own.Chmod(0o700); err != nil {
		return nil, nil, OpenError(own.Path(), err)
	}
	lock, err := LockFolder(own)
	return own, lock, err
}

// LockFolder locks the folder of a bus. EHeld names the process that has the lock.
func LockFolder(own *safedir.Folder) (*Lock, error) {
	const name = "lock"
	dir, path := own.Path(), own.Join(name)
	file, err := own.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, OpenError(dir, err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		holder, readErr := own.ReadFile(name, 0)
		_ = file.Close()
		if err != unix.EWOULDBLOCK {
			return nil, OpenError(dir, fmt.Errorf("lock %s: %w", path, err))
		}
		who := "another process"
		if pid := strings.TrimSpace(string(holder)); readErr == nil && pid != "" {
			who = "process " + pid
		}
		return nil, company.E(company.EHeld, "the bus in "+dir+" is held by "+who).
			Because("two processes on one store would lose records").
			Fix("use that process, or stop it")
	}
	// The process id is for people; the lock itself does not depend on it.
	if err := file.Truncate(0); err != nil {
		_ = file.Close()
		return nil, OpenError(dir, err)
	}
	if _, err := file.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0); err != nil {
		_ = file.Close()
		return nil, OpenError(dir, err)
	}
	return &Lock{file}, nil
}

// Release unlocks the folder.
func (l *Lock) Release() error { return safedir.Unlock(l.file) }

// OpenError returns the error for a bus whose folder cannot be opened.
func OpenError(dir string, err error) error {
	var own *company.Error
	if errors.As(err, &own) && (own.Code == company.EConfig || own.Code == company.ELedger) {
		return err // it is more specific
	}
	return company.E(company.EBus, "cannot open the bus in "+dir).
		Fix("check that the directory is writable and the disk is not full, then start again").Wrap(err)
}
