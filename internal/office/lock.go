package office

import (
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
	"company/internal/folder"
	"company/internal/retry"
)

// lockName is the file in the state folder that the holder locks.
const lockName = "lock"

// Holder is the process that holds an office.
type Holder struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Started time.Time `json:"started"`
	Command string    `json:"command"`
	Socket  string    `json:"socket,omitempty"` // where it answers; empty while it does not listen
}

// Lock is the right to be the one process of an office. It ends with Release
// or with the process, however that dies.
type Lock struct {
	paths Paths
	mu    sync.Mutex
	file  *os.File
	who   Holder
}

// TryLock takes the office's lock. When another process has it, lock is nil and
// held names it; held is the zero Holder when that process has not written its
// name yet. The office must have been opened.
func TryLock(p Paths) (lock *Lock, held *Holder, err error) {
	fail := func(err error) error {
		return company.E(company.EConfig, "the office cannot be locked: "+p.Lock()).Wrap(err).Fix("see that the folder is yours and on a local disk")
	}
	state, err := p.Folder(p.State)
	if err != nil {
		return nil, nil, fail(err)
	}
	defer state.Close()
	for tries := 0; ; tries++ {
		f, err := state.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, nil, fail(err)
		}
		err = lockExclusive(f)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			held := readHolder(f)
			_ = f.Close()
			if !held.isPassing() || tries == mostTries {
				return nil, held, nil
			}
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if err != nil {
			_ = f.Close()
			return nil, nil, fail(err)
		}
		// A lock on a file that is no longer the one at the path locks nothing.
		mine, err1 := f.Stat()
		there, err2 := state.Lstat(lockName)
		if err1 == nil && err2 == nil && os.SameFile(mine, there) {
			host, _ := os.Hostname() // only shown
			l := &Lock{paths: p, file: f, who: Holder{PID: os.Getpid(), Host: host, Started: time.Now().UTC(), Command: commandLine()}}
			if err := l.writeHolder(); err != nil {
				_ = f.Close()
				return nil, nil, fail(err)
			}
			return l, nil, nil
		}
		_ = f.Close()
		if err := errors.Join(err1, err2); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, nil, fail(err)
		}
	}
}

// LockPatience is how long a command waits for one that only looks.
const LockPatience = 5 * time.Second

// TakeLock is TryLock that waits, up to patience, for a holder without a socket: a command
// that only looks, as company watch and company feed --follow do again and again, has the
// office for a moment. A holder with a socket is given at once.
func TakeLock(ctx context.Context, p Paths, patience time.Duration) (lock *Lock, held *Holder, err error) {
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		lock, held, err = TryLock(p)
		if lock != nil || err != nil || held.Socket != "" {
			return lock, held, err
		}
		if retry.Sleep(limit, 50*time.Millisecond) != nil {
			return nil, held, context.Cause(ctx) // nil where the patience alone is over
		}
	}
}

// LastLocked is when the lock was last taken or given back; zero: never.
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

// FindHolder is the process that has the office, or nil. It takes and makes
// nothing: an office that is not there has no holder. A holder that has not
// written its name yet has no fields.
func FindHolder(p Paths) *Holder {
	state, err := p.Folder(p.State)
	if err != nil {
		return nil
	}
	defer state.Close()
	f, err := state.Open(lockName)
	if err != nil {
		return nil
	}
	defer f.Close() // which gives the lock back, had we got it
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return nil
		}
		return readHolder(f)
	}
}

// IsHeld reports whether a process has the office.
func IsHeld(p Paths) bool { return FindHolder(p) != nil }

// IsHeldElsewhere reports whether another process has the office.
func IsHeldElsewhere(p Paths) bool {
	h := FindHolder(p)
	if h == nil {
		return false
	}
	host, err := os.Hostname()
	return err != nil || h.PID != os.Getpid() || h.Host != host
}

// mostTries is how often a lock is asked for again whose file names no living
// process: a command that only looks has it for a moment (FindHolder), or a process
// has taken it and not yet written its name.
const mostTries = 20

// isPassing says whether a lock is held, as far as its file tells, by no process of
// this host that lives.
func (h *Holder) isPassing() bool {
	if h.PID == 0 {
		return true
	}
	host, err := os.Hostname()
	return err == nil && h.Host == host && errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH)
}

func lockExclusive(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// commandLine is this process's command, cut to what fits a line.
func commandLine() string {
	s := []rune(strings.Join(strings.Fields(strings.Join(os.Args, " ")), " "))
	if len(s) > 200 {
		s = append(s[:197], []rune("...")...)
	}
	return string(s)
}

// writeHolder writes the holder into the file.
func (l *Lock) writeHolder() error {
	data, err := json.Marshal(l.who)
	if err != nil {
		return err
	}
	// A reader between these two steps sees nothing, and looks again.
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err = l.file.WriteAt(append(data, '\n'), 0)
	return err
}

// readHolder reads the holder's signature in the file. The holder may be about
// to write, so it looks a few times.
func readHolder(f *os.File) *Holder {
	var h Holder
	for range 20 {
		data, err := io.ReadAll(io.NewSectionReader(f, 0, 64<<10))
		if err == nil && json.Unmarshal(data, &h) == nil {
			return &h
		}
		time.Sleep(5 * time.Millisecond)
	}
	return &Holder{}
}

// Holder is our signature for others.
func (l *Lock) Holder() Holder {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.who
}

// Release gives the office up. Close everything that was opened under the lock
// before. It may be called more than once.
func (l *Lock) Release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	// The file stays: to unlink it would let two processes lock two files.
	err := errors.Join(l.file.Truncate(0), folder.Unlock(l.file))
	l.file = nil
	return err
}

// HeldError is the error of a command that finds the office held by a process
// which does not answer.
func HeldError(held *Holder) error {
	e := company.E(company.EHeld, "the office is held by a process that does not answer")
	if held == nil || held.PID == 0 {
		return e.Fix("wait for it to end, and try again")
	}
	return e.Because(fmt.Sprintf("process %d on %s: %s", held.PID, held.Host, held.Command)).
		Fix(fmt.Sprintf("wait for it to end, or end it with kill %d, and try again", held.PID))
}

// AwaitHolder waits until a process takes the office, or has had it. The process that
// takes it signs the lock's file. It returns the cause of ctx when that ends first.
func AwaitHolder(ctx context.Context, p Paths) error {
	lock, _, err := TryLock(p)
	switch {
	case err != nil:
		return err
	case lock == nil:
		return retry.Sleep(ctx, 100*time.Millisecond)
	}
	if err := lock.Release(); err != nil {
		return err
	}
	at := LastLocked(p)
	return retry.Until(ctx, retry.Every(250*time.Millisecond), func() (bool, error) { return !LastLocked(p).Equal(at), nil })
}
