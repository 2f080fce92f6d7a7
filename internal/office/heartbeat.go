package office

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"company/internal/company"
	"company/internal/lib/retry"
	"company/internal/lib/safedir"
)

const (
	// beatName is the file in the state folder whose time of change is the holder's last heartbeat.
	beatName = "beat"
	// beatEvery is the interval of heartbeats.
	beatEvery = 10 * time.Second
	// KillPatience is how long a caller waits for an answer before it takes the office over: a holder that has just
	// woken, as with its machine, has beaten by then.
	KillPatience = beatEvery + 2*time.Second
	// silentAfter is the time without a heartbeat after which a holder may be taken over (STA-17).
	silentAfter = time.Minute
	// killLimit is how long a killed holder may take to end. One that waits for a broken disk does not end.
	killLimit = 10 * time.Second
)

// heartbeat shows that the process of a lock runs. A process that is stopped or starved does not beat.
type heartbeat struct {
	state *safedir.Folder
	done  chan struct{}
	beats sync.WaitGroup
}

// startHeartbeat beats until stop. It ignores errors, because the work does not need heartbeats.
func startHeartbeat(state *safedir.Folder) *heartbeat {
	h := &heartbeat{state: state, done: make(chan struct{})}
	if file, err := state.OpenFile(beatName, os.O_WRONLY|os.O_CREATE, 0o600); err == nil {
		_ = file.Close()
	}
	_ = state.Touch(beatName, time.Now())
	h.beats.Go(func() {
		beat := time.NewTicker(beatEvery)
		defer beat.Stop()
		for {
			select {
			case <-h.done:
				return
			case <-beat.C:
				_ = state.Touch(beatName, time.Now())
			}
		}
	})
	return h
}

func (h *heartbeat) stop() {
	close(h.done)
	h.beats.Wait()
	_ = h.state.Close()
}

// SilentFor returns how long a holder has not beaten, or 0 if that is not long enough for a takeover. A holder on
// another machine is never silent, because nothing here can end it.
func SilentFor(paths Paths, held *Holder) time.Duration {
	host, err := os.Hostname()
	if err != nil || held == nil || held.PID == 0 || held.Host != host {
		return 0
	}
	last := held.Started // the file may be of the holder before
	if state, err := paths.Folder(paths.State); err == nil {
		if info, err := state.Lstat(beatName); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
		_ = state.Close()
	}
	if silent := time.Since(last); silent > silentAfter {
		return silent
	}
	return 0
}

// KillSilentHolder kills a silent holder and takes its lock. The caller has found that the holder did not answer its
// socket for as long as KillPatience. It returns EHeld if the holder beats again, if another process was faster, or if
// the process cannot be verified or does not end. The ledger is safe: every record is complete or absent, and the new
// epoch voids the claims of the killed process.
func KillSilentHolder(ctx context.Context, paths Paths, held *Holder) (*Lock, error) {
	silent := SilentFor(paths, held)
	if silent == 0 || !hasLockOpen(paths, held.PID) {
		return nil, HeldError(held)
	}
	if err := syscall.Kill(held.PID, syscall.SIGKILL); err != nil {
		return nil, HeldError(held)
	}
	limit, cancel := context.WithTimeoutCause(ctx, killLimit, company.E(company.EHeld,
		fmt.Sprintf("process %d was killed because it did not answer, and does not end", held.PID)).
		Fix("see dmesg: it may wait for a broken disk; then try again"))
	defer cancel()
	var lock *Lock
	err := retry.Until(limit, retry.Every(20*time.Millisecond), func() (bool, error) {
		var err error
		var now *Holder
		lock, now, err = TryLock(paths)
		if err == nil && now != nil && now.PID != 0 && now.PID != held.PID {
			err = HeldError(now)
		}
		return lock != nil, err
	})
	if err != nil {
		return nil, err
	}
	lock.takeover = &company.Takeover{PID: held.PID, Silent: silent.Truncate(time.Second)}
	return lock, nil
}

// hasLockOpen reports whether a process has the lock file open, so that it is the holder and no other process with the
// same number, such as one of another container. It returns false where the system does not tell.
func hasLockOpen(paths Paths, pid int) bool {
	lock, err := os.Stat(paths.Lock())
	if err != nil {
		return false
	}
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	files, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, file := range files {
		if info, err := os.Stat(filepath.Join(dir, file.Name())); err == nil && os.SameFile(info, lock) {
			return true
		}
	}
	return false
}
