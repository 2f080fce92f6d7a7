package office

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"company/internal/office/config/configtest"
)

// TestLockBesideOthers takes and gives back a lock while others look at it, and while
// processes are started that have a copy of every open file for a moment.
func TestLockBesideOthers(t *testing.T) {
	t.Parallel()
	p := mustFind(t, FindOptions{Dir: configtest.Repo(t, nil), Env: os.LookupEnv})
	mustOpen(t, p)
	done := make(chan struct{})
	var others sync.WaitGroup
	for _, disturb := range []func(){
		func() { FindHolder(p) },
		func() { _ = exec.Command("true").Run() },
	} {
		others.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					disturb()
				}
			}
		})
	}
	for range 100 {
		l, held, err := TryLock(p)
		if err != nil || held != nil {
			t.Errorf("the lock is free: %+v %v", held, err)
			break
		}
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	}
	close(done)
	others.Wait()
}

// TestTakeLock waits for a holder that only looks, and for no other one, and no longer than it was told.
func TestTakeLock(t *testing.T) {
	t.Parallel()
	p := mustFind(t, FindOptions{Dir: configtest.Repo(t, nil), Env: os.LookupEnv})
	mustOpen(t, p)
	first, _, err := TryLock(p)
	if err != nil || first == nil {
		t.Fatal(err)
	}
	if l, held, err := TakeLock(t.Context(), p, 100*time.Millisecond); l != nil || err != nil || held.PID != os.Getpid() {
		t.Errorf("held for longer: %v, %+v, %v", l, held, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if l, _, err := TakeLock(ctx, p, time.Minute); l != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("given up: %v, %v", l, err)
	}
	time.AfterFunc(100*time.Millisecond, func() { _ = first.Release() })
	second, held, err := TakeLock(t.Context(), p, time.Minute)
	if second == nil || err != nil {
		t.Fatalf("held for a moment: %+v, %v", held, err)
	}
	second.who.Socket = "/run/company.sock"
	if err := second.writeHolder(); err != nil {
		t.Fatal(err)
	}
	if l, held, err := TakeLock(t.Context(), p, time.Minute); l != nil || err != nil || held.Socket == "" {
		t.Errorf("a company at work: %v, %+v, %v", l, held, err)
	}
	if err := second.Release(); err != nil {
		t.Error(err)
	}
}
