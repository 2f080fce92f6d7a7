package office

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"company/internal/company"
	"company/internal/lib/retry"
	"company/internal/lib/safedir"
)

// lockName is the file in the state folder that the holder locks.
const lockName = "lock"

// Holder is the process that holds an office.
type Holder struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Started time.Time `json:"started"`
	Command string    `json:"command"`
	Socket  string    `json:"socket,omitempty"` // where it listens; empty if it does not listen
}

// Lock is the exclusive right of a process to work in an office. It ends with Release or when the process ends,
// however that happens.
type Lock struct {
	paths    Paths
	mu       sync.Mutex
	file     *os.File
	who      Holder
	beat     *heartbeat
	takeover *company.Takeover
}

// Takeover describes the holder from which KillSilentHolder took the lock. It is nil for a lock that was free.
func (l *Lock) Takeover() *company.Takeover { return l.takeover }

// TryLock takes the office's lock without waiting. If another process has it, lock is nil and held describes that
// process. held is a zero Holder if the process has not written its description yet. The office must have been opened
// before.
func TryLock(paths Paths) (lock *Lock, held *Holder, err error) {
	fail := func(err error) error {
		return company.E(company.EConfig, "cannot lock the office: "+paths.Lock()).Wrap(err).
			Fix(chooseFix(err, "check that you own the folder and that it is on a local disk"))
	}
	if err := paths.checkLocks(); err != nil {
		return nil, nil, err
	}
	state, err := paths.Folder(paths.State)
	if err != nil {
		return nil, nil, fail(err)
	}
	kept := false // by the heartbeat, which closes it
	defer func() {
		if !kept {
			_ = state.Close()
		}
	}()
	for tries := 0; ; tries++ {
		file, err := state.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, nil, fail(err)
		}
		err = lockExclusive(file)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			held := readHolder(file)
			_ = file.Close()
			if !held.isPassing() || tries == mostTries {
				return nil, held, nil
			}
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if err != nil {
			_ = file.Close()
			return nil, nil, fail(err)
		}
		// A lock on a file that was replaced at the path is worthless.
		mine, err1 := file.Stat()
		there, err2 := state.Lstat(lockName)
		if err1 == nil && err2 == nil && os.SameFile(mine, there) {
			host, _ := os.Hostname() // only for display
			l := &Lock{paths: paths, file: file,
				who: Holder{PID: os.Getpid(), Host: host, Started: time.Now().UTC(), Command: commandLine()}}
			l.beat = startHeartbeat(state)
			kept = true
			// On a full disk keep the lock without the description: cleanup and status are needed to free space.
			if err := l.writeHolder(); err != nil && !isFull(err) {
				l.beat.stop()
				_ = file.Close()
				return nil, nil, fail(err)
			}
			return l, nil, nil
		}
		_ = file.Close()
		if err := errors.Join(err1, err2); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, nil, fail(err)
		}
	}
}

// LastLocked returns the time when the lock was last taken or released. It returns the zero time if that never
// happened.
func LastLocked(p Paths) time.Time {
	state, err := p.Folder(p.State)
	if err != nil {
		return time.Time{}
	}
	defer state.Close()
	info, err := state.Lstat(lockName)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// FindHolder returns the process that holds the office, or nil. It takes no lock and creates no files. An office that
// does not exist has no holder. A holder that has not written its description yet has no fields.
func FindHolder(p Paths) *Holder {
	state, err := safedir.Open(p.State)
	if err != nil {
		return nil
	}
	defer state.Close()
	file, err := state.Open(lockName)
	if err != nil {
		return nil
	}
	defer file.Close() // also releases the lock, if it was taken
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return nil
		}
		return readHolder(file)
	}
}

// IsHeld reports whether a process holds the office.
func IsHeld(p Paths) bool { return FindHolder(p) != nil }

// mostTries limits how often a lock is retried whose file names no living process. A command that only reads may hold
// it for a moment (FindHolder), or a process has taken it and not yet written its description.
const mostTries = 20

// isPassing reports whether the lock file names no living process of this host.
func (h *Holder) isPassing() bool {
	if h.PID == 0 {
		return true
	}
	host, err := os.Hostname()
	return err == nil && h.Host == host && errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH)
}

func lockExclusive(file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// commandLine returns the command of this process on one line, cut to 200 characters.
func commandLine() string {
	s := []rune(strings.Join(strings.Fields(strings.Join(os.Args, " ")), " "))
	if len(s) > 200 {
		s = append(s[:197], []rune("...")...)
	}
	return string(s)
}

// holderBytes is the size of the lock file. It stays the same, so that a full disk has room for each description.
const holderBytes = 4096

// writeHolder writes the description of the holder into the file.
func (l *Lock) writeHolder() error {
	data, err := json.Marshal(l.who)
	if err != nil {
		return err
	}
	return l.writePadded(data)
}

func (l *Lock) writePadded(data []byte) error {
	padded := bytes.Repeat([]byte{' '}, max(holderBytes, len(data)+1))
	copy(padded, data)
	padded[len(padded)-1] = '\n'
	_, err := l.file.WriteAt(padded, 0)
	return err
}

// readHolder reads the holder's description from the file. It retries for a moment, because the holder may be about to
// write. It returns a zero Holder if that fails.
func readHolder(file *os.File) *Holder {
	var holder Holder
	for range 20 {
		data, err := io.ReadAll(io.NewSectionReader(file, 0, 64<<10))
		if err == nil && json.Unmarshal(data, &holder) == nil {
			return &holder
		}
		time.Sleep(5 * time.Millisecond)
	}
	return &Holder{}
}

// Holder returns the description of this process for others.
func (l *Lock) Holder() Holder {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.who
}

// Release releases the office. Close all files that were opened under the lock first. It may be called more than once.
func (l *Lock) Release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	l.beat.stop()
	// Keep the file: if it were removed, two processes could lock two different files.
	err := l.writePadded(nil)
	if isFull(err) {
		err = nil // it has no description then
	}
	err = errors.Join(err, safedir.Unlock(l.file))
	l.file = nil
	return err
}

// HeldError returns the error for an office that is held by a process which does not answer.
func HeldError(held *Holder) error {
	fault := company.E(company.EHeld, "the office is held by a process that does not answer")
	if held == nil || held.PID == 0 {
		return fault.Fix("wait for it to end, and try again")
	}
	return fault.Because(fmt.Sprintf("process %d on %s: %s", held.PID, held.Host, held.Command)).
		Fix(fmt.Sprintf("wait for it to end, or end it with kill %d, and try again", held.PID))
}

// AwaitHolder waits until another process takes the office, or returns after a moment if one has it already. It
// detects a holder that has ended again by the write to the lock file, and one from before the first look by its lock.
// If ctx ends first, it returns the cause.
func AwaitHolder(ctx context.Context, paths Paths) error {
	lock, _, err := TryLock(paths)
	switch {
	case err != nil:
		return err
	case lock == nil:
		return retry.Sleep(ctx, 100*time.Millisecond)
	}
	if err := lock.Release(); err != nil {
		return err
	}
	at := LastLocked(paths)
	return retry.Until(ctx, retry.Every(250*time.Millisecond),
		func() (bool, error) { return !LastLocked(paths).Equal(at) || IsHeld(paths), nil })
}
