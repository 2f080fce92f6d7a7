package localfiles

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"company/internal/company"
	"company/internal/folder"

	"golang.org/x/sys/unix"
)

// Lock keeps other processes off the folder of a bus. The kernel lets go of it
// when the process dies, however it dies.
type Lock struct{ file *os.File }

// Claim opens the folder of a bus, which it makes at dir where own is nil, and locks it.
// Other accounts may not look into it. EHeld names the process that has the lock.
func Claim(own *folder.Folder, dir string) (*folder.Folder, *Lock, error) {
	if own == nil {
		full, err := filepath.Abs(dir)
		if err == nil {
			own, err = folder.Make(full)
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

// LockFolder takes the lock of a bus's folder. EHeld names the process that has it.
func LockFolder(own *folder.Folder) (*Lock, error) {
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
			Fix("talk to that process instead, or stop it")
	}
	// The name is for people; the lock itself does not depend on it.
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

// Release gives the folder up.
func (l *Lock) Release() error { return folder.Unlock(l.file) }

// OpenError is the error of a bus whose folder cannot be opened.
func OpenError(dir string, err error) error {
	var own *company.Error
	if errors.As(err, &own) && (own.Code == company.EConfig || own.Code == company.ELedger) {
		return err // it says more than we could
	}
	return company.E(company.EBus, "the bus in "+dir+" cannot be opened").
		Fix("check that the directory is writable and its disk not full, then start again").Wrap(err)
}
